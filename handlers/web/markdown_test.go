package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers/docs"
)

var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestTheManualAsMarkdown reads the contents for language models and each page in it: every page of the manual is there, with its tables, and every
// link on it leads to something.
func TestTheManualAsMarkdown(t *testing.T) {
	s := open(t)
	const host = "http://127.0.0.1:9650"
	contents := s.get(t, "/llms.txt")
	if contents.Code != http.StatusOK || contents.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(contents.Body.String(), "# Snowglobe\n\n> ") {
		t.Fatalf("%d %v %.100s", contents.Code, contents.Header(), contents.Body)
	}
	listed := map[string]bool{}
	for _, link := range markdownLink.FindAllStringSubmatch(contents.Body.String(), -1) {
		path, ours := strings.CutPrefix(link[1], host)
		if listed[path] = true; !ours || s.get(t, path).Code != http.StatusOK {
			t.Errorf("the contents link to %s", link[1])
		}
	}
	for _, topic := range docs.New(nil).Topics() {
		path := "/docs/" + topic.Name + ".md"
		page := s.get(t, path)
		text := page.Body.String()
		if !listed[path] || page.Code != http.StatusOK || page.Header().Get("Content-Type") != "text/markdown; charset=utf-8" || !strings.HasPrefix(text, "# "+topic.Title+"\n") {
			t.Errorf("%s: listed %v, %d %v %.100s", path, listed[path], page.Code, page.Header(), text)
		}
		if strings.Contains(text, "<!-- ") {
			t.Errorf("%s lacks a table", path)
		}
		for _, link := range markdownLink.FindAllStringSubmatch(text, -1) {
			if name, page := strings.CutSuffix(link[1], ".md"); page && !strings.Contains(link[1], "://") && !listed["/docs/"+name+".md"] {
				t.Errorf("%s links to %s", path, link[1])
			}
		}
	}
	if got := s.get(t, "/docs/nothing.md"); got.Code != http.StatusNotFound {
		t.Errorf("a page that is not there: %d", got.Code)
	}
}
