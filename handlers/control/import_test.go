package control_test

import (
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
)

// TestRefusedImports: every mistake is named, and nothing of the file is imported.
func TestRefusedImports(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	s := serve(t, w, permit.Rule{}, func(s *rest.Server) error { return control.RegisterImports(s, w, nil) })
	digest := string(w.Digest())
	for _, c := range []struct{ body, problem string }{
		{`{}`, "expected either path or content"},
		{`{"path":"/nowhere/at/all.json"}`, "path: open /nowhere/at/all.json"},
		{`{"content":{"a":1}}`, "the file: line 1: it is none of anvil, alloc, broadcast, ignition, tokenlist; if it is, say which"},
		{`{"content":{"a":1},"kind":"alloc"}`, "the file: line 1: a: \\\"a\\\" is not an address"},
		{`{"content":{"a":1},"kind":"besu"}`, "there is no kind"},
		{`{"content":[1]}`, "the file: line 1: expected an object"},
		{`{"content":{"alloc":{}},"chain":"Q"}`, "chain: there is no EVM chain"},
		{`{"content":{"alloc":{"0x00000000000000000000000000000000000a110c":{}}}}`, "alloc.0x00000000000000000000000000000000000a110c: the account has no balance"},
		{`{"content":{"transactions":[],"chain":31337}}`, "chain: the world has no EVM chain with the id that the file gives; name a chain"},
		{`{"content":{"transactions":[{"contractName":"A","contractAddress":"0x12"}]}}`, "transactions[0].contractAddress: \\\"0x12\\\" is not an address"},
		{`{"content":{"transactions":{}}}`, "transactions: expected a list"},
		{`{"content":{"tokens":[{"chainId":43114}]}}`, "tokens[0]: the token has no address"},
		{`{"content":{"M#A":"0x12"}}`, "M#A: \\\"0x12\\\" is not an address"},
	} {
		if status, text := s.ask(http.MethodPost, "/sim/imports", c.body); status != 400 || !strings.Contains(text, c.problem) {
			t.Errorf("%s: %d %s, want %s", c.body, status, text, c.problem)
		}
	}
	if string(w.Digest()) != digest {
		t.Error("a refused import changed the world")
	}
}
