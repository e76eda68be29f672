package ots_test

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/miner"
)

var someone = common.HexToAddress("0x50e50e")

func open(t *testing.T) *node {
	w := seedtest.Copy(t, 1)
	return &node{nodetest.Open(t, w, w.Networks[0].CChain())}
}

// TestOperations: everything that moves value inside a transaction is an operation, with Otterscan's number of its type, and nothing else.
func TestOperations(t *testing.T) {
	n := open(t)
	failing := n.Deploy(common.FromHex("0xff")) // does not destroy itself, because its stack is empty
	call := func(code, value string, op string, to common.Address) string {
		return code + value + "73" + common.Bytes2Hex(to[:]) + "5a" + op + "50"
	}
	odd := n.Deploy(common.FromHex("0x6133ff600052" + // init code that destroys the contract at once
		"6002601e6005f050" + "60076002601e6000f550" + // CREATE with a value of 5, CREATE2 without
		"625f5ffd600052" + "6003601d6009f050" + // CREATE with a value of 9 fails
		call("5f5f5f5f", "6003", "f1", someone) + call("5f5f5f5f", "5f", "f1", someone) + // CALL with a value of 3, and of 0
		call("5f5f5f5f", "", "f4", someone) + call("5f5f5f5f", "", "fa", someone) + // DELEGATECALL, STATICCALL
		call("5f5f5f5f", "6002", "f1", failing)))
	hash := n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &odd, Value: big.NewInt(100), Gas: 1_000_000})
	lower := func(a common.Address) string { return strings.ToLower(a.Hex()) }
	self, one, other := lower(odd), lower(someone), lower(failing)
	first := lower(crypto.CreateAddress(odd, 1))
	second := lower(crypto.CreateAddress2(odd, common.BigToHash(big.NewInt(7)), crypto.Keccak256(common.FromHex("0x33ff"))))
	operation := func(kind int, from string, to any, value string) object {
		return object{"type": kind, "from": from, "to": to, "value": value}
	}
	n.Want([]object{
		operation(2, self, first, "0x5"), operation(1, first, self, "0x5"), operation(3, self, second, "0x0"), operation(1, second, self, "0x0"),
		operation(2, self, nil, "0x9"), operation(0, self, one, "0x3"), operation(0, self, other, "0x2"),
	}, "ots_getInternalOperations", []any{hash})
	entry := func(kind string, depth int, from string, to, value any, input string) object {
		return object{"type": kind, "depth": depth, "from": from, "to": to, "value": value, "input": input, "output": "0x"}
	}
	n.Want([]object{
		entry("CALL", 0, lower(n.From), self, "0x64", "0x"),
		entry("CREATE", 1, self, first, "0x5", "0x33ff"), entry("SELFDESTRUCT", 2, first, self, "0x5", "0x"),
		entry("CREATE2", 1, self, second, "0x0", "0x33ff"), entry("SELFDESTRUCT", 2, second, self, "0x0", "0x"),
		entry("CREATE", 1, self, nil, "0x9", "0x5f5ffd"), entry("CALL", 1, self, one, "0x3", "0x"), entry("CALL", 1, self, one, "0x0", "0x"),
		entry("DELEGATECALL", 1, self, one, nil, "0x"), entry("STATICCALL", 1, self, one, nil, "0x"), entry("CALL", 1, self, other, "0x2", "0x"),
	}, "ots_traceTransaction", []any{hash})
	n.Want("0x", "ots_getTransactionError", []any{hash})
	loud := n.Deploy(common.FromHex("0x365f5f37365ffd")) // reverts with its input
	n.Want("0x010203", "ots_getTransactionError", []any{n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &loud, Data: []byte{1, 2, 3}, Gas: 100_000})})
	n.Want("0x", "ots_getTransactionError", []any{n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &loud, Gas: 100_000})})
	n.Want("0x", "ots_getTransactionError", []any{n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &failing, Gas: 100_000})})
}

