package docs

import (
	"embed"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"snowglobe/fixtures/spelling"
)

//go:embed pages/*.md recipes/*.md
var files embed.FS

// Topic is a page.
type Topic struct {
	Name   string // on the command line and in URLs
	Title  string
	Recipe bool // a complete example of one task

	source string
}

// Manual holds all topics, and the commands of the program.
type Manual struct {
	Commands []Command
	topics   []Topic
}

// order lists pages in the order of the contents; the others follow by name.
var order = []string{"ask", "agents", "personas", "faucet", "chains", "world-clock", "upgrades", "rehearsal", "messages", "etherscan", "verification", "snapshots", "sessions", "worlds", "debugging", "faults", "searching", "as-network", "access", "command-line", "mistakes", "install", "ceremony", "environment", "names", "profiles", "world-file", "coverage", "fidelity", "anvil", "webhooks", "exports", "replicas", "release", "budgets", "growth"}

var readTopics = sync.OnceValue(func() (all []Topic) {
	for _, folder := range []string{"pages", "recipes"} {
		entries, _ := fs.ReadDir(files, folder) // an embedded folder is always there
		for _, e := range entries {
			raw, _ := files.ReadFile(path.Join(folder, e.Name()))
			title, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "# "), "\n")
			all = append(all, Topic{strings.TrimSuffix(e.Name(), ".md"), title, folder == "recipes", string(raw)})
		}
	}
	slices.SortStableFunc(all, func(a, b Topic) int { return a.place() - b.place() })
	return all
})

func (t *Topic) place() int {
	if i := slices.Index(order, t.Name); i >= 0 {
		return i
	}
	return len(order)
}

// New returns the manual of a program with these commands.
func New(commands []Command) *Manual { return &Manual{commands, readTopics()} }

// Topics lists the pages, recipes last.
func (m *Manual) Topics() []Topic { return m.topics }

// Names lists the names of all pages.
func (m *Manual) Names() (names []string) {
	for _, t := range m.topics {
		names = append(names, t.Name)
	}
	return names
}

// Find finds a page by name.
func (m *Manual) Find(name string) (Topic, bool) {
	i := slices.IndexFunc(m.topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return Topic{}, false
	}
	return m.topics[i], true
}

// Nearest returns the topic with the name closest to a misspelt one, or "".
func (m *Manual) Nearest(name string) string {
	return spelling.Nearest(name, m.Names())
}

var generated = regexp.MustCompile(`(?m)^<!-- ([a-z]+) -->$`)

// Markdown returns the text of a page with its tables.
func (m *Manual) Markdown(t Topic) string {
	return generated.ReplaceAllStringFunc(t.source, func(mark string) string {
		return strings.TrimSpace(m.table(generated.FindStringSubmatch(mark)[1]))
	})
}
