package docs

import (
	_ "embed" // the mistakes
	"fmt"
	"strings"
)

// mistakes contains commands in sections, each with the program's message on the next line.
//
//go:embed mistakes.txt
var mistakes string

// Mistake is a wrong command and the program's message.
type Mistake struct{ Section, Command, Says string }

// Mistakes lists the mistakes that the manual explains.
func Mistakes() (all []Mistake) {
	section := ""
	for line := range strings.Lines(mistakes) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case strings.HasPrefix(text, "# "):
			section = text[2:]
		case line[0] == '\t' && len(all) > 0:
			all[len(all)-1].Says = text
		default:
			all = append(all, Mistake{Section: section, Command: text})
		}
	}
	return all
}

func mistakeTables() string {
	b, section := new(strings.Builder), ""
	for _, m := range Mistakes() {
		if m.Section != section {
			section = m.Section
			fmt.Fprintf(b, "\n## %s\n\n| command | what it says |\n|---|---|\n", section)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", m.Command, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(m.Says, "|", "\\|"), "<", "&lt;"), "*", "\\*"))
	}
	return b.String()
}
