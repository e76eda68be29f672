package artifacts

import (
	"slices"
	"strings"
	"sync"
)

// scope is the range of a contract, function or modifier in its source.
type scope struct {
	Contract   string // empty for a free function
	Function   string // constructor, receive and fallback are functions too; empty for a contract
	Start, End int
	Library    bool // whether the contract is a library
}

// mostScopes bounds the functions of a source: every place is looked up among them.
const mostScopes = 10_000

func (s *Source) finish() {
	s.scopes = sync.OnceValue(func() []scope { return scopesOf(s.Content) })
	s.lines = sync.OnceValue(func() []int {
		starts := []int{0}
		for i := range len(s.Content) {
			if s.Content[i] == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})
}

// position returns the line and column of an offset, from 1. A column counts bytes.
func (s *Source) position(offset int) (line, column int) {
	lines := s.lines()
	line, found := slices.BinarySearch(lines, offset)
	if found {
		line++
	}
	return line, offset - lines[line-1] + 1
}

// line returns the text of a line, from 1.
func (s *Source) line(number int) string {
	lines := s.lines()
	if number < 1 || number > len(lines) {
		return ""
	}
	text, _, _ := strings.Cut(s.Content[lines[number-1]:], "\n")
	return strings.TrimSpace(text)
}

// enclosing returns the innermost function that contains a range, or the contract if no function does.
func (s *Source) enclosing(start, end int) (best *scope) {
	all := s.scopes()
	for i := range all {
		if c := &all[i]; c.Start <= start && end <= c.End && (best == nil || c.Start >= best.Start) {
			best = c
		}
	}
	return best
}

// scopesOf finds contracts, functions and modifiers in Solidity. It reads tokens and braces, which is enough for sources that compile; for
// others the ranges mean nothing.
func scopesOf(text string) (all []scope) {
	type brace struct{ scope int } // -1 for one that is neither
	var open []brace
	var pending *scope
	contract, contractDepth, parentheses := "", 0, 0
	t := tokens{text: text}
	word, at := t.next()
	for word != "" && len(all) < mostScopes {
		following, next := t.next()
		switch {
		case word == "{" && parentheses == 0:
			b := brace{-1}
			if pending != nil {
				b.scope = len(all)
				all = append(all, *pending)
				if pending.Function == "" {
					contract, contractDepth = pending.Contract, len(open)+1
				}
				pending = nil
			}
			open = append(open, b)
		case word == "}" && parentheses == 0 && len(open) > 0:
			if b := open[len(open)-1]; b.scope >= 0 {
				all[b.scope].End = at + 1
				if all[b.scope].Function == "" {
					contract, contractDepth = "", 0
				}
			}
			open = open[:len(open)-1]
		case word == "(" || word == "[":
			parentheses++
		case (word == ")" || word == "]") && parentheses > 0:
			parentheses--
		case word == ";" && parentheses == 0:
			pending = nil
		case pending == nil && len(open) == 0 && (word == "contract" || word == "library" || word == "interface") && isName(following):
			pending = &scope{Contract: following, Start: at, Library: word == "library"}
		case pending == nil && len(open) == contractDepth && parentheses == 0 && (word == "function" || word == "modifier"):
			pending = &scope{Contract: contract, Function: following, Start: at}
			if !isName(following) {
				pending.Function = "fallback" // before Solidity 0.6
			}
		case pending == nil && contract != "" && len(open) == contractDepth && following == "(" && (word == "constructor" || word == "fallback" || word == "receive"):
			pending = &scope{Contract: contract, Function: word, Start: at}
		}
		word, at = following, next
	}
	return slices.DeleteFunc(all, func(s scope) bool { return s.End == 0 })
}

// tokens reads names and single characters, without comments and strings.
type tokens struct {
	text string
	at   int
}

// next returns the next token and where it is, or "" at the end.
func (t *tokens) next() (string, int) {
	for t.at < len(t.text) {
		rest := t.text[t.at:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "//"):
			t.skip(strings.IndexByte(rest, '\n'))
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end >= 0 {
				end += 4
			}
			t.skip(end)
		case c == '"' || c == '\'':
			end := 1
			for end < len(rest) && rest[end] != c && rest[end] != '\n' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			t.skip(min(end+1, len(rest)))
		case isLetter(c):
			end := 1
			for end < len(rest) && (isLetter(rest[end]) || '0' <= rest[end] && rest[end] <= '9') {
				end++
			}
			t.at += end
			return rest[:end], t.at - end
		case c <= ' ':
			t.at++
		default:
			t.at++
			return rest[:1], t.at - 1
		}
	}
	return "", t.at
}

// skip moves on by so many bytes, or to the end.
func (t *tokens) skip(n int) {
	if n < 0 {
		n = len(t.text) - t.at
	}
	t.at += n
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

func isName(token string) bool { return token != "" && isLetter(token[0]) }

// Library reports whether a source declares a library of this name.
func (b *Build) Library(name string) bool {
	for i := range b.Sources {
		for _, s := range b.Sources[i].scopes() {
			if s.Library && s.Contract == name {
				return true
			}
		}
	}
	return false
}

// Declaration returns where the contract, or another one of its source, declares a function, or nil if the source is not known.
func (c *Contract) Declaration(function string) *Place {
	b, err := c.Build()
	if err != nil {
		return nil
	}
	for i := range b.Sources {
		s := &b.Sources[i]
		if s.Name != c.Source {
			continue
		}
		for _, in := range s.scopes() {
			if in.Contract == c.Name && in.Function == function {
				place := &Place{Contract: c.Name, Function: function, Source: s.Name, Start: in.Start, End: in.End, Whole: true}
				place.Line, place.Column = s.position(in.Start)
				place.Text = s.line(place.Line)
				return place
			}
		}
	}
	return nil
}
