package marshal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

type object = map[string]json.RawMessage

// read reads an object, and returns its keys in order. It must not hold a superfluous byte.
func read(t *testing.T, text []byte) (o object, keys []string) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil || !bytes.Equal(compact.Bytes(), text) {
		t.Fatalf("%v: %s", err, text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	o = object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		o[key.(string)] = value
	}
	if len(o) != len(keys) {
		t.Errorf("a key is there twice: %v", keys)
	}
	return o, keys
}

// same compares an object's values for all keys that another has, null apart, and returns the sorted keys that only the first one has.
func same(t *testing.T, what any, have object, want any) (more []string) {
	t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var reference object
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	for key, value := range reference {
		if string(value) != "null" && string(have[key]) != string(value) {
			t.Errorf("%v: %s is %s, want %s", what, key, have[key], value)
		}
	}
	for key := range have {
		if value, known := reference[key]; !known || string(value) == "null" {
			more = append(more, key)
		}
	}
	slices.Sort(more)
	return more
}

// eachBlock visits the blocks of all chains of a world in which every type of transaction was sent, also one that creates a contract.
func eachBlock(t *testing.T, visit func(c *nodetest.Chain, b *reader.Block, transactions []*reader.Transaction)) {
	w := seedtest.Copy(t, 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		send(c)
		for number := range c.Head().Number + 1 {
			b := c.Block(number)
			visit(c, b, c.Receipts(b))
		}
	}
}

// send sends a transaction of every type.
func send(c *nodetest.Chain) {
	c.Helper()
	to, price, id := common.Address{7}, big.NewInt(2_000_000_000_000), new(big.Int).SetUint64(c.Chain.Row.EVMID)
	list := types.AccessList{{Address: to, StorageKeys: []common.Hash{{1}, {2}}}, {Address: common.Address{8}}}
	for _, tx := range []types.TxData{
		&types.LegacyTx{Nonce: c.Nonce(), To: &to, Gas: 50_000, GasPrice: price, Value: big.NewInt(5), Data: []byte{1, 2}},
		&types.AccessListTx{ChainID: id, Nonce: c.Nonce() + 1, To: &to, Gas: 50_000, GasPrice: price, AccessList: list},
		&types.DynamicFeeTx{ChainID: id, Nonce: c.Nonce() + 2, Gas: 100_000, GasFeeCap: price, GasTipCap: big.NewInt(3), AccessList: list, Data: nodetest.Creation([]byte{0x5f})},
	} {
		if err := c.Miner.Send(c.Context(), c.SignAny(tx)); err != nil {
			c.Fatal(err)
		}
	}
}

// TestTransactions: go-ethereum reads its own transactions from the JSON, and writes the same values.
func TestTransactions(t *testing.T) {
	kinds := map[uint8]int{}
	eachBlock(t, func(_ *nodetest.Chain, b *reader.Block, all []*reader.Transaction) {
		for i, tx := range all {
			text := marshal.Transaction(tx)
			have, _ := read(t, text)
			var again types.Transaction
			if err := json.Unmarshal(text, &again); err != nil || again.Hash() != tx.Hash() {
				t.Errorf("%s is read as %s: %v", text, again.Hash(), err)
			}
			more := same(t, tx.Hash(), have, tx.Transaction)
			sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx.Transaction)
			if err != nil {
				t.Fatal(err)
			}
			same(t, tx.Hash(), have, map[string]any{
				"blockHash": b.Hash, "blockNumber": hexutil.Uint64(b.Number), "from": sender, "transactionIndex": hexutil.Uint64(i), "gasPrice": (*hexutil.Big)(tx.Bound()),
			})
			want := []string{"blockHash", "blockNumber", "from", "transactionIndex"}
			if tx.Type() == types.DynamicFeeTxType {
				want = []string{"blockHash", "blockNumber", "from", "gasPrice", "transactionIndex"}
			}
			if tx.To() == nil {
				want = append(want, "to")
				if string(have["to"]) != "null" {
					t.Errorf("%s goes to %s", tx.Hash(), have["to"])
				}
			}
			if slices.Sort(want); !slices.Equal(more, want) {
				t.Errorf("%s has also %v, want %v", tx.Hash(), more, want)
			}
			kinds[tx.Type()]++
		}
	})
	if kinds[types.LegacyTxType] < 3 || kinds[types.AccessListTxType] < 3 || kinds[types.DynamicFeeTxType] < 10 {
		t.Errorf("only transactions of %v were compared", kinds)
	}
}

