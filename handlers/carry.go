package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"snowglobe/fixtures/interchange"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/control"
	"snowglobe/sim"
)

// Carry is an import or export of the command line, on a world that no server has open.
type Carry struct {
	verb  string
	what  string // the file to import, or what to export
	chain string // empty for the default
}

// L1Flags holds the flags for an L1 that starts from a genesis.
type L1Flags struct{ Name, Network, Upgrade, Airdrop string }

func (l *L1Flags) declare(f *pflag.FlagSet) {
	f.StringVar(&l.Name, "l1-name", "", "`NAME` of the L1 that starts from a genesis of subnet-evm (default: Chain and its EVM chain id)")
	f.StringVar(&l.Network, "l1-network", "", "`NETWORK` of that L1: mainnet (the default) or fuji")
	f.StringVar(&l.Upgrade, "l1-upgrade", "", "`FILE` with that L1's upgrade.json")
	f.StringVar(&l.Airdrop, "l1-airdrop", "", "`FILE` with the accounts of that L1's airdrop")
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

// L1 returns the L1 that starts from the file to import, with the flags' upgrades, or nil if the file is for an existing chain.
func (c *Carry) L1(flags L1Flags) (*interchange.L1, error) {
	if c.verb != "import" {
		return nil, nil
	}
	l := &interchange.L1{Name: flags.Name, Network: flags.Network}
	var err error
	if l.Genesis, err = userfile.Read(c.what, interchange.MostBytes); err != nil {
		return nil, err
	}
	_, known := interchange.StartsL1(l.Genesis)
	switch starts := flags.Name != "" || known && c.chain == ""; {
	case starts && c.chain != "":
		return nil, fmt.Errorf("--l1-name starts a new chain; without it the accounts go to %s", c.chain)
	case !starts && flags != (L1Flags{}):
		return nil, fmt.Errorf("%s does not start an L1, because it is not a subnet-evm genesis: --l1-network, --l1-upgrade and --l1-airdrop need --l1-name", c.what)
	case !starts:
		return nil, nil
	}
	for _, file := range []struct {
		path string
		into *[]byte
	}{{flags.Upgrade, &l.Upgrade}, {flags.Airdrop, &l.Airdrop}} {
		if file.path == "" {
			continue
		}
		if *file.into, err = userfile.Read(file.path, userfile.MostYAML); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Started reports that an L1 has started in a world, which was generated again for it.
func (c *Carry) Started(w *sim.World, l *interchange.L1, out *Output, notes io.Writer) error {
	for _, note := range l.Notes {
		fmt.Fprintf(notes, "snowglobe: %s: %s\n", c.what, note)
	}
	if !w.DB.InMemory() {
		fmt.Fprintf(notes, "snowglobe: the world starts over, with the L1; the old one is in %s.old, or in the newest such file\n", w.DB.Path())
	}
	answer := control.ShowGenesis(l, control.ShowL1(w, l.Name))
	return out.Print(answer.String(), answer)
}

// Run imports the file and prints the result, or prints the export, with logos below a URL. Notes say what was left out.
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
