package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"snowglobe/fixtures/userfile"
)

// variable names the environment variable of a flag.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fill sets the flags that the command line left out: from the environment, then the file, then the verb's defaults.
func (p *Program) fill(l *Line, environ []string) error {
	var wrong []error
	config, named := p.Flags.Lookup(configFlag).Value.String(), true
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToUpper(name)
		if !strings.HasPrefix(name, prefix) || p.Given(name) {
			continue
		}
		f := p.flagOf(name)
		if f == nil {
			near := nearestFlag(strings.ReplaceAll(strings.TrimPrefix(name, prefix), "_", "-"), p.Flags)
			if near != "" {
				near = variable(near)
			}
			wrong = append(wrong, fmt.Errorf("unknown environment variable %s%s", name, didYouMean(near, "")))
			continue
		}
		if f.Name == configFlag && config == "" {
			config = value
		}
		if err := p.set(l, f.Name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("invalid value %q in %s: %w", value, name, err))
		}
	}
	if config == "" {
		config, named = ConfigFile, false
	}
	raw, err := userfile.Read(config, userfile.MostYAML)
	switch {
	case err == nil:
		wrong = append(wrong, p.fillFromFile(l, config, raw))
	case named || !errors.Is(err, fs.ErrNotExist):
		wrong = append(wrong, fmt.Errorf("--config: %w", err))
	}
	for name, value := range l.Verb.Defaults {
		if !l.Chosen[name] {
			wrong = append(wrong, p.Flags.Set(name, value))
		}
	}
	return errors.Join(wrong...)
}

func (p *Program) flagOf(variableName string) (found *pflag.Flag) {
	p.Flags.VisitAll(func(f *pflag.Flag) {
		if variable(f.Name) == variableName {
			found = f
		}
	})
	return found
}

// set sets a flag, unless a source of higher precedence already did or the verb does not have the flag: verbs share the environment and the
// file.
func (p *Program) set(l *Line, name, value string) error {
	if l.Chosen[name] || !slices.Contains(l.Verb.Flags, name) {
		return nil
	}
	l.Chosen[name] = true
	if err := p.Flags.Lookup(name).Value.Set(value); err != nil {
		return wrongValue(p.Flags.Lookup(name), value, err)
	}
	return nil
}

// fillFromFile reads a mapping from flag names to values; it joins a list with commas.
func (p *Program) fillFromFile(l *Line, path string, raw []byte) error {
	root, err := userfile.YAML(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if root == nil {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: line %d: expected one flag and its value per line, such as seed: 7", path, root.Line)
	}
	var wrong []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		at := fmt.Sprintf("%s: line %d: ", path, key.Line)
		if f := p.Flags.Lookup(key.Value); f == nil || key.Value == configFlag {
			wrong = append(wrong, fmt.Errorf("%sthere is no flag %s%s", at, key.Value, didYouMean(nearestFlag(key.Value, p.Flags), "")))
			continue
		}
		value = aliased(value)
		text := value.Value
		switch value.Kind {
		case yaml.SequenceNode:
			var entries []string
			for _, n := range value.Content {
				entries = append(entries, aliased(n).Value)
			}
			text = strings.Join(entries, ",")
		case yaml.MappingNode:
			wrong = append(wrong, fmt.Errorf("%s%s: expected one value", at, key.Value))
			continue
		}
		if err := p.set(l, key.Value, text); err != nil {
			wrong = append(wrong, fmt.Errorf("%s%s: %w", at, key.Value, err))
		}
	}
	return errors.Join(wrong...)
}

// aliased resolves an alias and returns every other name unchanged.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
