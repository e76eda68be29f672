// Otterscan's methods, compared with the tracer, the index and eth_ methods of one server.

package handlers_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestOtterscanAgrees compares Otterscan's methods with the callTracer, the index and the methods of eth.
func TestOtterscanAgrees(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, c := range w.Chains {
		operations := otterscanTransactions(t, w, h, c)
		if operations == 0 {
			t.Errorf("%s: nothing was compared", c.Row.Name)
		}
		otterscanCreators(t, w, h, c)
	}
	otterscanHistories(t, w, h, w.Chains[0])
}

// otterscanTransactions compares the last blocks, and counts the operations inside transactions.
func otterscanTransactions(t *testing.T, w *sim.World, h http.Handler, c *reader.Chain) (operations int) {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	blocks := uint64(40)
	if testing.Short() {
		t.Log("left out of a short run: all blocks but 15")
		blocks = 15
	}
	for number := head.Number - min(head.Number, blocks); number <= head.Number; number++ {
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Receipts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := w.DB.Calls(t.Context(), b.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		fees := new(big.Int)
		for _, tx := range all {
			fees.Add(fees, new(big.Int).Mul(tx.Price(), new(big.Int).SetUint64(tx.Row.GasUsed)))
			operations += otterscanTransaction(t, h, c, tx, slices.DeleteFunc(slices.Clone(calls), func(call store.Call) bool { return call.Tx != tx.Index() }))
		}
		var details struct {
			Block     struct{ Hash, LogsBloom any }
			TotalFees string
		}
		if callEVM(t, h, rpcPath(c), "ots_getBlockDetails", &details, number); details.TotalFees != hexutil.EncodeBig(fees) || details.Block.Hash != b.Hash.Hex() {
			t.Errorf("%s: block %d is %+v, its fees are %s", c.Row.Name, number, details, fees)
		}
		otterscanPages(t, h, c, b, all)
	}
	return operations
}

func otterscanTransaction(t *testing.T, h http.Handler, c *reader.Chain, tx *reader.Transaction, calls []store.Call) int {
	t.Helper()
	var entries []struct {
		Type, From, To, Value, Input, Output string
		Depth                                int
	}
	var nested callFrame
	var failure, hash string
	var operations []struct {
		Type            int
		From, To, Value string
	}
	callEVM(t, h, rpcPath(c), "ots_traceTransaction", &entries, tx.Hash())
	callEVM(t, h, rpcPath(c), "debug_traceTransaction", &nested, tx.Hash(), object{"tracer": "callTracer"})
	var got, want []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Depth, e.Type, e.From, e.To, e.Input))
	}
	var walk func(f *callFrame, depth int)
	walk = func(f *callFrame, depth int) {
		want = append(want, fmt.Sprint(depth, f.Type, f.From, f.To, f.Input))
		for i := range f.Calls {
			walk(&f.Calls[i], depth+1)
		}
	}
	if walk(&nested, 0); !slices.Equal(got, want) {
		t.Errorf("%s: the calls of %s are %v, want %v", c.Row.Name, tx.Hash(), got, want)
	}
	callEVM(t, h, rpcPath(c), "ots_getInternalOperations", &operations, tx.Hash())
	var moved, indexed []string
	for _, o := range operations {
		moved = append(moved, fmt.Sprint([]string{"CALL", "SELFDESTRUCT", "CREATE", "CREATE2"}[o.Type], o.From, o.Value))
	}
	for _, call := range calls {
		indexed = append(indexed, fmt.Sprint(call.Type, hexutil.Encode(call.Sender), hexutil.EncodeBig(new(big.Int).SetBytes(call.Value))))
	}
	moved = slices.DeleteFunc(moved, func(o string) bool { return strings.HasPrefix(o, "SELFDESTRUCT") && strings.HasSuffix(o, "0x0") })
	if !slices.Equal(moved, indexed) {
		t.Errorf("%s: the operations of %s are %v, want %v", c.Row.Name, tx.Hash(), moved, indexed)
	}
	callEVM(t, h, rpcPath(c), "ots_getTransactionError", &failure, tx.Hash())
	if tx.Row.Status == 1 && failure != "0x" || nested.Error == "execution reverted" && nested.Output != "" && failure != nested.Output {
		t.Errorf("%s: %s failed with %s, want %q", c.Row.Name, tx.Hash(), failure, nested.Output)
	}
	callEVM(t, h, rpcPath(c), "ots_getTransactionBySenderAndNonce", &hash, tx.Sender, tx.Nonce())
	if hash != tx.Hash().Hex() {
		t.Errorf("%s: transaction %d of %s is %s, want %s", c.Row.Name, tx.Nonce(), tx.Sender, hash, tx.Hash())
	}
	return len(operations)
}

