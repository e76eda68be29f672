package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"snowglobe/fixtures/spelling"
	"snowglobe/handlers/docs"
)

// columns is the width of help on every terminal.
const columns = 100

// help makes the verb that shows help about verbs and manual pages.
func (p *Program) help(root *cobra.Command) *cobra.Command {
	manual := docs.New(p.Describe())
	topics := manual.Names()
	return &cobra.Command{
		Use: "help [VERB|TOPIC]", Short: "show how a verb is used, or a page of the manual", DisableFlagsInUseLine: true,
		Example:   "  snowglobe help serve\n  snowglobe help personas",
		ValidArgs: topics,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			if c, rest, err := root.Find(args); err == nil && c != root && len(rest) == 0 {
				return c.Help()
			}
			name := strings.Join(args, "-")
			t, found := manual.Find(name)
			if !found {
				names := append([]string{}, topics...)
				for _, c := range root.Commands() {
					names = append(names, c.Name())
				}
				return fmt.Errorf("there is no verb and no page %q%s", name, orHelp(didYouMean(spelling.Nearest(name, names), "")))
			}
			_, err := io.WriteString(root.OutOrStdout(), manual.Text(t, columns))
			return err
		},
	}
}

// manPages makes the verb that writes a man page.
func (p *Program) manPages(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man [VERB]", Short: "write a man page of the program or of a verb", DisableFlagsInUseLine: true,
		Example: "  snowglobe man > snowglobe.1",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, _, err := root.Find(args)
			if err != nil || len(args) > 0 && c == root {
				return fmt.Errorf("there is no verb %q; snowglobe help lists them", args[0])
			}
			root.DisableAutoGenTag = true
			return doc.GenMan(c, &doc.GenManHeader{Title: strings.ToUpper(strings.ReplaceAll(c.CommandPath(), " ", "-")), Section: "1", Source: "Snowglobe", Manual: "Snowglobe"}, root.OutOrStdout())
		},
	}
}

// showHelp writes a command's usage to stdout.
func (p *Program) showHelp(c *cobra.Command, _ []string) {
	b := new(strings.Builder)
	if c.HasParent() {
		fmt.Fprintf(b, "%s\n\nUsage: %s\n", strings.TrimSpace(c.Long+indented("", map[bool]string{true: c.Short}[c.Long == ""])), c.UseLine())
	} else {
		b.WriteString(c.Long + "\n\nUsage: " + c.UseLine() + "\n\nVerbs:\n")
		for _, v := range c.Commands() {
			if v.IsAvailableCommand() || v.Name() == "help" {
				fmt.Fprintf(b, "  %-12s %s\n", v.Name(), v.Short)
			}
		}
		fmt.Fprintf(b, "\nThe default verb is %s. snowglobe help VERB explains a verb. The manual has these pages;\nread one with snowglobe help NAME, or at /docs of a running server:\n", p.Verbs[0].Name)
		line := " "
		for _, t := range docs.New(nil).Topics() {
			if len(line)+1+len(t.Name) > columns {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + t.Name
		}
		b.WriteString(line + "\n")
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + strings.TrimRight(c.Example, "\n") + "\n")
	}
	if c.HasParent() {
		p.showFlags(b, c)
	}
	_, _ = io.WriteString(c.OutOrStdout(), b.String()) // nobody reads help once stdout is closed
}

// manyFlags is the number of flags from which help lists them in groups.
const manyFlags = 12

// showFlags writes a verb's flags.
func (p *Program) showFlags(b *strings.Builder, c *cobra.Command) {
	var flags []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			flags = append(flags, f)
		}
	})
	if len(flags) == 0 {
		return
	}
	b.WriteString("\nFlags, with their environment variables; " + ConfigFile + " may have them by their names:\n")
	if len(flags) <= manyFlags {
		for _, f := range flags {
			showFlag(b, f)
		}
		return
	}
	for _, g := range p.Groups {
		title := "\n" + g.Title + ":\n"
		for _, name := range g.Flags {
			if i := slices.IndexFunc(flags, func(f *pflag.Flag) bool { return f.Name == name }); i >= 0 {
				b.WriteString(title)
				title = ""
				showFlag(b, flags[i])
			}
		}
	}
}

func showFlag(b *strings.Builder, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	fmt.Fprintf(b, "  --%-32s %s\n", strings.TrimSpace(f.Name+" "+value), variable(f.Name))
	if shown := shownDefault(f); shown != "" && !strings.Contains(usage, "(default") {
		usage += " (default " + shown + ")"
	}
	line := "     "
	for word := range strings.FieldsSeq(usage) {
		if len(line)+1+len(word) > columns {
			b.WriteString(line + "\n")
			line = "     "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// loading lists the commands that install a completion script permanently, by shell.
var loading = map[string]string{
	"bash":       "echo 'source <(snowglobe completion bash)' >> ~/.bashrc",
	"zsh":        `snowglobe completion zsh > "${fpath[1]}/_snowglobe"`,
	"fish":       "snowglobe completion fish > ~/.config/fish/completions/snowglobe.fish",
	"powershell": "snowglobe completion powershell >> $PROFILE",
}

// describeCompletion words the help of Cobra's completion verb like that of the others.
func describeCompletion(root *cobra.Command) {
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	c.Use, c.Short, c.Long = "completion SHELL", "write a completion script for bash, zsh, fish or powershell", ""
	c.DisableFlagsInUseLine, c.Args = true, cobra.ArbitraryArgs
	c.RunE = func(*cobra.Command, []string) error {
		return errors.New("completion: expected a shell: bash, zsh, fish or powershell")
	}
	for _, shell := range c.Commands() {
		shell.Short, shell.DisableFlagsInUseLine = "write the completion script of "+shell.Name(), true
		shell.Long = shell.Short + ".\n\nInstall it with the command below; new shells then complete verbs, flags and their values."
		shell.Example = "  " + loading[shell.Name()]
		c.Example += shell.Example + "\n"
	}
}
