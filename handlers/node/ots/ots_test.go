package ots_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

type object = nodetest.Object

// node serves a chain.
type node struct{ *nodetest.Chain }

// TestOtterscanAgrees compares Otterscan's methods with the callTracer, the index and the methods of eth.
func TestOtterscanAgrees(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, c := range w.Chains {
		n := &node{nodetest.Open(t, w, c)}
		if operations := n.transactions(); operations == 0 {
			t.Errorf("%s: nothing was compared", c.Row.Name)
		}
		n.creators()
	}
	n := &node{nodetest.Open(t, w, w.Chains[0])}
	n.histories()
}

// transactions compares the last blocks, and counts the operations inside transactions.
func (n *node) transactions() (operations int) {
	n.Helper()
	head := n.Head()
	blocks := uint64(40)
	if testing.Short() {
		n.Log("left out of a short run: all blocks but 15")
		blocks = 15
	}
	for number := head.Number - min(head.Number, blocks); number <= head.Number; number++ {
		b := n.Block(number)
		all := n.Receipts(b)
		calls, err := n.World.DB.Calls(n.Context(), b.Row.ID)
		if err != nil {
			n.Fatal(err)
		}
		fees := new(big.Int)
		for _, tx := range all {
			fees.Add(fees, new(big.Int).Mul(tx.Price(), new(big.Int).SetUint64(tx.Row.GasUsed)))
			operations += n.transaction(tx, slices.DeleteFunc(slices.Clone(calls), func(call store.Call) bool { return call.Tx != tx.Index() }))
		}
		var details struct {
			Block     struct{ Hash, LogsBloom any }
			TotalFees string
		}
		if n.Call(&details, "ots_getBlockDetails", number); details.TotalFees != hexutil.EncodeBig(fees) || details.Block.Hash != b.Hash.Hex() {
			n.Errorf("%s: block %d is %+v, its fees are %s", n.Chain.Chain.Row.Name, number, details, fees)
		}
		n.pages(b, all)
	}
	return operations
}

func (n *node) transaction(tx *reader.Transaction, calls []store.Call) int {
	n.Helper()
	var entries []struct {
		Type, From, To, Value, Input, Output string
		Depth                                int
	}
	var nested nodetest.Frame
	var failure, hash string
	var operations []struct {
		Type            int
		From, To, Value string
	}
	n.Call(&entries, "ots_traceTransaction", tx.Hash())
	n.Call(&nested, "debug_traceTransaction", tx.Hash(), object{"tracer": "callTracer"})
	var got, want []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Depth, e.Type, e.From, e.To, e.Input))
	}
	var walk func(f *nodetest.Frame, depth int)
	walk = func(f *nodetest.Frame, depth int) {
		want = append(want, fmt.Sprint(depth, f.Type, f.From, f.To, f.Input))
		for i := range f.Calls {
			walk(&f.Calls[i], depth+1)
		}
	}
	if walk(&nested, 0); !slices.Equal(got, want) {
		n.Errorf("%s: the calls of %s are %v, want %v", n.Chain.Chain.Row.Name, tx.Hash(), got, want)
	}
	n.Call(&operations, "ots_getInternalOperations", tx.Hash())
	var moved, indexed []string
	for _, o := range operations {
		moved = append(moved, fmt.Sprint([]string{"CALL", "SELFDESTRUCT", "CREATE", "CREATE2"}[o.Type], o.From, o.Value))
	}
	for _, call := range calls {
		indexed = append(indexed, fmt.Sprint(call.Type, hexutil.Encode(call.Sender), hexutil.EncodeBig(new(big.Int).SetBytes(call.Value))))
	}
	moved = slices.DeleteFunc(moved, func(o string) bool { return strings.HasPrefix(o, "SELFDESTRUCT") && strings.HasSuffix(o, "0x0") })
	if !slices.Equal(moved, indexed) {
		n.Errorf("%s: the operations of %s are %v, want %v", n.Chain.Chain.Row.Name, tx.Hash(), moved, indexed)
	}
	n.Call(&failure, "ots_getTransactionError", tx.Hash())
	if tx.Row.Status == 1 && failure != "0x" || nested.Error == "execution reverted" && nested.Output != "" && failure != nested.Output {
		n.Errorf("%s: %s failed with %s, want %q", n.Chain.Chain.Row.Name, tx.Hash(), failure, nested.Output)
	}
	n.Call(&hash, "ots_getTransactionBySenderAndNonce", tx.Sender, tx.Nonce())
	if hash != tx.Hash().Hex() {
		n.Errorf("%s: transaction %d of %s is %s, want %s", n.Chain.Chain.Row.Name, tx.Nonce(), tx.Sender, hash, tx.Hash())
	}
	return len(operations)
}

