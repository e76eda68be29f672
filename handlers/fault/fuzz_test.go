package fault_test

import (
	"testing"

	"snowglobe/handlers/fault"
)

// FuzzRules reads a file for --faults, and the header for a fault. Each is accepted or refused with a sentence.
func FuzzRules(f *testing.F) {
	for _, text := range []string{
		"- match: {operation: getChain}\n  action: {status: 500}\n", "- action: {delay: 1s}\n  times: 3\n", "[]", "- 1", "- {}", "- match: {rpcMethod: eth_call}\n  probability: 0.5\n  action: {drop: true}\n",
		"delay=1s", "status=503; message=x", "- &a [*a]", "- {match: {}, action: {}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := fault.ReadFile([]byte(text))
		for _, v := range rules {
			if r, problems := fault.Decode(v, names); err == nil && r == nil && len(problems) == 0 {
				t.Errorf("%q: a rule %v and problems %v", text, r, problems)
			}
		}
		if a, err := fault.ParseHeader(text); (a == nil) == (err == nil) && text != "" {
			t.Errorf("%q: %v %v", text, a, err)
		}
	})
}
