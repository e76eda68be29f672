package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"snowglobe/fixtures/spelling"
)

// mostIgnored bounds the unknown parameters that are logged, since clients choose their names.
const mostIgnored = 500

// logIgnored logs the parameters of a query that the operation does not declare, each once. They are ignored, as by the live services, and are
// often misspelt.
func (c *requestContext) logIgnored(hr *http.Request) {
	if hr.URL.RawQuery == "" || IsInside(hr.Context()) {
		return
	}
	s := c.server
	for pair := range strings.SplitSeq(hr.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(name); err == nil {
			name = text
		}
		if name == "" || len(name) > 100 || name == KeyParameter || c.op.reads(name) {
			continue
		}
		if _, known := s.ignored.Load(c.op.ID + " " + name); known || s.logged.Load() >= mostIgnored {
			continue
		}
		if _, known := s.ignored.LoadOrStore(c.op.ID+" "+name, true); known {
			continue
		}
		s.logged.Add(1)
		attributes := []any{"operation", c.op.ID, "parameter", name}
		if near := spelling.Nearest(name, c.op.queryNames()); near != "" {
			attributes = append(attributes, "meant", near)
		}
		c.Log.Warn("unknown parameter ignored", attributes...)
	}
}

// reads reports whether a parameter of the query belongs to the operation.
func (op *operation) reads(name string) bool {
	return slices.ContainsFunc(op.params, func(p *param) bool { return p.In == InQuery && p.Name == name })
}

func (op *operation) queryNames() (names []string) {
	for _, p := range op.params {
		if p.In == InQuery {
			names = append(names, p.Name)
		}
	}
	return names
}
