package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"snowglobe/fixtures/interchange"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/control"
	"snowglobe/sim"
)

// Carry is what the verbs import and export move between a world that no server has open and other tools.
type Carry struct {
	verb  string
	what  string // the file to import, or what to export
	chain string // empty for the usual one
}

// exported lists the operands of export.
var exported = []string{"alloc", "tokenlist", "addresses"}

// Operands of the verbs.
const importOperands = "FILE [CHAIN]"

var exportOperands = strings.Join(exported, "|") + " [CHAIN]"

// ParseCarry reads the operands of import and export; it returns nil for other verbs.
func ParseCarry(verb string, operands []string) (*Carry, error) {
	usage := map[string]string{"import": importOperands, "export": exportOperands}[verb]
	if usage == "" {
		return nil, nil
	}
	if len(operands) < 1 || len(operands) > 2 || verb == "export" && !slices.Contains(exported, operands[0]) {
		return nil, fmt.Errorf("%s: expected %s, not %.80q", verb, usage, strings.Join(operands, " "))
	}
	return &Carry{verb, operands[0], strings.Join(operands[1:], "")}, nil
}

// Run imports the file and prints what it brought, or prints the export, with logos below a URL. Notes say what was left out.
func (c *Carry) Run(ctx context.Context, w *sim.World, at Addresses, out *Output, notes io.Writer) error {
	chain, err := control.ChainNamed(w, c.chain)
	if err != nil {
		return err
	}
	if c.verb == "export" {
		document, err := control.Export(ctx, w, chain, c.what, at.url())
		if err != nil {
			return err
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(document)
	}
	raw, err := userfile.Read(c.what, interchange.MostBytes)
	if err != nil {
		return err
	}
	file, err := interchange.Read(raw, "")
	if err != nil {
		return fmt.Errorf("%s: %w", c.what, err)
	}
	if err := w.Claim(ctx); err != nil {
		return err
	}
	done, err := w.Import(ctx, file, chain)
	if errors.Is(err, sim.ErrNoChain) {
		return fmt.Errorf("%s: %w", c.what, err)
	}
	if err != nil {
		return err
	}
	for _, note := range done.Notes {
		fmt.Fprintf(notes, "snowglobe: %s: %s\n", c.what, note)
	}
	answer := control.ShowImport(file.Kind, done)
	return out.Print(answer.String(), answer)
}