// TestReceipts: a receipt has the values that go-ethereum writes, and says who paid whom.
func TestReceipts(t *testing.T) {
	logs, created := 0, 0
	eachBlock(t, func(_ *nodetest.Chain, _ *reader.Block, all []*reader.Transaction) {
		for _, tx := range all {
			have, _ := read(t, marshal.Receipt(tx))
			r := tx.Receipt()
			written := have["logs"]
			delete(have, "logs")
			reference := *r
			reference.Logs = nil
			var contract *common.Address
			if tx.To() == nil {
				contract = new(crypto.CreateAddress(tx.Sender, tx.Nonce()))
				created++
			}
			same(t, tx.Hash(), have, map[string]any{"from": tx.Sender, "type": hexutil.Uint64(tx.Type())})
			delete(have, "type") // go-ethereum leaves it out of the oldest receipts
			for key, want := range map[string]*common.Address{"to": tx.To(), "contractAddress": contract} {
				if text, _ := json.Marshal(want); string(have[key]) != string(text) {
					t.Errorf("%s: %s is %s, want %s", tx.Hash(), key, have[key], text)
				}
				delete(have, key)
			}
			reference.ContractAddress = common.Address{}
			text, err := json.Marshal(&reference)
			if err != nil {
				t.Fatal(err)
			}
			var expected object
			if err := json.Unmarshal(text, &expected); err != nil {
				t.Fatal(err)
			}
			delete(expected, "contractAddress")
			delete(expected, "logs")
			delete(expected, "root")
			delete(expected, "type")
			if more := same(t, tx.Hash(), have, expected); !slices.Equal(more, []string{"from"}) {
				t.Errorf("%s has also %v", tx.Hash(), more)
			}
			var each []json.RawMessage
			if err := json.Unmarshal(written, &each); err != nil || len(each) != len(r.Logs) {
				t.Fatalf("%d logs, want %d: %v", len(each), len(r.Logs), err)
			}
			for i, log := range r.Logs {
				logs++
				checkLog(t, each[i], log)
			}
		}
	})
	if logs < 20 || created < 3 {
		t.Errorf("only %d logs and %d contracts were compared", logs, created)
	}
}

// checkLog compares a log with go-ethereum's own JSON, which also has the time.
func checkLog(t *testing.T, text []byte, log *types.Log) {
	t.Helper()
	have, _ := read(t, text)
	want, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	var reference object
	if err := json.Unmarshal(want, &reference); err != nil {
		t.Fatal(err)
	}
	delete(reference, "blockTimestamp")
	if more := same(t, log.TxHash, have, reference); len(more) > 0 {
		t.Errorf("a log of %s has also %v", log.TxHash, more)
	}
}

// TestRemovedLogs: a log that a reorganization removed says so.
func TestRemovedLogs(t *testing.T) {
	for _, log := range []*types.Log{{Removed: true}, {Topics: []common.Hash{{1}, {2}}, Data: []byte{0, 1}, BlockNumber: 1 << 40, TxIndex: 3, Index: 9, Address: common.Address{5}}} {
		if log.Topics == nil {
			log.Topics = []common.Hash{}
		}
		w := &marshal.Writer{}
		w.Log(log)
		checkLog(t, w.JSON, log)
	}
}

// Fields of headers in the order of their RLP (coreth and subnet-evm, plugin/evm/customtypes.HeaderExtra).
var (
	quantities = strings.Fields("difficulty number gasLimit gasUsed timestamp baseFeePerGas extDataGasUsed blockGasCost blobGasUsed excessBlobGas timestampMilliseconds minDelayExcess " +
		"targetExponent minPriceExponent settledHeight settledGasUnix settledGasNumerator settledExcess")
	l1Fields = strings.Fields("parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp extraData mixHash nonce " +
		"baseFeePerGas blockGasCost blobGasUsed excessBlobGas parentBeaconBlockRoot timestampMilliseconds minDelayExcess targetExponent minPriceExponent settledHeight settledGasUnix settledGasNumerator settledExcess")
	cFields = strings.Fields(strings.ReplaceAll(strings.Join(l1Fields, " "), "baseFeePerGas", "extDataHash baseFeePerGas extDataGasUsed"))
)

