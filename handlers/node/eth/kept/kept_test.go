package kept

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/cache"
)

const asJSON = "application/json"

// TestOnlyPlainCallsAreKept tells calls of accepted blocks from others, and leaves to go-ethereum's server what that may refuse or write in
// another way.
func TestOnlyPlainCallsAreKept(t *testing.T) {
	for _, c := range []struct {
		body, content string
		may           bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`, asJSON, true},
		{`{"method":"eth_blockNumber","id":0,"jsonrpc":"2.0"}`, asJSON, true},
		{` { "jsonrpc" : "2.0" , "id" : "a-7" , "method" : "eth_getBalance" , "params" : ["0x00","latest"] } `, asJSON, true},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`, "text/plain", false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":{}}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":null}`, asJSON, false},
		{`{"jsonrpc":"1.0","id":1,"method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"id":1,"method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":null,"method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":-1,"method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1.5,"method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":"<a>","method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":"\u0041","method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("a", longestID) + `","method":"eth_blockNumber","params":[]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[],"Method":"eth_call"}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_call","method":"eth_blockNumber"}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x00"]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionByHash","params":["0x00"]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x00","pending"]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x00","p\u0065nding"]}`, asJSON, false},
		{`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"topics":["` + strings.Repeat("0", longestBody) + `"]}]}`, asJSON, false},
		{`[{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}]`, asJSON, false},
		{`"eth_blockNumber"`, asJSON, false},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Content-Type", c.content)
		if _, may := Read(r, []byte(c.body)); may != c.may {
			t.Errorf("%s as %s: %t, want %t", c.body, c.content, may, c.may)
		}
	}
}

// TestResultsLastAsLongAsTheRevision asks with other ids, and after changes of all kinds.
func TestResultsLastAsLongAsTheRevision(t *testing.T) {
	results, at := New(new(cache.Group)), Revision{1, 2, common.Hash{3}}
	call := func(id, method string) Call { return Call{[]byte(id), `"` + method + `"[]`} }
	results.Keep(call("1", "eth_blockNumber"), at, []byte(`{"jsonrpc":"2.0","id":1,"result":"0x7"}`))
	results.Keep(call("1", "eth_getLogs"), at, []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`))
	results.Keep(call("1", "eth_getCode"), at, []byte(`{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("0", longestResult)+`"}`))
	for _, c := range []struct {
		call   Call
		at     Revision
		answer string
	}{
		{call("1", "eth_blockNumber"), at, `{"jsonrpc":"2.0","id":1,"result":"0x7"}` + "\n"},
		{call(`"b"`, "eth_blockNumber"), at, `{"jsonrpc":"2.0","id":"b","result":"0x7"}` + "\n"},
		{call("1", "eth_chainId"), at, ""},
		{call("1", "eth_getLogs"), at, ""},
		{call("1", "eth_getCode"), at, ""},
		{call("1", "eth_blockNumber"), Revision{2, 2, at.Head}, ""},
		{call("1", "eth_blockNumber"), Revision{1, 3, at.Head}, ""},
		{call("1", "eth_blockNumber"), Revision{1, 2, common.Hash{4}}, ""},
	} {
		if answer, known := results.Answer(c.call, c.at); string(answer) != c.answer || known != (c.answer != "") {
			t.Errorf("%s at %v: %q, want %q", c.call.request, c.at, answer, c.answer)
		}
	}
	if n := results.Given(); n != 2 {
		t.Errorf("%d results were given again", n)
	}
}

// TestCallsAskedAgain are told from those asked once, however many those are.
func TestCallsAskedAgain(t *testing.T) {
	results := New(new(cache.Group))
	known := 0
	for i := range 10 * lastAsked {
		polled := Call{request: "eth_blockNumber"}
		if results.AskedAgain(Call{request: fmt.Sprint(i)}) {
			t.Errorf("call %d was not asked before", i)
		}
		if results.AskedAgain(polled) {
			known++
		}
	}
	if known < 9*lastAsked {
		t.Errorf("a call that was asked all the time was known %d times of %d", known, 10*lastAsked)
	}
}