// pages joins the pages of a block.
func (n *node) pages(b *reader.Block, all []*reader.Transaction) {
	n.Helper()
	var hashes []string
	for page := 0; page*2 <= len(all); page++ {
		var answer struct {
			Fullblock struct {
				Transactions     []struct{ Hash, Input string }
				TransactionCount int
			}
			Receipts []struct{ TransactionHash string }
		}
		n.Call(&answer, "ots_getBlockTransactions", b.Number, page, 2)
		var found []string
		for i, tx := range answer.Fullblock.Transactions {
			found = append(found, tx.Hash)
			if answer.Receipts[i].TransactionHash != tx.Hash || len(tx.Input) > 10 {
				n.Errorf("%s: %+v has the receipt %+v", n.Chain.Chain.Row.Name, tx, answer.Receipts[i])
			}
		}
		hashes = append(found, hashes...)
		if answer.Fullblock.TransactionCount != len(all) {
			n.Errorf("%s: block %d has %d transactions, want %d", n.Chain.Chain.Row.Name, b.Number, answer.Fullblock.TransactionCount, len(all))
		}
	}
	if len(hashes) != len(all) || len(all) > 0 && hashes[0] != all[0].Hash().Hex() {
		n.Errorf("%s: the pages of block %d have %v", n.Chain.Chain.Row.Name, b.Number, hashes)
	}
}

// creators looks up the creators of contracts with a role.
func (n *node) creators() {
	n.Helper()
	contracts, err := n.World.DB.Contracts(n.Context(), n.Chain.Chain.Row.ID)
	if err != nil {
		n.Fatal(err)
	}
	for _, contract := range contracts {
		var creator *struct{ Hash, Creator string }
		n.Call(&creator, "ots_getContractCreator", common.BytesToAddress(contract.Address))
		d, err := n.World.DB.Deployment(n.Context(), n.Chain.Chain.Row.ID, contract.Address)
		if (err == nil) != (creator != nil) {
			n.Fatalf("%s: %s was created by %v: %v", n.Chain.Chain.Row.Name, contract.Role, creator, err)
		}
		if creator == nil {
			continue
		}
		by := d.Creator
		if by == nil {
			by = d.Sender
		}
		var receipt struct{ BlockNumber hexutil.Uint64 }
		n.Call(&receipt, "eth_getTransactionReceipt", creator.Hash)
		if creator.Creator != hexutil.Encode(by) || uint64(receipt.BlockNumber) != d.ID.Number() {
			n.Errorf("%s: %s was created by %v: want %x in block %d", n.Chain.Chain.Row.Name, contract.Role, creator, by, d.ID.Number())
		}
	}
}

// histories reads a persona's whole history in pages, in both directions.
func (n *node) histories() {
	n.Helper()
	personas, err := n.World.DB.Personas(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	for _, p := range personas[:3] {
		rows, err := n.World.DB.WholeHistory(n.Context(), store.AddressHistory{Address: p.Address, High: store.Last(n.Chain.Chain.Row.ID), Low: store.First(n.Chain.Chain.Row.ID), Limit: 1 << 20})
		if err != nil {
			n.Fatal(err)
		}
		var want []string
		for _, row := range rows {
			want = append(want, hexutil.Encode(row.Hash))
		}
		down := n.history(common.BytesToAddress(p.Address), "ots_searchTransactionsBefore")
		up := n.history(common.BytesToAddress(p.Address), "ots_searchTransactionsAfter")
		if !slices.Equal(down, want) || !slices.Equal(up, want) {
			n.Errorf("%s has %d transactions, %d from the newest down and %d from the oldest up", p.Name, len(want), len(down), len(up))
		}
	}
}

func (n *node) history(address common.Address, method string) (all []string) {
	n.Helper()
	after, block := method == "ots_searchTransactionsAfter", uint64(0)
	for page := 0; ; page++ {
		var answer struct {
			Txs []struct {
				Hash        string
				BlockNumber hexutil.Uint64
			}
			Receipts []struct {
				TransactionHash string
				Timestamp       uint64
			}
			FirstPage, LastPage bool
		}
		n.Call(&answer, method, address, block, 10)
		var hashes []string
		for i, tx := range answer.Txs {
			hashes = append(hashes, tx.Hash)
			if r := answer.Receipts[i]; r.TransactionHash != tx.Hash || r.Timestamp == 0 {
				n.Errorf("%s has the receipt %+v", tx.Hash, r)
			}
		}
		begin, end := answer.FirstPage, answer.LastPage
		if all = append(all, hashes...); after {
			all = append(hashes, all[:len(all)-len(hashes)]...)
			begin, end = end, begin
		}
		if begin != (page == 0) {
			n.Errorf("page %d: first %t, last %t", page, answer.FirstPage, answer.LastPage)
		}
		if end || len(hashes) == 0 {
			return all
		}
		block = uint64(answer.Txs[len(answer.Txs)-1].BlockNumber)
		if after {
			block = uint64(answer.Txs[0].BlockNumber)
		}
	}
}