// TestHeaders: a header for subscribers has the fields of the block's bytes, in their order.
func TestHeaders(t *testing.T) {
	lengths := map[int]int{}
	eachBlock(t, func(c *nodetest.Chain, b *reader.Block, all []*reader.Transaction) {
		head, keys := read(t, marshal.NewHead(c.Chain.Kind, b))
		var items []rlp.RawValue
		if err := rlp.DecodeBytes(b.Row.Header, &items); err != nil {
			t.Fatal(err)
		}
		names := cFields
		if c.Chain.Kind == evm.KindL1 {
			names = l1Fields
		}
		names = names[:len(items)]
		if want := append(slices.Clone(names), "hash"); !slices.Equal(keys, want) {
			t.Fatalf("a header has %v, want %v", keys, want)
		}
		for i, name := range names {
			_, content, _, err := rlp.Split(items[i])
			if err != nil {
				t.Fatal(err)
			}
			want := hexutil.Encode(content)
			if slices.Contains(quantities, name) {
				want = hexutil.EncodeBig(new(big.Int).SetBytes(content))
			}
			if have := string(head[name]); have != `"`+want+`"` {
				t.Errorf("block %d: %s is %s, want %s", b.Number, name, have, want)
			}
		}
		if hash := crypto.Keccak256Hash(b.Row.Header).Hex(); string(head["hash"]) != `"`+hash+`"` {
			t.Errorf("block %d has the hash %s, want %s", b.Number, head["hash"], hash)
		}
		lengths[len(items)]++
		checkBlocks(t, c, b, all, head)
	})
	if len(lengths) < 3 {
		t.Errorf("only headers of %v fields were compared", lengths)
	}
}

// checkBlocks compares a header as the methods of eth return it, and blocks with it.
func checkBlocks(t *testing.T, c *nodetest.Chain, b *reader.Block, all []*reader.Transaction, head object) {
	t.Helper()
	header, keys := read(t, marshal.Header(c.Chain.Kind, b))
	if more := same(t, b.Number, header, head); !slices.Equal(more, []string{"totalDifficulty"}) || !slices.IsSorted(keys) {
		t.Errorf("a header has also %v: %v", more, keys)
	}
	same(t, b.Number, header, map[string]any{"totalDifficulty": hexutil.Uint64(b.Number)})
	hashes, full := []common.Hash{}, []json.RawMessage{}
	for _, tx := range all {
		hashes, full = append(hashes, tx.Hash()), append(full, marshal.Transaction(tx))
	}
	for _, whole := range []bool{false, true} {
		block, keys := read(t, marshal.Block(c.Chain.Kind, b, all, 0x1234, whole))
		want := map[string]any{"size": "0x1234", "uncles": []any{}, "transactions": hashes}
		if whole {
			want["transactions"] = full
		}
		if c.Chain.Kind == evm.KindC {
			want["blockExtraData"] = hexutil.Bytes(b.Row.ExtData)
		}
		same(t, b.Number, block, want)
		if more := same(t, b.Number, block, header); !slices.Equal(more, slices.Sorted(maps.Keys(want))) || !slices.IsSorted(keys) {
			t.Errorf("a block has also %v: %v", more, keys)
		}
	}
	outcomes := make([]marshal.Outcome, len(all))
	for i := range all {
		outcomes[i].Output = hexutil.Bytes{byte(i), 0xff}
		if i%2 == 1 {
			outcomes[i].RevertReason = fmt.Sprintf("no \"%d\"\n", i)
		}
		tx, _ := read(t, full[i])
		tx["output"] = json.RawMessage(`"` + outcomes[i].Output.String() + `"`)
		if reason := outcomes[i].RevertReason; reason != "" {
			tx["revertReason"], _ = json.Marshal(reason)
		}
		full[i], _ = json.Marshal(tx)
	}
	detailed, _ := read(t, marshal.DetailedBlock(c.Chain.Kind, b, all, 0x1234, outcomes))
	var listed []object
	if err := json.Unmarshal(detailed["transactions"], &listed); err != nil || len(listed) != len(all) {
		t.Fatalf("%s: %v", detailed["transactions"], err)
	}
	for i := range listed {
		if more := same(t, b.Number, listed[i], full[i]); len(more) > 0 && !slices.Equal(more, []string{"to"}) {
			t.Errorf("transaction %d has also %v", i, more)
		}
	}
}

