package search

import (
	"cmp"
	_ "embed" // of the page
	"html/template"
	"io"
	"slices"
	"time"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"milliseconds": func(d time.Duration) time.Duration { return d.Round(time.Millisecond) },
}).Parse(page))

// WritePage writes an HTML page about the search: what it found, and every run with the faults it met.
func (r *Result) WritePage(w io.Writer, command string, report *Report) error {
	runs := slices.Clone(r.Runs)
	slices.SortStableFunc(runs, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	return pageTemplate.Execute(w, map[string]any{"Command": command, "Report": report, "Runs": runs})
}
