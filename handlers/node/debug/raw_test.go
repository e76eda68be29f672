package debug_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
)

// TestRawBlocks: the bytes of blocks hash to their ids, and go-ethereum reads from them what the namespace eth has.
func TestRawBlocks(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head, seen := c.Head().Number, 0
		for number := head - min(head, 30); number <= head; number++ {
			b, ref := c.Block(number), hexutil.Uint64(number)
			var header, block hexutil.Bytes
			var receipts, transactions []hexutil.Bytes
			c.Call(&header, "debug_getRawHeader", ref)
			c.Call(&block, "debug_getRawBlock", map[string]any{"blockHash": b.Hash})
			c.Call(&receipts, "debug_getRawReceipts", ref)
			c.Call(&transactions, "debug_getRawTransactions", ref)
			var parts []rlp.RawValue
			if err := rlp.DecodeBytes(block, &parts); err != nil {
				t.Fatal(err)
			}
			if crypto.Keccak256Hash(header) != b.Hash || !bytes.Equal(header, parts[0]) {
				t.Errorf("%s, block %d: the header is %s", chain.Row.Name, number, header)
			}
			var inside types.Transactions
			if err := rlp.DecodeBytes(parts[1], &inside); err != nil {
				t.Fatal(err)
			}
			var shown []types.Receipt
			c.Call(&shown, "eth_getBlockReceipts", ref)
			if len(transactions) != len(inside) || len(receipts) != len(inside) || len(shown) != len(inside) {
				t.Fatalf("%s, block %d: %d transactions, %d receipts, in the block %d", chain.Row.Name, number, len(transactions), len(receipts), len(inside))
			}
			all := make(types.Receipts, len(receipts))
			for i, tx := range inside {
				seen++
				var alone hexutil.Bytes
				if c.Call(&alone, "debug_getRawTransaction", tx.Hash()); !bytes.Equal(alone, c.Raw(tx)) || !bytes.Equal(alone, transactions[i]) {
					t.Errorf("%s is %s by itself, and %s in the block", tx.Hash(), alone, transactions[i])
				}
				all[i] = new(types.Receipt)
				if err := all[i].UnmarshalBinary(receipts[i]); err != nil {
					t.Fatal(err)
				}
				r, s := all[i], &shown[i]
				if r.Status != s.Status || r.CumulativeGasUsed != s.CumulativeGasUsed || r.Bloom != s.Bloom || len(r.Logs) != len(s.Logs) || r.Type != tx.Type() {
					t.Errorf("the receipt of %s is %+v, want %+v", tx.Hash(), r, s)
				}
			}
			if root := types.DeriveSha(all, trie.NewStackTrie(nil)); chain.Kind == evm.KindL1 && root != b.Header.ReceiptHash {
				t.Errorf("%s, block %d: the receipts have the root %s, want %s", chain.Row.Name, number, root, b.Header.ReceiptHash)
			}
		}
		if seen < 5 {
			t.Errorf("%s: only %d transactions were compared", chain.Row.Name, seen)
		}
	}
}

// TestNothingRaw: every method has its own words for what does not exist.
func TestNothingRaw(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	none := common.Hash{31: 1}
	numbers := "[" + strings.Repeat("0 ", 31) + "1]"
	for _, call := range []struct {
		want, method string
		params       []any
	}{
		{"-32000 header #" + numbers + " not found", "debug_getRawHeader", []any{none}},
		{"-32000 block #" + numbers + " not found", "debug_getRawBlock", []any{none}},
		{"-32000 header for hash not found", "debug_getRawTransactions", []any{none}},
		{"[]", "debug_getRawReceipts", []any{none}},
		{`"0x"`, "debug_getRawTransaction", []any{none}},
		{"-32000 transaction not found", "debug_traceTransaction", []any{none}},
		{"-32000 block " + none.Hex() + " not found", "debug_traceBlockByHash", []any{none}},
		{"-32000 block " + none.Hex() + " not found", "debug_traceCall", []any{object{"to": someone}, none}},
		{"-32000 block " + none.Hex() + " not found", "debug_executionWitness", []any{none}},
		{"-32000 bad block " + none.Hex() + " not found", "debug_traceBadBlock", []any{none}},
		{"-32000 unknown preimage", "debug_preimage", []any{none}},
		{"[]", "debug_getBadBlocks", []any{}},
		{"null", "debug_codeByHash", []any{none}},
		{"-32000 header for hash not found", "debug_codeByHash", []any{crypto.Keccak256Hash(nil), none}},
		{"-32000 header for hash not found", "debug_accountInfoAt", []any{none, 0, someone}},
		{"-32000 header for hash not found", "debug_storageRangeAt", []any{none, 0, someone, "0x", 1}},
		{"-32000 block " + none.Hex() + " not found", "debug_accountRange", []any{none, "0x", 1, true, true, true}},
		{"-32000 block #9999 not found", "debug_accountRange", []any{"0x270f", "0x", 1, true, true, true}},
		{"-32000 either block number or block hash must be specified", "debug_accountRange", []any{object{}, "0x", 1, true, true, true}},
		{"-32000 block #9999 not found", "debug_dumpBlock", []any{"0x270f"}},
		{"-32000 could not decode block: rlp: expected input list for []rlp.RawValue", "debug_traceBlock", []any{"0x00"}},
		{"-32000 could not decode block: it has no header", "debug_traceBlock", []any{"0xc0"}},
		{fmt.Sprintf("-32000 block %s does not belong to this chain: only its blocks can be traced", crypto.Keccak256Hash([]byte{0xc0})), "debug_traceBlock", []any{"0xc1c0"}},
	} {
		have := c.Problem(call.method, call.params...)
		if have == "" {
			have = c.Text(call.method, call.params...)
		}
		if have != call.want {
			t.Errorf("%s %v: %s, want %s", call.method, call.params, have, call.want)
		}
	}
}

// TestLaggingExecution: a block that is accepted and not executed yet has bytes, and neither receipts nor traces nor a state.
func TestLaggingExecution(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Networks[0].CChain())
	if err := c.Miner.SetFault(t.Context(), miner.Fault{ExecutionLag: miner.Lag{Blocks: 2}}); err != nil {
		t.Fatal(err)
	}
	hash := c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
	b := c.Head()
	ref := hexutil.Uint64(b.Number)
	for method, params := range map[string][]any{"debug_getRawHeader": {ref}, "debug_getRawBlock": {ref}, "debug_getRawTransactions": {ref}, "debug_getRawTransaction": {hash}} {
		if have := c.Text(method, params...); len(have) < 100 {
			t.Errorf("%s: %s", method, have)
		}
	}
	const lags = "-32000 the block is accepted but not executed yet"
	for method, params := range map[string][]any{
		"debug_getRawReceipts": {ref}, "debug_traceTransaction": {hash}, "debug_traceBlockByNumber": {ref}, "debug_traceBlockByHash": {b.Hash}, "debug_traceCall": {object{"to": someone}, ref},
		"debug_executionWitness": {ref}, "debug_accountInfoAt": {ref, 0, someone}, "debug_storageRangeAt": {ref, 0, someone, "0x", 1}, "debug_codeByHash": {common.Hash{}, ref},
	} {
		if problem := c.Problem(method, params...); problem != lags {
			t.Errorf("%s: %s", method, problem)
		}
	}
	for method, params := range map[string][]any{"debug_dumpBlock": {ref}, "debug_accountRange": {ref, "0x", 1, true, true, true}} {
		if problem := c.Problem(method, params...); problem != fmt.Sprintf("-32000 block #%d not found", b.Number) {
			t.Errorf("%s: %s", method, problem)
		}
	}
}
