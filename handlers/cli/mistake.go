package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snowglobe/fixtures/spelling"
)

func didYouMean(near, before string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + before + near + "?"
}

// orHelp returns advice, or where to look if there is none.
func orHelp(advice string) string {
	if advice == "" {
		return "; snowglobe help lists verbs and pages"
	}
	return advice
}

// doubleHyphens gives flags written with one hyphen a second one. It leaves everything else unchanged.
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

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// elsewhere maps other programs' flag names to ours.
var elsewhere = map[string]string{"port": "addr", "host": "addr", "listen": "addr", "bind": "addr", "database": "db", "file": "db"}

// nearestFlag returns the flag that a misspelt or foreign name probably means; empty if none is close.
func nearestFlag(name string, flags *pflag.FlagSet) string {
	names := flagNames(flags)
	for _, other := range slices.Sorted(maps.Keys(elsewhere)) {
		if flags.Lookup(elsewhere[other]) != nil {
			names = append(names, other)
		}
	}
	near := spelling.Nearest(name, names)
	if flag := elsewhere[near]; flag != "" {
		return flag
	}
	return near
}

// flagError describes what is wrong with a flag and what to write instead.
func (p *Program) flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if near := nearestFlag(short, p.Flags); near != "" {
				return fmt.Errorf("unknown flag -%s; did you mean --%s?", short, near)
			}
			return fmt.Errorf("unknown flag -%s; flags have two hyphens", short)
		}
		if p.Flags.Lookup(name) != nil {
			return fmt.Errorf("%s has no flag --%s; snowglobe help %s lists its flags", c.Name(), name, c.Name())
		}
		near := nearestFlag(name, c.Flags())
		if near == "" {
			near = nearestFlag(name, p.Flags)
		}
		if near == "" {
			verb := c.Name()
			if !c.HasParent() {
				verb = p.Verbs[0].Name
			}
			return fmt.Errorf("unknown flag --%s; snowglobe help %s lists all flags", name, verb)
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

// wrongValue describes the kind of value that a flag takes.
func wrongValue(f *pflag.Flag, value string, err error) error {
	kind := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time span such as 24h"}[f.Value.Type()]
	if kind == "" {
		return err
	}
	return fmt.Errorf("%q is not %s", value, kind)
}
