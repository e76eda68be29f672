package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snowglobe/fixtures/spelling"
	"snowglobe/handlers/docs"
)

// Verb is one command of the program.
type Verb struct {
	Name     string
	Operands string // as the usage line shows them; empty for a verb without operands
	Summary  string
	Details  string
	Examples string
	Flags    []string          // names of the flags that it reads
	Defaults map[string]string // flag values that differ from the usual defaults
	Program  bool              // takes a command after --
}

// Line is a parsed command line.
type Line struct {
	Verb     *Verb
	Operands []string
	Program  []string        // after --
	Chosen   map[string]bool // flags that the user set on the line, in the environment or in the file
}

// Unless returns a writer for what a flag's default value keeps from another: nil if the user chose the flag.
func (l *Line) Unless(flag string, w io.Writer) io.Writer {
	if l.Chosen[flag] {
		return nil
	}
	return w
}

// Group is one titled part of the list of flags.
type Group struct {
	Title string
	Flags []string
}

// Program describes a command line: its verbs and flags.
type Program struct {
	Groups  []Group        // in which help lists the flags of a verb with many
	Verbs   []Verb         // the first one runs if the user names none
	Flags   *pflag.FlagSet // of all verbs
	Version string
	Given   func(variable string) bool // reports environment variables that the program sets for its children and ignores itself
	Values  map[string][]string        // allowed values by flag name, for completion
}

const (
	prefix     = "SNOWGLOBE_"
	configFlag = "config"
	// ConfigFile is the configuration file that the program reads if it exists.
	ConfigFile = "snowglobe.yaml"
)

// Parse reads a command line. It returns a nil line when it has already written help, the version, a man page or a completion script to
// stdout. An error describes a mistake of the user's.
func (p *Program) Parse(args, environ []string, stdout io.Writer) (*Line, error) {
	if p.Flags.Lookup(configFlag) == nil {
		p.Flags.String(configFlag, "", "YAML `FILE` with flags by their names; "+ConfigFile+" in the current folder is read by default")
	}
	var line *Line
	root := p.command(&p.Verbs[0], &line)
	root.Use = "snowglobe [VERB] [flags]"
	root.Short = "an Avalanche network to test against, in one program and one file"
	root.Long = "Snowglobe is an Avalanche network to test against: one program and one file."
	root.Version = p.Version
	root.SetVersionTemplate("snowglobe {{.Version}}\n")
	for i := range p.Verbs {
		root.AddCommand(p.command(&p.Verbs[i], &line))
	}
	root.AddCommand(p.manPages(root))
	root.SetHelpCommand(p.help(root))
	root.SetHelpFunc(p.showHelp)
	root.SetOut(stdout)
	root.CompletionOptions.DisableNoDescFlag = true
	root.InitDefaultCompletionCmd()
	describeCompletion(root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetErr(io.Discard)
	root.SetArgs(p.doubleHyphens(args))
	root.SetFlagErrorFunc(p.flagError)
	if err := root.Execute(); err != nil || line == nil {
		return nil, err
	}
	if err := p.fill(line, environ); err != nil {
		return nil, err
	}
	return line, nil
}

// command makes the Cobra command of a verb; running it records the verb in line.
func (p *Program) command(v *Verb, line **Line) *cobra.Command {
	use := strings.TrimSpace(v.Name + " [flags] " + v.Operands)
	if v.Program {
		use += " -- COMMAND"
	}
	c := &cobra.Command{
		Use: use, Short: v.Summary, Long: v.Summary + "." + indented("\n\n", v.Details), Example: v.Examples, DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error { return p.operands(c, v, args) },
		RunE: func(c *cobra.Command, args []string) error {
			l := &Line{Verb: v, Operands: args, Chosen: map[string]bool{}}
			if at := c.ArgsLenAtDash(); at >= 0 {
				l.Operands, l.Program = args[:at], args[at:]
			}
			c.Flags().Visit(func(f *pflag.Flag) { l.Chosen[f.Name] = true })
			*line = l
			return nil
		},
	}
	c.Flags().SortFlags = false
	for _, name := range append(slices.Clone(v.Flags), configFlag) {
		f := *p.Flags.Lookup(name)
		if other, is := v.Defaults[name]; is {
			f.DefValue = other
		}
		c.Flags().AddFlag(&f)
		if values := p.Values[name]; values != nil {
			_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag was just added
		}
	}
	return c
}

func indented(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// operands checks the arguments that are not flags.
func (p *Program) operands(c *cobra.Command, v *Verb, args []string) error {
	if at := c.ArgsLenAtDash(); at >= 0 {
		if !v.Program {
			return fmt.Errorf("%s takes no command after --", v.Name)
		}
		args = args[:at]
	}
	if single := strings.Trim(v.Operands, "[]"); len(args) > 1 && single == strings.ToUpper(single) && single != "" && !strings.Contains(single, " ") {
		return fmt.Errorf("unexpected argument %q; %s takes one %s", args[1], v.Name, single)
	}
	if len(args) == 0 || v.Operands != "" {
		return nil
	}
	word := args[0]
	if b := p.Flags.Lookup(lastFlag(c)); b != nil && b.NoOptDefVal != "" && b.Value.Set(word) == nil {
		return fmt.Errorf("unexpected argument %q; write --%s=%s", word, b.Name, word)
	}
	if c.HasParent() {
		return fmt.Errorf("unexpected argument %q; %s takes none", word, v.Name)
	}
	var names []string
	for _, other := range c.Commands() {
		names = append(names, other.Name())
	}
	return fmt.Errorf("unknown verb %q%s", word, orHelp(didYouMean(spelling.Nearest(word, names), "")))
}

// lastFlag returns the flag that was set last.
func lastFlag(c *cobra.Command) (name string) {
	c.Flags().SortFlags = false
	c.Flags().Visit(func(f *pflag.Flag) { name = f.Name })
	return name
}

// Describe writes the manual's description of the command line.
func (p *Program) Describe() (all []docs.Command) {
	for _, v := range p.Verbs {
		c := docs.Command{Name: strings.TrimSpace(v.Name + " " + v.Operands), Summary: v.Summary}
		if v.Program {
			c.Name += " -- COMMAND"
		}
		for _, name := range v.Flags {
			f := p.Flags.Lookup(name)
			value, usage := pflag.UnquoteUsage(f)
			if !f.Hidden {
				c.Flags = append(c.Flags, docs.Flag{Name: name, Value: value, Default: shownDefault(f), Usage: usage, Group: p.group(name)})
			}
		}
		all = append(all, c)
	}
	return all
}

// group returns the title of a flag's group.
func (p *Program) group(flag string) string {
	for _, g := range p.Groups {
		if slices.Contains(g.Flags, flag) {
			return g.Title
		}
	}
	return ""
}

func shownDefault(f *pflag.Flag) string {
	if f.DefValue == "false" || f.DefValue == "0s" {
		return ""
	}
	return f.DefValue
}
