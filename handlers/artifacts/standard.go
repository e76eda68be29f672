package artifacts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// standardInput is the compiler's standard JSON input, as far as it is read.
type standardInput struct {
	Language string
	Settings json.RawMessage
	Sources  map[string]struct {
		Content string
		URLs    []string
	}
}

// standardOutput is the compiler's standard JSON output, as far as it is read.
type standardOutput struct {
	Sources   map[string]struct{ ID int }
	Contracts map[string]map[string]standardContract
}

type standardContract struct {
	ABI      json.RawMessage
	Metadata json.RawMessage // a string in the compiler's own output
	EVM      struct{ Bytecode, DeployedBytecode standardCode }
}

type standardCode struct {
	Object              string
	SourceMap           string
	LinkReferences      linkReferences
	ImmutableReferences immutableReferences
}

// ParseStandard reads the compiler's standard JSON input and output. The compiler's version is its long one. Contracts without code are left
// out.
func ParseStandard(input, output []byte, compiler, origin string) ([]*Contract, error) {
	var in standardInput
	var out standardOutput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("the compiler's input: %w", err)
	}
	if err := json.Unmarshal(output, &out); err != nil {
		return nil, fmt.Errorf("the compiler's output: %w", err)
	}
	return contractsOf(&in, &out, compiler, origin)
}

func contractsOf(in *standardInput, out *standardOutput, compiler, origin string) (all []*Contract, err error) {
	build, err := buildOf(in, out.ids(), compiler)
	if err != nil {
		return nil, err
	}
	for _, source := range slices.Sorted(maps.Keys(out.Contracts)) {
		for _, name := range slices.Sorted(maps.Keys(out.Contracts[source])) {
			of := out.Contracts[source][name]
			if of.EVM.Bytecode.Object == "" {
				continue
			}
			c, err := of.contract(source, name)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", name, source, err)
			}
			c.Origin = origin
			c.build = func() (*Build, error) { return build, nil }
			all = append(all, c.finish())
		}
	}
	return all, nil
}

func (s *standardContract) contract(source, name string) (*Contract, error) {
	c := &Contract{Name: name, Source: source, ABI: s.ABI}
	var err error
	if c.Creation, err = readCode(s.EVM.Bytecode.Object, s.EVM.Bytecode.LinkReferences, immutableReferences{}); err != nil {
		return nil, err
	}
	if s.EVM.DeployedBytecode.ImmutableReferences == nil {
		s.EVM.DeployedBytecode.ImmutableReferences = immutableReferences{}
	}
	if c.Runtime, err = readCode(s.EVM.DeployedBytecode.Object, s.EVM.DeployedBytecode.LinkReferences, s.EVM.DeployedBytecode.ImmutableReferences); err != nil {
		return nil, err
	}
	creation, runtime := s.EVM.Bytecode.SourceMap, s.EVM.DeployedBytecode.SourceMap
	c.maps = func() (string, string, error) { return creation, runtime, nil }
	return c, nil
}

func (o *standardOutput) ids() map[string]int {
	ids := make(map[string]int, len(o.Sources))
	for name, s := range o.Sources {
		ids[name] = s.ID
	}
	return ids
}

// mostSources bounds the numbers of sources: a compiler counts from 0.
const mostSources = 20_000

func buildOf(in *standardInput, ids map[string]int, compiler string) (*Build, error) {
	b := &Build{Compiler: compiler, Language: in.Language, Settings: in.Settings}
	for name, id := range ids {
		if id < 0 || id >= mostSources {
			return nil, fmt.Errorf("source %s has the number %d", name, id)
		}
		for len(b.Sources) <= id {
			b.Sources = append(b.Sources, Source{Missing: "the compiler's output does not list this source"})
		}
		s := Source{Name: name, Content: in.Sources[name].Content}
		if s.Content == "" {
			s.Missing = "the compiler's input has no text of " + name
		}
		b.Sources[id] = s
	}
	for i := range b.Sources {
		b.Sources[i].finish()
	}
	return b, nil
}
