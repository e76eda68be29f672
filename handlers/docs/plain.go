package docs

import (
	"fmt"
	"regexp"
	"strings"
)

var pageLink = regexp.MustCompile(`\]\((?:[^():]*/)?([a-z0-9-]+\.md)\)`)

// Plain returns a page as Markdown for a reader that reaches the simulator at origin. Links name the other pages beside it.
func (m *Manual) Plain(t Topic, origin string) string {
	return pageLink.ReplaceAllString(strings.ReplaceAll(m.Markdown(t), example, origin), "]($1)")
}

// opening matches the first sentence of a page's first paragraph.
var opening = regexp.MustCompile(`(?s)^# [^\n]*\n\n(\w.*?[.:])(?:\s|$)`)

// Opening returns the sentence with which a page begins, "" if it begins with something else.
func (t Topic) Opening() string {
	found := opening.FindStringSubmatch(t.source)
	if found == nil {
		return ""
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(found[1]), " "), ":")
}

// LLMs returns the table of contents that language models look for at /llms.txt (https://llmstxt.org): every page of the manual as Markdown, and the
// descriptions of the interfaces. base is the URL of the simulator, or of a world below it.
func (m *Manual) LLMs(base string) string {
	var b strings.Builder
	b.WriteString("# Snowglobe\n\n> A whole Avalanche network to test against in one process: the Data API, the Metrics API and the node's JSON-RPC over one generated world, which clients can send to, move in time, undo, copy and make fail.\n")
	for _, section := range []struct {
		title  string
		recipe bool
	}{{"Manual", false}, {"Recipes", true}} {
		fmt.Fprintf(&b, "\n## %s\n\n", section.title)
		for _, t := range m.topics {
			if t.Recipe != section.recipe {
				continue
			}
			fmt.Fprintf(&b, "- [%s](%s/docs/%s.md)", t.Title, base, t.Name)
			if says := t.Opening(); says != "" {
				b.WriteString(": " + says)
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, `
## Interfaces

- [OpenAPI](%[1]s/openapi.json): the Data API, the Metrics API and the simulator's own operations
- [OpenRPC](%[1]s/openrpc.json): the node's JSON-RPC, with an example of each method
- [The world by name](%[1]s/sim/world): personas with their keys, chains, contracts, and ids of samples
`, base)
	return b.String()
}
