package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearest is the name that is most like a misspelt one, which may be wrong in one letter of three; empty if there is none.
func nearest(word string, names []string) (near string) {
	least := 1 << 30
	for _, name := range names {
		wrong := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(name))
		if len(word) >= 3 && strings.HasPrefix(name, word) || letters(word) == letters(name) {
			wrong = 1
		}
		if 3*wrong <= max(len(name), len(word)) && wrong < least {
			near, least = name, wrong
		}
	}
	return near
}

// letters are those of a word in order, by which words are alike in which some stand elsewhere.
func letters(word string) string {
	sorted := []byte(strings.ToLower(word))
	slices.Sort(sorted)
	return string(sorted)
}

func didYouMean(near, before string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + before + near + "?"
}

// orHelp is advice, or where to look when there is none.
func orHelp(advice string) string {
	if advice == "" {
		return "; snowglobe help lists what there is"
	}
	return advice
}

// doubleHyphens gives flags that were written with one hyphen a second one. What is no flag stays as it is.
func (p *Program) doubleHyphens(args []string) []string {
	args = append([]string{}, args...)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if len(name) > 1 && arg[0] == '-' && arg[1] != '-' && (p.Flags.Lookup(name) != nil || name == "help" || name == "version") {
			args[i] = "-" + arg
		}
	}
	return args
}

func (p *Program) flagNames() (names []string) {
	p.Flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// elsewhere are names that other programs have for what flags say here.
var elsewhere = map[string]string{"port": "addr", "host": "addr", "listen": "addr", "bind": "addr", "database": "db", "file": "db"}

// flagError says what is wrong with a flag, and what to write instead.
func (p *Program) flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if near := nearest(short, p.flagNames()); near != "" {
				return fmt.Errorf("unknown flag -%s; did you mean --%s?", short, near)
			}
			return fmt.Errorf("unknown flag -%s; flags have two hyphens", short)
		}
		if p.Flags.Lookup(name) != nil {
			return fmt.Errorf("%s has no flag --%s; snowglobe help %s lists those that it has", c.Name(), name, c.Name())
		}
		near := nearest(name, p.flagNames())
		if other := elsewhere[name]; near == "" && c.Flags().Lookup(other) != nil {
			near = other
		}
		if near == "" {
			verb := c.Name()
			if !c.HasParent() {
				verb = p.Verbs[0].Name
			}
			return fmt.Errorf("unknown flag --%s; snowglobe help %s lists those that there are", name, verb)
		}
		return fmt.Errorf("unknown flag --%s%s", name, didYouMean(near, "--"))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, wrongValue(invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap()))
	case errors.As(err, &missing):
		value, _ := pflag.UnquoteUsage(missing.GetFlag())
		return fmt.Errorf("--%s needs a value: --%s %s", missing.GetSpecifiedName(), missing.GetSpecifiedName(), value)
	}
	return err
}

// wrongValue says what kind of value a flag takes.
func wrongValue(f *pflag.Flag, value string, err error) error {
	kind := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time span such as 24h"}[f.Value.Type()]
	if kind == "" {
		return err
	}
	return fmt.Errorf("%q is not %s", value, kind)
}
