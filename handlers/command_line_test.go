// The names that help knows: verbs, pages and all flags, which meet in the command line.

package handlers_test

import (
	"testing"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
	"snowglobe/handlers/docs"
	"snowglobe/seed"
)

// TestNamesOfHelp: every name that help lists has a page, and every flag is in exactly one group.
func TestNamesOfHelp(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("snowglobe", pflag.ContinueOnError)
	seed.NewFlags(f)
	handlers.NewFlags(f)
	f.Bool("force", false, "")
	f.Bool("json", false, "")
	handlers.NewTypes(f)
	p := handlers.CommandLine(f)
	taken := map[string]bool{"help": true, "man": true, "completion": true}
	names := docs.New(nil).Names()
	for _, v := range p.Verbs {
		names = append(names, v.Name)
	}
	for _, name := range names {
		if taken[name] {
			t.Errorf("help %s may mean two things", name)
		}
		taken[name] = true
	}
	in := map[string]int{"config": 1}
	for _, g := range p.Groups {
		for _, name := range g.Flags {
			if in[name]++; f.Lookup(name) == nil && name != "config" {
				t.Errorf("%s lists --%s, which there is not", g.Title, name)
			}
		}
	}
	f.VisitAll(func(f *pflag.Flag) {
		if in[f.Name] != 1 {
			t.Errorf("--%s is in %d groups", f.Name, in[f.Name])
		}
	})
}
