// Methods of the node that must agree with the server's other interfaces: warp, proposervm, state dumps.

package handlers_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// surfaceOf returns the node of a world that never changes.
func surfaceOf(t *testing.T, n *sim.World) http.Handler {
	t.Helper()
	h, err := handlers.New(n, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// callEVM calls an EVM chain and decodes the result into a value. It returns the error's message, if any.
func callEVM(t *testing.T, h http.Handler, path, method string, into any, params ...any) string {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and numbers
	answer := struct {
		Result any // decoded right where it belongs: traces are megabytes
		Error  *struct{ Message string }
	}{Result: into}
	text := ask(h, http.MethodPost, path, string(body))
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %v: %s", body, err, text)
	}
	switch {
	case answer.Error != nil:
		return answer.Error.Message
	case answer.Result == nil: // null
		_ = json.Unmarshal([]byte("null"), into) // any pointer takes it
	case !strings.Contains(text, `"result":`):
		t.Fatalf("%s: %s", body, text)
	}
	return ""
}

// messagesOf returns the ids of the warp messages that a chain sent.
func messagesOf(t *testing.T, w *sim.World, c *reader.Chain) (all []ids.ID) {
	t.Helper()
	var logs []store.LogView
	err := w.DB.EachLogViewOfAddress(t.Context(), precompile.WarpAddress[:], store.First(c.Row.ID), store.Last(c.Row.ID), 1<<20, func(l *store.LogView) { logs = append(logs, *l) })
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		all = append(all, ids.ID(log.Topics[32:64]))
	}
	return all
}

// TestWarpMethodsSignAsTheAggregatorDoes checks every message of every chain: its bytes hash to its id, the node's key made the node's
// signature, and the node and the Data API return the same aggregate.
func TestWarpMethodsSignAsTheAggregatorDoes(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, found := surfaceOf(t, w), 0
	for _, c := range w.Chains {
		n := w.NetworkOf(c)
		path := "/" + n.Name + "/ext/bc/" + ids.ID(c.Row.BlockchainID).String() + "/rpc"
		for i, id := range messagesOf(t, w, c) {
			if testing.Short() && i >= 3 {
				t.Log("left out of a short run: the other messages")
				break
			}
			found++
			var unsigned, signature, signed string
			if problem := callEVM(t, h, path, "warp_getMessage", &unsigned, id) + callEVM(t, h, path, "warp_getMessageSignature", &signature, id); problem != "" {
				t.Fatal(problem)
			}
			m, err := warp.ParseUnsigned(hexBytes(t, unsigned))
			if err != nil {
				t.Fatal(err)
			}
			if have, err := m.ID(); err != nil || have != id || m.SourceChainID != ids.ID(c.Row.BlockchainID) {
				t.Errorf("message %s is %v, %v", id, m, err)
			}
			key, err := warp.ParsePublicKey(n.LocalNode.PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := warp.ParseSignature(hexBytes(t, signature)); err != nil || !key.Verify(s, hexBytes(t, unsigned)) {
				t.Errorf("the signature of message %s is not the node's: %v", id, err)
			}
			problem := callEVM(t, h, path, "warp_getMessageAggregateSignature", &signed, id, 67, "")
			answer := ask(h, http.MethodPost, "/v1/signatureAggregator/"+n.Name+"/aggregateSignatures", `{"message":"`+unsigned+`"}`)
			if want := strings.TrimPrefix(signed, "0x"); problem != "" || want != "" && !strings.Contains(answer, want) && !strings.Contains(answer, "threshold") {
				t.Errorf("message %s: the node aggregates %s%s, the Data API %.300s", id, problem, signed, answer)
			}
		}
		var signature, signed string
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		block := ids.ID(head.Hash)
		if problem := callEVM(t, h, path, "warp_getBlockSignature", &signature, block) + callEVM(t, h, path, "warp_getBlockAggregateSignature", &signed, block, 1, ""); problem != "" {
			t.Errorf("%s: %s", c.Row.Name, problem)
		}
		if m, err := warp.ParseMessage(hexBytes(t, signed)); err != nil || len(m.Signature.Signers) == 0 {
			t.Errorf("%s: the block's message is %v, %v", c.Row.Name, m, err)
		}
		for want, problem := range map[string]string{
			"failed to get message 11111111111111111111111111111111LpoYY with error not found": callEVM(t, h, path, "warp_getMessage", nil, ids.Empty),
			"not found": callEVM(t, h, path, "warp_getMessageAggregateSignature", nil, ids.Empty, 67, ""),
			"failed to get signature for block 11111111111111111111111111111111LpoYY with error failed to validate block message": callEVM(t, h, path, "warp_getBlockSignature", nil, ids.Empty),
			"cannot retrieve validator set: ":        callEVM(t, h, path, "warp_getBlockAggregateSignature", nil, block, 67, ids.ID{9}.String()),
			`failed to parse subnetID: "nope"`:       callEVM(t, h, path, "warp_getBlockAggregateSignature", nil, block, 67, "nope"),
			"invalid argument 0: couldn't decode ID": callEVM(t, h, path, "warp_getMessage", nil, "0x12"),
		} {
			if !strings.HasPrefix(problem, want) {
				t.Errorf("%s: %q, want %q", c.Row.Name, problem, want)
			}
		}
	}
	if found == 0 {
		t.Error("no chain sent a message")
	}
}

// TestProposerVMNamesTheHeightForSignatures: an EVM chain's epoch contains the P-Chain height whose validators verify messages in its next block; on
// P and X it follows from their last block.
func TestProposerVMNamesTheHeightForSignatures(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, n := range w.Networks {
		v := &views{t, w, h, n}
		height := integer(v.rpc("bc/P", "platform.getProposedHeight", object{})["height"])
		for _, c := range w.Chains {
			if w.NetworkOf(c) != n {
				continue
			}
			path := "bc/" + ids.ID(c.Row.BlockchainID).String() + "/proposervm"
			v.same("proposed height", v.rpc(path, "proposervm.getProposedHeight", object{})["height"], height)
			e := v.rpc(path, "proposervm.getCurrentEpoch", object{})
			start := integer(e["startTime"])
			if start%300 != 0 || start > w.Clock.Unix() || start <= w.Clock.Unix()-300 || integer(e["number"]) < 1 {
				t.Errorf("%s: the epoch is %v at %d", c.Row.Name, e, w.Clock.Unix())
			}
			at, err := n.DB.PrimaryBlock(t.Context(), n.Chain(txs.PChain), uint64(integer(e["pChainHeight"])))
			if err != nil || at.Time >= start {
				t.Errorf("%s: the epoch's height is %v, made at %v: %v", c.Row.Name, e["pChainHeight"], at, err)
			}
		}
		for name, chain := range map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain} {
			head, err := n.DB.PrimaryHead(t.Context(), n.Chain(chain))
			if err != nil {
				t.Fatal(err)
			}
			e := v.rpc("bc/"+name+"/proposervm", "proposervm.getCurrentEpoch", object{})
			number, sealed := head.Epoch, head.Epoch == 0 || uint64(head.Time) >= head.EpochStart+300
			if sealed {
				number++
			}
			v.same("epoch of "+name, e["number"], number)
			if sealed {
				v.same("start of the epoch of "+name, e["startTime"], head.Time, e["pChainHeight"], head.PHeight)
			}
		}
		sample := v.rpc("bc/P", "platform.sampleValidators", object{"size": 20})["validators"].([]any)
		again := v.rpc("bc/P", "platform.sampleValidators", object{"size": 20})["validators"].([]any)
		members := v.rpc("bc/P", "platform.getValidatorsAt", object{"height": height})
		if len(sample) != 20 || fmt.Sprint(sample) != fmt.Sprint(again) || slices.ContainsFunc(sample, func(node any) bool { return members[node.(string)] == nil }) {
			t.Errorf("the sample of %s is %v", n.Name, sample)
		}
	}
}

