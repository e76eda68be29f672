package evm

import (
	"encoding/json"
	"testing"
)

// TestAllocIsCutOut compares a genesis without its accounts, and the accounts, with a JSON decoder's result.
func TestAllocIsCutOut(t *testing.T) {
	for _, c := range []struct {
		raw string
		cut bool
	}{
		{`{"config":{"chainId":7,"alloc":{"a":1}},"alloc":{"00":{"balance":"0x1","code":"{\"}"}},"nonce":"0x0"}`, true},
		{`{"x":"\"alloc\":{","alloc":{},"timestamp":"0x5"}`, true},
		{`{"list":[{"alloc":{}}],"nonce":"0x0"}`, false},
		{`{"alloc": {"00":{}}}`, false},
		{`{"alloc":{"00":{}},"alloc":{"01":{}}}`, false},
		{`{"alloc":null}`, false},
		{`{"alloc":{"00":{`, false},
		{`{"alloc":{"`, false},
		{`{"alloc`, false},
		{``, false},
	} {
		rest, alloc := cutAlloc([]byte(c.raw))
		if (alloc != nil) != c.cut {
			t.Errorf("%s: cut %s", c.raw, alloc)
		}
		if !c.cut {
			if string(rest) != c.raw {
				t.Errorf("%s: left %s", c.raw, rest)
			}
			continue
		}
		var whole, left map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.raw), &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(rest, &left); err != nil {
			t.Fatalf("%s: left %s: %v", c.raw, rest, err)
		}
		left["alloc"] = alloc
		for key := range whole {
			if string(left[key]) != string(whole[key]) || len(left) != len(whole) {
				t.Errorf("%s: %s is %s", c.raw, key, left[key])
			}
		}
	}
}
