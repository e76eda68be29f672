package handlers

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// ParseArguments reads the flags of a command line, and answers what stands between and after them.
func ParseArguments(f *flag.FlagSet, args []string) (operands []string, err error) {
	for err = f.Parse(args); err == nil && f.NArg() > 0; err = f.Parse(f.Args()[1:]) {
		operands = append(operands, f.Arg(0))
	}
	return operands, err
}

// FromEnvironment sets those flags from environment variables that are not chosen yet, and adds them to those that are.
func FromEnvironment(f *flag.FlagSet, env func(string) (string, bool), chosen map[string]bool) (err error) {
	f.VisitAll(func(known *flag.Flag) {
		name := "SNOWGLOBE_" + strings.ToUpper(strings.ReplaceAll(known.Name, "-", "_"))
		value, given := env(name)
		if !given || chosen[known.Name] {
			return
		}
		chosen[known.Name] = true
		if e := f.Set(known.Name, value); e != nil {
			err = errors.Join(err, fmt.Errorf("invalid value %q in %s: %w", value, name, e))
		}
	})
	return err
}