// otterscanPages joins the pages of a block.
func otterscanPages(t *testing.T, h http.Handler, c *reader.Chain, b *reader.Block, all []*reader.Transaction) {
	t.Helper()
	var hashes []string
	for page := 0; page*2 <= len(all); page++ {
		var answer struct {
			Fullblock struct {
				Transactions     []struct{ Hash, Input string }
				TransactionCount int
			}
			Receipts []struct{ TransactionHash string }
		}
		callEVM(t, h, rpcPath(c), "ots_getBlockTransactions", &answer, b.Number, page, 2)
		var found []string
		for i, tx := range answer.Fullblock.Transactions {
			found = append(found, tx.Hash)
			if answer.Receipts[i].TransactionHash != tx.Hash || len(tx.Input) > 10 {
				t.Errorf("%s: %+v has the receipt %+v", c.Row.Name, tx, answer.Receipts[i])
			}
		}
		hashes = append(found, hashes...)
		if answer.Fullblock.TransactionCount != len(all) {
			t.Errorf("%s: block %d has %d transactions, want %d", c.Row.Name, b.Number, answer.Fullblock.TransactionCount, len(all))
		}
	}
	if len(hashes) != len(all) || len(all) > 0 && hashes[0] != all[0].Hash().Hex() {
		t.Errorf("%s: the pages of block %d have %v", c.Row.Name, b.Number, hashes)
	}
}

// otterscanCreators looks up the creators of contracts with a role.
func otterscanCreators(t *testing.T, w *sim.World, h http.Handler, c *reader.Chain) {
	t.Helper()
	contracts, err := w.DB.Contracts(t.Context(), c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, contract := range contracts {
		var creator *struct{ Hash, Creator string }
		callEVM(t, h, rpcPath(c), "ots_getContractCreator", &creator, common.BytesToAddress(contract.Address))
		d, err := w.DB.Deployment(t.Context(), c.Row.ID, contract.Address)
		if (err == nil) != (creator != nil) {
			t.Fatalf("%s: %s was created by %v: %v", c.Row.Name, contract.Role, creator, err)
		}
		if creator == nil {
			continue
		}
		by := d.Creator
		if by == nil {
			by = d.Sender
		}
		var receipt struct{ BlockNumber hexutil.Uint64 }
		callEVM(t, h, rpcPath(c), "eth_getTransactionReceipt", &receipt, creator.Hash)
		if creator.Creator != hexutil.Encode(by) || uint64(receipt.BlockNumber) != d.ID.Number() {
			t.Errorf("%s: %s was created by %v: want %x in block %d", c.Row.Name, contract.Role, creator, by, d.ID.Number())
		}
	}
}

// otterscanHistories reads a persona's whole history in pages, in both directions.
func otterscanHistories(t *testing.T, w *sim.World, h http.Handler, c *reader.Chain) {
	t.Helper()
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas[:3] {
		rows, err := w.DB.WholeHistory(t.Context(), store.AddressHistory{Address: p.Address, High: store.Last(c.Row.ID), Low: store.First(c.Row.ID), Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, row := range rows {
			want = append(want, hexutil.Encode(row.Hash))
		}
		down := otterscanHistory(t, h, c, common.BytesToAddress(p.Address), "ots_searchTransactionsBefore")
		up := otterscanHistory(t, h, c, common.BytesToAddress(p.Address), "ots_searchTransactionsAfter")
		if !slices.Equal(down, want) || !slices.Equal(up, want) {
			t.Errorf("%s has %d transactions, %d from the newest down and %d from the oldest up", p.Name, len(want), len(down), len(up))
		}
	}
}

func otterscanHistory(t *testing.T, h http.Handler, c *reader.Chain, address common.Address, method string) (all []string) {
	t.Helper()
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
		if problem := callEVM(t, h, rpcPath(c), method, &answer, address, block, 10); problem != "" {
			t.Fatal(problem)
		}
		var hashes []string
		for i, tx := range answer.Txs {
			hashes = append(hashes, tx.Hash)
			if r := answer.Receipts[i]; r.TransactionHash != tx.Hash || r.Timestamp == 0 {
				t.Errorf("%s has the receipt %+v", tx.Hash, r)
			}
		}
		begin, end := answer.FirstPage, answer.LastPage
		if all = append(all, hashes...); after {
			all = append(hashes, all[:len(all)-len(hashes)]...)
			begin, end = end, begin
		}
		if begin != (page == 0) {
			t.Errorf("page %d: first %t, last %t", page, answer.FirstPage, answer.LastPage)
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
