package simulate_test

import (
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
)

// callOutcome is the result of a call of eth_callMany.
type callOutcome struct{ Value, Error *string }

// bundleOutcome is the result of eth_callBundle.
type bundleOutcome struct {
	BundleGasPrice, BundleHash, CoinbaseDiff, EthSentToCoinbase, GasFees string
	StateBlockNumber, TotalGasUsed                                       uint64
	Results                                                              []struct {
		CoinbaseDiff, EthSentToCoinbase, FromAddress, GasFees, GasPrice, TxHash string
		GasUsed                                                                 uint64
		ToAddress, Value, Error, Revert                                         *string
	}
}

// TestBundlesAreWhatBlocksAre runs the transactions of blocks again: on the parent as signed ones, and as calls from the middle of the block on.
func TestBundlesAreWhatBlocksAre(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for i, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head := c.Head()
		blocks := uint64(60)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but 15")
			blocks = 15
		}
		bundled, failed := 0, 0
		for number := head.Number - min(head.Number-1, blocks); number <= head.Number; number++ {
			more, worse := bundledAgain(c, c.Block(number))
			bundled, failed = bundled+more, failed+worse
		}
		if bundled < 10 || failed == 0 && i == 0 {
			t.Errorf("%s: only %d transactions were tried, of which %d failed", c.Chain.Row.Name, bundled, failed)
		}
	}
}

func bundledAgain(c *nodetest.Chain, b *reader.Block) (tried, failed int) {
	c.Helper()
	all := c.Receipts(b)
	if len(all) == 0 {
		return 0, 0
	}
	var raw []hexutil.Bytes
	var calls []object
	var hashes []byte
	for _, tx := range all {
		raw, calls, hashes = append(raw, hexutil.Bytes(tx.Row.Raw)), append(calls, callOf(tx.Transaction, tx.Sender)), append(hashes, tx.Hash().Bytes()...)
	}
	var made bundleOutcome
	c.Call(&made, "eth_callBundle", object{"txs": raw, "blockNumber": hexutil.Uint64(b.Number), "stateBlockNumber": hexutil.Uint64(b.Number - 1),
		"timestamp": b.Header.Time, "coinbase": b.Header.Coinbase, "gasLimit": hexutil.Uint64(b.Header.GasLimit), "baseFee": (*hexutil.Big)(b.Results.BaseFee)})
	// As calls, from the middle of the block on.
	middle := len(all) / 2
	var tries [][]callOutcome
	c.Call(&tries, "eth_callMany", []object{{"transactions": calls[middle:]}}, object{"blockNumber": hexutil.Uint64(b.Number), "transactionIndex": middle})
	if len(made.Results) != len(all) || len(tries) != 1 || len(tries[0]) != len(all)-middle || made.StateBlockNumber != b.Number-1 || made.BundleHash != crypto.Keccak256Hash(hashes).Hex() {
		c.Fatalf("%s, block %d: %+v and %+v", c.Chain.Row.Name, b.Number, made, tries)
	}
	paid, used := new(big.Int), uint64(0)
	for i, tx := range all {
		var trace struct{ ReturnValue string }
		c.Call(&trace, "debug_traceTransaction", tx.Hash(), object{"disableStack": true, "disableStorage": true, "limit": 1})
		r, fee := made.Results[i], new(big.Int).Mul(new(big.Int).SetUint64(tx.Row.GasUsed), tx.Receipt().EffectiveGasPrice)
		if r.GasUsed != tx.Row.GasUsed || r.TxHash != tx.Hash().Hex() || !strings.EqualFold(r.FromAddress, tx.Sender.Hex()) || (r.ToAddress == nil) != (tx.To() == nil) ||
			r.GasFees != fee.String() || r.CoinbaseDiff != fee.String() || r.EthSentToCoinbase != "0" || (r.Value == nil) != (tx.Row.Status == 0) || (r.Error == nil) == (tx.Row.Status == 0) {
			c.Errorf("%s: %+v, want gas %d and fees %s", tx.Hash(), r, tx.Row.GasUsed, fee)
		}
		output := r.Value
		if tx.Row.Status == 0 {
			output = r.Revert
			failed++
		}
		if output == nil || *output != "0x"+trace.ReturnValue && (tx.Row.Status == 1 || *r.Error == "execution reverted") {
			c.Errorf("%s returned %v, in its block %s", tx.Hash(), output, trace.ReturnValue)
		}
		if paid.Add(paid, fee); i >= middle {
			call := tries[0][i-middle]
			if (call.Value == nil) != (tx.Row.Status == 0) || call.Value != nil && *call.Value != *r.Value || call.Error != nil && *call.Error != *r.Error {
				c.Errorf("%s as a call gave %v, signed %+v", tx.Hash(), call, r)
			}
		}
		used += tx.Row.GasUsed
	}
	if made.CoinbaseDiff != paid.String() || made.GasFees != paid.String() || made.EthSentToCoinbase != "0" || made.TotalGasUsed != used ||
		made.BundleGasPrice != new(big.Int).Quo(paid, new(big.Int).SetUint64(used)).String() {
		c.Errorf("%s, block %d: %+v, want %s for %d", c.Chain.Row.Name, b.Number, made, paid, used)
	}
	return len(all), failed
}

