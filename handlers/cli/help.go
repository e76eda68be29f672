package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"snowglobe/handlers/docs"
)

// columns are how wide help is, wherever it is read.
const columns = 100

// help is the verb that shows help about verbs and pages of the manual.
func (p *Program) help(root *cobra.Command) *cobra.Command {
	manual := docs.New(p.Describe())
	var topics []string
	for _, t := range manual.Topics() {
		topics = append(topics, t.Name)
	}
	return &cobra.Command{
		Use: "help [VERB|TOPIC]", Short: "show how a verb is used, or a page of the manual", DisableFlagsInUseLine: true,
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
				return fmt.Errorf("there is no verb and no page %q%s", name, orHelp(didYouMean(nearest(name, names), "")))
			}
			_, err := io.WriteString(root.OutOrStdout(), manual.Text(t, columns))
			return err
		},
	}
}

// manPages is the verb that writes a manual page.
func (p *Program) manPages(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man [VERB]", Short: "write the manual page of the program, or of a verb, for man", DisableFlagsInUseLine: true,
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

// showHelp writes how a command is used to stdout.
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
		fmt.Fprintf(b, "\nWithout a verb it is %s. snowglobe help VERB tells of a verb. These are pages of the manual,\neach shown by snowglobe help NAME and at /docs of a running server:\n", p.Verbs[0].Name)
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
	if c.HasParent() && c.Flags().HasAvailableFlags() {
		b.WriteString("\nFlags, with their environment variables; " + ConfigFile + " may have them by their names:\n")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
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
		})
	}
	_, _ = io.WriteString(c.OutOrStdout(), b.String()) // who closed stdout wants no help
}