// TestStatesAreWhatTheNodeDumps compares the dump of every account that changed in each chain's last blocks with its single values.
func TestStatesAreWhatTheNodeDumps(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, c := range w.Chains {
		path := "/" + c.Row.Network + "/ext/bc/" + ids.ID(c.Row.BlockchainID).String() + "/rpc"
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var changed []string
		if problem := callEVM(t, h, path, "debug_getModifiedAccountsByNumber", &changed, head.Number-5, head.Number); problem != "" || len(changed) == 0 {
			t.Fatalf("%s: %s %v", c.Row.Name, problem, changed)
		}
		type dump struct {
			Root     string
			Next     string
			Accounts map[string]struct {
				Balance string
				Nonce   uint64
				Code    string
				Storage map[string]string
			}
		}
		accounts := map[string]bool{}
		for start := "0x"; ; {
			var page dump
			if problem := callEVM(t, h, path, "debug_accountRange", &page, "latest", start, 100, false, false, false); problem != "" {
				t.Fatal(problem)
			}
			for address, account := range page.Accounts {
				if accounts[strings.ToLower(address)] {
					t.Errorf("%s: %s is on two pages", c.Row.Name, address)
				}
				accounts[strings.ToLower(address)] = true
				if !slices.Contains(changed, strings.ToLower(address)) {
					continue
				}
				var balance, nonce, code string
				callEVM(t, h, path, "eth_getBalance", &balance, address, "latest")
				callEVM(t, h, path, "eth_getTransactionCount", &nonce, address, "latest")
				callEVM(t, h, path, "eth_getCode", &code, address, "latest")
				if decimal(t, balance) != account.Balance || nonce != fmt.Sprintf("%#x", account.Nonce) || account.Code != "" && code != account.Code {
					t.Errorf("%s: %s is %+v: want %s %s", c.Row.Name, address, account, balance, nonce)
				}
				for key, value := range account.Storage {
					var slot string
					if callEVM(t, h, path, "eth_getStorageAt", &slot, address, key, "latest"); !strings.HasSuffix(slot, value) {
						t.Errorf("%s: slot %s of %s is %s: want %s", c.Row.Name, key, address, value, slot)
					}
				}
			}
			if page.Next == "" {
				break
			}
			start = "0x" + base16(t, page.Next)
		}
		for _, address := range changed {
			if !accounts[address] {
				t.Errorf("%s: %s changed and is on no page", c.Row.Name, address)
			}
		}
		var raw string
		var traces, again []any
		callEVM(t, h, path, "debug_getRawBlock", &raw, fmt.Sprintf("%#x", head.Number))
		problem := callEVM(t, h, path, "debug_traceBlock", &traces, raw, object{"tracer": "callTracer"})
		callEVM(t, h, path, "debug_traceBlockByNumber", &again, "latest", object{"tracer": "callTracer"})
		if problem != "" || fmt.Sprint(traces) != fmt.Sprint(again) {
			t.Errorf("%s: %s, a block by its bytes is traced as %.200v: want %.200v", c.Row.Name, problem, traces, again)
		}
	}
}

// decimal parses a number from an EVM chain.
func decimal(t *testing.T, quantity string) string {
	t.Helper()
	n, ok := new(big.Int).SetString(quantity, 0)
	if !ok {
		t.Fatalf("%q is no number", quantity)
	}
	return n.String()
}

func hexBytes(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// base16 converts base64 to hexadecimal.
func base16(t *testing.T, text string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}