// TestCallsInBundles calls contracts that read the block and what earlier calls left, and compares with sending the same calls.
func TestCallsInBundles(t *testing.T) {
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Networks[0].CChain())
	counter := d.Deploy(common.FromHex("0x6001600054018060005560005260206000f3"))
	sees := d.Deploy(common.FromHex("0x4360005242602052466040524860605241608052600a430340" + "60a05260c06000f3")) // NUMBER, TIMESTAMP, CHAINID, BASEFEE, COINBASE, a BLOCKHASH
	count, look := object{"from": d.From, "to": counter}, object{"to": sees}
	var made [][]callOutcome
	d.Call(&made, "eth_callMany", []object{{"transactions": []object{count, count, look}}, {"transactions": []object{}}, {"transactions": []object{count, look}, "blockOverride": object{
		"blockNumber": "0x1000", "timestamp": "0x7fffffff", "coinbase": someone, "baseFee": "0x0", "blockHash": object{fmt.Sprint(0x1000 - 10): common.HexToHash("0xabc")},
	}}, {"transactions": []object{look}}})
	word := func(n uint64) string { return common.BigToHash(new(big.Int).SetUint64(n)).Hex() }
	head := d.Head()
	seen := func(o callOutcome, at int) string {
		if o.Value == nil {
			t.Fatal(*o.Error)
		}
		return common.BytesToHash(common.FromHex(*o.Value)[32*at : 32*at+32]).Hex()
	}
	if len(made) != 4 || len(made[1]) != 0 || *made[0][0].Value != word(1) || *made[0][1].Value != word(2) || *made[2][0].Value != word(3) {
		t.Fatalf("%+v", made)
	}
	for i, c := range []struct {
		got  callOutcome
		want [2]uint64
	}{{made[0][2], [2]uint64{head.Number, head.Header.Time}}, {made[2][1], [2]uint64{0x1000, 0x7fffffff}}, {made[3][0], [2]uint64{0x1001, 0x80000000}}} {
		if seen(c.got, 0) != word(c.want[0]) || seen(c.got, 1) != word(c.want[1]) || seen(c.got, 2) != word(d.Chain.Row.EVMID) {
			t.Errorf("call %d saw %s and %s, want %d", i, seen(c.got, 0), seen(c.got, 1), c.want)
		}
	}
	if seen(made[2][1], 4) != common.BytesToHash(someone[:]).Hex() || seen(made[2][1], 5) != common.HexToHash("0xabc").Hex() {
		t.Errorf("the overrides gave %s", *made[2][1].Value)
	}
	if hash := d.Block(head.Number - 10).Hash.Hex(); seen(made[0][2], 5) != hash {
		t.Errorf("BLOCKHASH gave %s, want %s", seen(made[0][2], 5), hash)
	}
	// As transactions.
	d.Text("evm_setAutomine", false)
	nonce := d.Nonce()
	var sent []common.Hash
	var raw []hexutil.Bytes
	for i := range uint64(3) {
		tx := &types.DynamicFeeTx{Nonce: nonce + i, To: &counter, Gas: 47_000}
		raw = append(raw, d.Raw(d.Sign(tx)))
		sent = append(sent, d.Send(tx))
	}
	var bundle bundleOutcome
	d.Call(&bundle, "eth_callBundle", object{"txs": raw, "blockNumber": hexutil.Uint64(head.Number + 1)})
	d.Text("evm_mine")
	for i, hash := range sent {
		receipt := d.Transaction(hash).Receipt()
		if bundle.Results[i].GasUsed != receipt.GasUsed || bundle.Results[i].Value == nil || *bundle.Results[i].Value != word(uint64(i+1)) {
			t.Errorf("transaction %d used %d in the bundle, and in its block %+v", i, bundle.Results[i].GasUsed, receipt)
		}
		var trace struct{ ReturnValue string }
		if d.Call(&trace, "debug_traceTransaction", hash); "0x"+trace.ReturnValue != word(uint64(i+1)) {
			t.Errorf("transaction %d returned %s", i, trace.ReturnValue)
		}
	}
	// Before the block's transactions, between them, after them; on another state.
	for _, c := range []struct {
		context object
		states  object
		want    uint64
	}{{object{"transactionIndex": 0}, nil, 1}, {object{"transactionIndex": "0x2"}, nil, 3}, {object{"transactionIndex": 3}, nil, 4}, {object{"transactionIndex": -1}, nil, 4}, {object{}, nil, 4},
		{object{"blockNumber": hexutil.EncodeUint64(head.Number)}, nil, 1}, {object{}, object{counter.Hex(): object{"stateDiff": object{common.Hash{}.Hex(): word(0x50)}}}, 0x51}} {
		params := []any{[]object{{"transactions": []object{count}}}, c.context}
		if c.states != nil {
			params = append(params, c.states, 1_000)
		}
		if d.Call(&made, "eth_callMany", params...); *made[0][0].Value != word(c.want) {
			t.Errorf("%v %v: %s, want %d", c.context, c.states, *made[0][0].Value, c.want)
		}
	}
	bundlesRefused(d, count)
}

