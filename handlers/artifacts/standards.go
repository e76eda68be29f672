package artifacts

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
)

//go:embed standards.txt
var standardsText string

// standards holds the functions, events and errors of well-known standards.
var standards = sync.OnceValue(func() *signatures {
	s := newSignatures()
	for line := range strings.Lines(standardsText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		of, err := parseSignature(line)
		if err != nil {
			panic(err) // a test reads them all
		}
		s.add(of, "")
	}
	return s
})

// parseSignature reads a function, event or error as Solidity writes it, with tuples in parentheses.
func parseSignature(line string) (*abi.ABI, error) {
	kind, rest, _ := strings.Cut(line, " ")
	name, list, found := strings.Cut(rest, "(")
	if !found || !strings.HasSuffix(list, ")") {
		return nil, fmt.Errorf("%q has no parameters", line)
	}
	inputs, err := parseParameters(list[:len(list)-1])
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	document, err := json.Marshal([]any{map[string]any{"type": kind, "name": name, "inputs": inputs}})
	if err != nil {
		return nil, err
	}
	parsed, err := abi.JSON(strings.NewReader(string(document)))
	return &parsed, err
}

type parameter struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Indexed    bool        `json:"indexed"`
	Components []parameter `json:"components,omitempty"`
}

func parseParameters(list string) ([]parameter, error) {
	all := []parameter{}
	for list != "" {
		var p parameter
		if list[0] == '(' {
			end := strings.IndexByte(list, ')')
			if end < 0 {
				return nil, fmt.Errorf("%q is not closed", list)
			}
			var err error
			if p.Components, err = parseParameters(list[1:end]); err != nil {
				return nil, err
			}
			list = "tuple" + list[end+1:]
		}
		item, rest, _ := strings.Cut(list, ",")
		list = strings.TrimSpace(rest)
		words := strings.Fields(item)
		if len(words) < 2 {
			return nil, fmt.Errorf("parameter %q has no name", item)
		}
		p.Type, p.Name, p.Indexed = words[0], words[len(words)-1], len(words) == 3 && words[1] == "indexed"
		all = append(all, p)
	}
	return all, nil
}
