package rest

import (
	"cmp"
	"strings"
)

// template is an operation's path, cut at its slashes.
type template []segment

// segment is a literal, or a variable with an optional literal after it, as in {tokenId}:reindex; text is the whole of
// it as it was declared.
type segment struct{ name, literal, text string }

func splitTemplate(path string) template {
	var t template
	for text := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		name, literal := "", text
		if strings.HasPrefix(text, "{") {
			name, literal, _ = strings.Cut(text[1:], "}")
		}
		t = append(t, segment{name, literal, text})
	}
	return t
}

// matches reports whether a segment of a request's path fits. A variable holds no colon, so that a misspelt
// transactions:listNative is an unknown path and not a malformed id.
func (s segment) matches(text string) bool {
	if s.name == "" {
		return s.literal == text
	}
	value, ok := strings.CutSuffix(text, s.literal)
	return ok && value != "" && strings.IndexByte(value, ':') < 0
}

// match reports whether a whole path fits, and the values of the variables if it does.
func (t template) match(path string) (vars map[string]string, ok bool) {
	if !t.matches(path) {
		return nil, false
	}
	path, vars = path[1:], map[string]string{}
	for _, s := range t {
		text, rest, _ := strings.Cut(path, "/")
		if s.name != "" {
			vars[s.name] = strings.TrimSuffix(text, s.literal)
		}
		path = rest
	}
	return vars, true
}

func (t template) matches(path string) bool {
	path = path[1:]
	for i, s := range t {
		text, rest, more := strings.Cut(path, "/")
		if more == (i == len(t)-1) || !s.matches(text) {
			return false
		}
		path = rest
	}
	return true
}

// compare puts the more specific template first: literals, then variables with a literal, then bare variables.
func (t template) compare(u template) int {
	for i := range min(len(t), len(u)) {
		if c := cmp.Compare(t[i].looseness(), u[i].looseness()); c != 0 {
			return c
		}
		if c := cmp.Compare(t[i].literal, u[i].literal); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(t), len(u))
}

func (s segment) looseness() int {
	switch {
	case s.name == "":
		return 0
	case s.literal != "":
		return 1
	}
	return 2
}