func bundlesRefused(d *nodetest.Chain, call object) {
	d.Helper()
	raw := func(nonce uint64, gas uint64) hexutil.Bytes {
		return d.Raw(d.Sign(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: gas}))
	}
	many := make([]object, 10_001)
	for i := range many {
		many[i] = object{}
	}
	loop := d.Deploy(common.FromHex("0x5b600056"))
	d.Text("evm_mine")
	nonce := d.Nonce()
	bundle := func(with object) object {
		whole := object{"txs": []hexutil.Bytes{raw(nonce, 21_000)}, "blockNumber": "0x99999", "stateBlockNumber": "latest"}
		maps.Copy(whole, with)
		return whole
	}
	for _, c := range []struct {
		method string
		params []any
		want   string
	}{
		{"eth_callMany", []any{[]object{}}, "-32602 bundles are empty"},
		{"eth_callMany", []any{[]object{{"transactions": []object{call}}}, object{"transactionIndex": 99}}, "-32602 transactionIndex is 99, and the block has "},
		{"eth_callMany", []any{[]object{{"transactions": []object{call}}}, object{"transactionIndex": "first"}}, "-32602 "},
		{"eth_callMany", []any{[]object{{"transactions": []object{call}, "blockOverride": object{"blockHash": object{"x": common.Hash{}}}}}}, `-32602 blockHash "x": `},
		{"eth_callMany", []any{[]object{{"transactions": many}}}, "-38026 too many calls: 10001 > 10000"},
		{"eth_callMany", []any{[]object{{"transactions": []object{{"to": loop}}}}, object{}, nil, 20}, "-32000 bundle 0, transaction 0: execution aborted (timeout = 20ms)"},
		{"eth_callMany", []any{[]object{{"transactions": []object{{"to": someone, "gasPrice": "0x1", "maxFeePerGas": "0x1"}}}}}, "-32000 bundle 0, transaction 0: both gasPrice and "},
		{"eth_callBundle", []any{bundle(object{"txs": []any{}})}, "-32602 bundle missing txs"},
		{"eth_callBundle", []any{bundle(object{"blockNumber": "0x0"})}, "-32602 bundle missing blockNumber"},
		{"eth_callBundle", []any{bundle(object{"gasLimit": "0xffffffff"})}, "-32602 gasLimit is 4294967295: expected at most "},
		{"eth_callBundle", []any{bundle(object{"txs": []any{"0x01"}})}, "-32602 transaction 0: "},
		{"eth_callBundle", []any{bundle(object{"txs": []any{raw(nonce, 21_000), raw(nonce, 21_000)}})}, "-32000 transaction 1, 0x"},
		{"eth_callBundle", []any{bundle(object{"txs": []any{raw(nonce, 30_000)}, "gasLimit": 29_999})}, "-32000 transaction 0, 0x"},
		{"eth_callBundle", []any{bundle(object{"stateBlockNumber": "0xffffffff"})}, "-32000 "},
		{"eth_callBundle", []any{bundle(object{"baseFee": "0x1d1a94a20001"})}, "-32000 transaction 0, 0x"}, // more than the transaction's fee cap
		{"eth_callBundle", []any{bundle(nil)}, ""},
		{"eth_callMany", []any{[]object{{"transactions": []object{call}}}, object{"blockNumber": "pending"}}, ""},
	} {
		if got := d.Problem(c.method, c.params...); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			d.Errorf("%s %.300v: %s, want %s", c.method, c.params, got, c.want)
		}
	}
}