// TestPendingBlocks lack their hash, miner and nonce, and their transactions the block.
func TestPendingBlocks(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		c.Text("evm_setAutomine", false)
		send(c)
		b, err := c.Miner.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := c.Receipts(b)
		block, _ := read(t, marshal.Block(chain.Kind, b, all, 1, true))
		for key, value := range block {
			if unknown := key == "hash" || key == "miner" || key == "nonce"; unknown != (string(value) == "null") {
				t.Errorf("%s of a pending block is %s", key, value)
			}
		}
		var inside []json.RawMessage
		if err := json.Unmarshal(block["transactions"], &inside); err != nil || len(inside) != 3 {
			t.Fatalf("%s: %v", block["transactions"], err)
		}
		for i, tx := range all {
			pooled := marshal.Pooled(c.Miner.Pool.Get(tx.Transaction.Hash()))
			if !bytes.Equal(inside[i], pooled) || !bytes.Equal(marshal.Transaction(tx), pooled) {
				t.Errorf("%s is %s in its block, %s in the pool", tx.Transaction.Hash(), inside[i], pooled)
			}
			have, _ := read(t, pooled)
			for _, key := range []string{"blockHash", "blockNumber", "transactionIndex"} {
				if string(have[key]) != "null" {
					t.Errorf("%s of a waiting transaction is %s", key, have[key])
				}
			}
			more := same(t, tx.Transaction.Hash(), have, tx.Transaction)
			same(t, tx.Transaction.Hash(), have, map[string]any{"from": c.From, "gasPrice": (*hexutil.Big)(tx.GasFeeCap())})
			for _, known := range []string{"blockHash", "blockNumber", "from", "gasPrice", "to", "transactionIndex"} {
				more = slices.DeleteFunc(more, func(key string) bool { return key == known })
			}
			if len(more) > 0 {
				t.Errorf("a waiting transaction has also %v", more)
			}
		}
	}
}

// TestWriters: what was written stays when a writer is used again.
func TestWriters(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	var texts [][]byte
	var copies []string
	for number := range uint64(10) {
		text := marshal.Header(c.Chain.Kind, c.Block(number))
		texts, copies = append(texts, text), append(copies, string(text))
	}
	for i := range texts {
		if string(texts[i]) != copies[i] {
			t.Errorf("header %d became %s", i, texts[i])
		}
		if again := marshal.Header(c.Chain.Kind, c.Block(uint64(i))); string(again) != copies[i] {
			t.Errorf("header %d is %s now", i, again)
		}
	}
	for want, write := range map[string]func(w *marshal.Writer){
		`[]`: func(w *marshal.Writer) { w.Open('[').Close(']') },
		`{"a":"0x0","b":["0x","0x00ff",null],"c":{"d":"0xff","e":"0x10000000000000000"},"f":true}`: func(w *marshal.Writer) {
			w.Open('{').Key("a").Uint(0)
			w.Key("b").Open('[').Bytes([]byte{})
			w.Bytes([]byte{0, 0xff})
			w.BytesOrNull(nil)
			w.Close(']')
			w.Key("c").Open('{').Key("d").Uint(0xff)
			w.Key("e").Big(new(big.Int).Lsh(common.Big1, 64))
			w.Close('}')
			w.Key("f").Raw("true")
			w.Close('}')
		},
		`["0x0","0x1","0x2",{},{},"0x0000000000000000000000000000000000000000000000000000000000000000"]`: func(w *marshal.Writer) {
			w.Open('[').Big(new(big.Int))
			w.Big(common.Big1)
			w.Uint(2)
			w.Open('{').Close('}')
			w.Open('{').Close('}')
			w.BytesOrNull(common.Hash{}.Bytes())
			w.Close(']')
		},
		`[["0x0100000000000000000000000000000000000000000000000000000000000000","0x0200000000000000000000000000000000000000000000000000000000000000"],[]]`: func(w *marshal.Writer) {
			w.Open('[').Hashes([]common.Hash{{1}, {2}})
			w.Hashes(nil)
			w.Close(']')
		},
	} {
		w := &marshal.Writer{}
		if write(w); string(w.JSON) != want {
			t.Errorf("%s, want %s", w.JSON, want)
		}
	}
}
