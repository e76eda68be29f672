package rpc

import (
	"bytes"
	"encoding/json"
	"iter"
)

// members iterates over the members of a JSON object, which must be valid, with raw names and values as slices of it; anything but an
// object has none. It does not parse values, so a request of megabytes costs little.
func members(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		rest := skipSpace(object)
		if len(rest) == 0 || rest[0] != '{' {
			return
		}
		for rest = skipSpace(rest[1:]); len(rest) > 0 && rest[0] == '"'; {
			key := rest[:valueEnd(rest)]
			rest = skipSpace(skipSpace(rest[len(key):])[1:]) // the colon
			end := valueEnd(rest)
			if !yield(key[1:len(key)-1], json.RawMessage(rest[:end])) {
				return
			}
			if rest = skipSpace(rest[end:]); rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
		}
	}
}

// elements iterates over the elements of a JSON list, which must be valid, as slices of it; anything but a list has none.
func elements(list []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		rest := skipSpace(list)
		if len(rest) == 0 || rest[0] != '[' {
			return
		}
		for rest = skipSpace(rest[1:]); len(rest) > 0 && rest[0] != ']'; {
			end := valueEnd(rest)
			if !yield(json.RawMessage(rest[:end])) {
				return
			}
			if rest = skipSpace(rest[end:]); rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
		}
	}
}

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r' || text[0] == '\n') {
		text = text[1:]
	}
	return text
}

// valueEnd returns the end of the value at the beginning of a text.
func valueEnd(text []byte) int {
	for i, depth := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:])
			if depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i // the end of the enclosing value
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringEnd returns the position of the quote that ends a string.
func stringEnd(text []byte) int {
	for end := 1; ; end++ {
		end += bytes.IndexByte(text[end:], '"')
		escapes := 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
	}
}