// TestMissing: what does not exist, or is not executed yet, is null.
func TestMissing(t *testing.T) {
	n := open(t)
	nonce := n.Nonce()
	if err := n.Miner.SetFault(t.Context(), miner.Fault{ExecutionLag: miner.Lag{Blocks: 2}}); err != nil {
		t.Fatal(err)
	}
	accepted := n.Send(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
	for _, hash := range []common.Hash{{1}, accepted} {
		for _, method := range []string{"ots_traceTransaction", "ots_getInternalOperations", "ots_getTransactionError"} {
			n.Want(nil, method, []any{hash})
		}
	}
	head := n.Head().Number
	for _, ref := range []any{"0xffffffff", head, hexutil.Uint64(head)} {
		for method, more := range map[string][]any{"ots_getBlockDetails": nil, "ots_getBlockTransactions": {0, 10}, "erigon_getHeaderByNumber": nil} {
			n.Want(nil, method, append([]any{ref}, more...))
		}
	}
	n.Want(nil, "ots_getBlockDetailsByHash", []any{common.Hash{1}})
	n.Want(nil, "ots_getContractCreator", []any{someone})
	n.Want(8, "ots_getApiLevel", []any{})
	if err := n.Miner.SetFault(t.Context(), miner.Fault{}); err != nil {
		t.Fatal(err)
	}
	n.Text("anvil_setNonce", n.From, "0x3e8") // raised without a transaction
	for at, want := range map[uint64]any{nonce: accepted, nonce + 1: nil, 900: nil, 1000: nil} {
		n.Want(want, "ots_getTransactionBySenderAndNonce", []any{n.From, at})
	}
	for method, params := range map[string][]any{
		"ots_getBlockDetails": {common.Hash{1}}, "ots_getBlockTransactions": {common.Hash{1}, 0, 10}, "ots_hasCode": {someone, common.Hash{1}}, "erigon_getHeaderByNumber": {common.Hash{1}},
	} {
		if problem := n.Problem(method, params...); problem != "-32000 header for hash not found" {
			t.Errorf("%s: %s", method, problem)
		}
	}
}

// TestBlocks: a block and its parts are what the namespace eth has, except for what Otterscan leaves out.
func TestBlocks(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, c := range w.Chains {
		n := &node{nodetest.Open(t, w, c)}
		head := n.Head().Number
		for number := head - min(head, 20); number <= head; number++ {
			n.block(number)
		}
	}
}

func (n *node) block(number uint64) {
	n.Helper()
	var block map[string]any
	var receipts []map[string]any
	n.Call(&block, "eth_getBlockByNumber", hexutil.Uint64(number), true)
	n.Call(&receipts, "eth_getBlockReceipts", hexutil.Uint64(number))
	transactions := block["transactions"].([]any)
	delete(block, "transactions")
	block["logsBloom"], block["transactionCount"] = nil, len(transactions)
	fees := new(big.Int)
	for i := range receipts {
		tx, r := transactions[i].(map[string]any), receipts[i]
		if input := tx["input"].(string); len(input) > 10 {
			tx["input"] = input[:10]
		}
		fees.Add(fees, new(big.Int).Mul(hexutil.MustDecodeBig(r["effectiveGasPrice"].(string)), hexutil.MustDecodeBig(r["gasUsed"].(string))))
		r["logs"], r["logsBloom"] = nil, nil
	}
	details := object{"block": block, "issuance": object{"blockReward": "0x0", "uncleReward": "0x0", "issuance": "0x0"}, "totalFees": (*hexutil.Big)(fees)}
	n.Want(details, "ots_getBlockDetails", []any{number})
	n.Want(details, "ots_getBlockDetailsByHash", []any{block["hash"]})
	for _, size := range []int{1, 3} {
		for page := 0; page <= len(transactions)/size+1; page++ {
			end := max(len(transactions)-page*size, 0)
			first := max(end-size, 0)
			whole := maps.Clone(block)
			whole["transactions"] = append([]any{}, transactions[first:end]...)
			n.Want(object{"fullblock": whole, "receipts": append([]map[string]any{}, receipts[first:end]...)}, "ots_getBlockTransactions", []any{hexutil.Uint64(number), page, size})
		}
	}
	var header json.RawMessage
	n.Call(&header, "eth_getHeaderByNumber", hexutil.Uint64(number))
	n.Want(header, "erigon_getHeaderByNumber", []any{number})
	n.Want(header, "erigon_getHeaderByNumber", []any{hexutil.Uint64(number)})
}

// TestPages refuses pages that are too large.
func TestPages(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	n := &node{nodetest.Open(t, w, w.Chains[0])}
	const most = 1<<16 - 1
	for want, page := range map[string][2]int{
		"-32602 page 0 of 0 transactions: a page has from 1 to 65535":     {0, 0},
		"-32602 page 0 of 65536 transactions: a page has from 1 to 65535": {0, most + 1},
		"-32602 page 65536 of 1 transactions: a page has from 1 to 65535": {most + 1, 1},
	} {
		if problem := n.Problem("ots_getBlockTransactions", "latest", page[0], page[1]); problem != want {
			t.Errorf("%v: %s, want %s", page, problem, want)
		}
	}
	for _, page := range [][2]int{{0, most}, {most, 1}, {most, most}} {
		if problem := n.Problem("ots_getBlockTransactions", "latest", page[0], page[1]); problem != "" {
			t.Errorf("%v: %s", page, problem)
		}
	}
	for _, method := range []string{"ots_searchTransactionsBefore", "ots_searchTransactionsAfter"} {
		for size, want := range map[int]string{0: "-32602 page size 0: a page has from 1 to 25 transactions", 1: "", 25: "", 26: "-32602 page size 26: a page has from 1 to 25 transactions"} {
			if problem := n.Problem(method, n.From, 0, size); problem != want {
				t.Errorf("%s of %d: %s, want %s", method, size, problem, want)
			}
		}
	}
}

// TestHasCode: an account counts as a contract from the block that creates it.
func TestHasCode(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	kinds := map[bool]int{}
	for _, c := range w.Chains {
		n := &node{nodetest.Open(t, w, c)}
		contracts, err := w.DB.Contracts(t.Context(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		addresses := []common.Address{n.From, someone, {19: 1}}
		for _, contract := range contracts {
			addresses = append(addresses, common.BytesToAddress(contract.Address))
		}
		for _, address := range addresses {
			for _, ref := range []any{"0x0", "0x5", n.Head().Number / 2, "latest", nil} {
				params, of := []any{address, ref}, []any{address, ref}
				switch number := ref.(type) {
				case uint64:
					of[1] = hexutil.Uint64(number)
				case nil:
					params, of[1] = params[:1], "latest"
				}
				var code hexutil.Bytes
				n.Call(&code, "eth_getCode", of...)
				kinds[len(code) > 0]++
				n.Want(len(code) > 0, "ots_hasCode", params)
			}
		}
	}
	if kinds[true] < 10 || kinds[false] < 10 {
		t.Errorf("only %v were compared", kinds)
	}
}

// TestPaidOnce: the history of an account that was paid once has that payment alone.
func TestPaidOnce(t *testing.T) {
	n := open(t)
	hash := n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &someone, Value: big.NewInt(5)}).Hex()
	for _, method := range []string{"ots_searchTransactionsBefore", "ots_searchTransactionsAfter"} {
		if history := n.history(someone, method); !slices.Equal(history, []string{hash}) {
			t.Errorf("%s: %v", method, history)
		}
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	n := open(t)
	paid := n.Deploy([]byte{0})
	hash := n.Send(&types.DynamicFeeTx{Nonce: n.Nonce(), To: &paid, Gas: 100_000})
	b := n.Head()
	for method, params := range map[string][]any{
		"ots_getBlockDetails": {b.Number}, "ots_getBlockDetailsByHash": {b.Hash}, "ots_getBlockTransactions": {b.Number, 0, 10}, "erigon_getHeaderByNumber": {b.Number - 1},
		"ots_hasCode": {paid, b.Number}, "ots_getContractCreator": {paid}, "ots_getTransactionBySenderAndNonce": {n.From, n.Nonce() - 1},
		"ots_searchTransactionsBefore": {n.From, 0, 5}, "ots_searchTransactionsAfter": {n.From, b.Number - 1, 5},
		"ots_traceTransaction": {hash}, "ots_getInternalOperations": {hash}, "ots_getTransactionError": {hash},
	} {
		rpctest.FailEach(t, n.World.DB, func() error { return n.Try(new(any), method, params...) })
	}
}
