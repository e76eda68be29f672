package rpc

import (
	"encoding/json"
	"testing"
)

// TestMembersAreFound as by the standard library.
func TestMembersAreFound(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `[]`, `"method"`, `null`, `{"method":"a"}`, `{"method" : "a" , "x":1}`, `{"x":[{"method":"no"},"\"]}"],"method":"a\\"}`,
		`{"x":"\\","method":"a\"b"}`, `{"method":1,"y":{"z":[1,2,{}]},"method":["b"]}`, `{"x":"method","method":null}`, `{"x":-1e9,"method":{"a":"}"}}`, "{\n\t\"method\":\ttrue\n}",
		`{"x":"\\\\\"","y":[],"method":12}`, `{"Method":"other"}`,
	} {
		var want map[string]json.RawMessage
		_ = json.Unmarshal([]byte(text), &want) // other JSON has no members
		var got json.RawMessage
		for name, value := range members([]byte(text)) {
			if string(name) == "method" {
				got = value
			}
		}
		if string(got) != string(want["method"]) {
			t.Errorf("%s: %q, want %q", text, got, want["method"])
		}
	}
}
