package store_test

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestRowsArePickedByPosition compares lists by position with the rows one by one.
func TestRowsArePickedByPosition(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	chain := w.Chains[0].Row.ID
	low, high := store.First(chain), store.Last(chain)
	all := ok[[]store.Transaction](t)(db.TransactionsBetween(ctx, low, high))
	calls := where(ok[[]store.Call](t)(db.CallsBetween(ctx, low, high)), func(c *store.Call) bool { return c.Type != "SELFDESTRUCT" })
	transfers := ok[[]store.Transfer](t)(db.Transfers(ctx, low, high))
	logs := ok[[]store.Log](t)(db.LogsBetween(ctx, low, high, 1<<20))
	for _, n := range []int{1, 2, store.MaxTransactionsAt} {
		var at []store.Position
		for i := range n {
			at = append(at, all[len(all)-1-i].ID)
		}
		in := func(id store.Position) bool { return slices.Contains(at, id) }
		sort := func(a, b store.Transaction) int { return cmp.Compare(a.ID, b.ID) }
		var found []store.Transaction
		for _, v := range ok[[]store.TransactionView](t)(db.TransactionsAt(ctx, at)) {
			found = append(found, v.Transaction)
		}
		slices.SortFunc(found, sort)
		equal(t, "TransactionsAt", found, where(all, func(tx *store.Transaction) bool { return in(tx.ID) }))
		have := ok[[]store.Call](t)(db.CallsAt(ctx, at))
		slices.SortFunc(have, func(a, b store.Call) int { return cmp.Compare(a.ID, b.ID) })
		equal(t, "CallsAt", have, where(calls, func(c *store.Call) bool { return in(c.ID.Block() + store.Position(c.Tx)) }))
		moved := ok[[]store.Transfer](t)(db.TransfersAt(ctx, at))
		slices.SortFunc(moved, func(a, b store.Transfer) int { return cmp.Compare(a.ID, b.ID) })
		equal(t, "TransfersAt", moved, where(transfers, func(x *store.Transfer) bool { return in(x.Transaction()) }))
	}
	picked := []store.Position{logs[len(logs)-1].ID, logs[3].ID}
	written := ok[[]store.Log](t)(db.LogsAt(ctx, picked))
	slices.SortFunc(written, func(a, b store.Log) int { return cmp.Compare(a.ID, b.ID) })
	equal(t, "LogsAt", written, []store.Log{logs[3], logs[len(logs)-1]})
	equal(t, "no LogsAt", ok[[]store.Log](t)(db.LogsAt(ctx, nil)), nil)
	equal(t, "no LogViewsAt", ok[[]store.LogView](t)(db.LogViewsAt(ctx, nil)), nil)
	for _, n := range []int{1, 5} {
		for _, up := range []bool{false, true} {
			part := store.AddressHistory{High: high, Low: low, Limit: n, Ascending: up}
			want := slices.Clone(calls)
			if !up {
				slices.Reverse(want)
			}
			ids := ok[[]store.Position](t)(db.HistoryInternalIDs(ctx, part))
			for i, id := range ids {
				equal(t, "HistoryInternalIDs of all", id, want[i].ID)
			}
			if len(ids) != n {
				t.Errorf("%d of %d", len(ids), n)
			}
			if part.Address = want[0].Recipient; part.Address == nil {
				continue
			}
			ids = ok[[]store.Position](t)(db.HistoryInternalIDs(ctx, part))
			mine := where(want, func(c *store.Call) bool {
				return bytes.Equal(c.Sender, part.Address) || bytes.Equal(c.Recipient, part.Address)
			})
			equal(t, "HistoryInternalIDs of one", len(ids), min(n, len(mine)))
			equal(t, "the first of them", ids[0], mine[0].ID)
		}
	}
}

// TestTransfersAreFoundInEveryWay compares the transfers of a token, of an address and of both with a scan of all.
func TestTransfersAreFoundInEveryWay(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, c := range w.Chains {
		low, high := store.First(c.Row.ID), store.Last(c.Row.ID)
		all := ok[[]store.Transfer](t)(db.Transfers(ctx, low, high))
		for _, standard := range []store.Standard{store.ERC20, store.ERC721, store.ERC1155} {
			of := where(all, func(x *store.Transfer) bool { return x.Standard == standard })
			if len(of) == 0 {
				continue
			}
			x := of[len(of)/2]
			for _, address := range [][]byte{nil, x.Sender, x.Recipient} {
				for _, token := range []store.TokenID{0, x.Asset.Token()} {
					if address == nil && token == 0 {
						continue
					}
					for _, up := range []bool{false, true} {
						var want []store.Position
						for _, o := range of {
							if (address == nil || bytes.Equal(o.Sender, address) || bytes.Equal(o.Recipient, address)) && (token == 0 || o.Asset.Token() == token) {
								want = append(want, o.ID)
							}
						}
						if !up {
							slices.Reverse(want)
						}
						have := ok[[]store.Position](t)(db.HistoryTransferIDs(ctx, store.AddressHistory{Address: address, High: high, Low: low, Limit: 4, Ascending: up}, standard, token))
						equal(t, "HistoryTransferIDs", have, want[:min(4, len(want))])
					}
				}
			}
			tx := x.Transaction()
			same := where(all, func(o *store.Transfer) bool { return o.Transaction() == tx })
			equal(t, "TransfersOfTransaction", len(ok[[]store.TransferView](t)(db.TransfersOfTransaction(ctx, tx))), len(same))
		}
	}
}

// TestHoldingsAreTheNewestRows: an address's history determines what it holds now and what it held before.
func TestHoldingsAreTheNewestRows(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, c := range w.Chains {
		chain := c.Row.ID
		token := store.NewTokenID(chain, store.ERC20, 1)
		first, end := store.NewTokenID(chain, store.ERC20, 0).Asset(nil), store.NewTokenID(chain, store.ERC20, store.MaxTokens).Asset(nil)
		head := ok[*store.Block](t)(db.Head(ctx, chain))
		holders := ok[[]store.TokenBalance](t)(db.TokenBalances(ctx, token, store.MaxNumber, 1<<20))
		if len(holders) < 2 {
			continue
		}
		amounts := map[string][]byte{}
		for _, h := range holders {
			amounts[string(h.Owner)] = h.Amount
			history := ok[[]store.TokenBalance](t)(db.HoldingHistory(ctx, h.Owner, first, end, 1<<20))
			for _, at := range []uint64{store.MaxNumber, head.ID.Number(), head.ID.Number() / 2} {
				want := map[string][]byte{}
				for _, row := range history {
					if _, newer := want[string(row.Asset)]; !newer && row.Block <= at {
						want[string(row.Asset)] = row.Amount
					}
				}
				have, held := map[string][]byte{}, 0
				for _, b := range ok[[]store.TokenBalanceView](t)(db.ERC20Balances(ctx, h.Owner, first, end, at, 1<<20)) {
					have[string(b.Asset)] = b.Amount
				}
				for asset, amount := range want {
					if len(amount) > 0 {
						held++
					}
					if !bytes.Equal(have[asset], amount) {
						t.Errorf("%x holds %x of %x after block %d, not %x", h.Owner, have[asset], asset, at, amount)
					}
				}
				for asset, amount := range have {
					if _, known := want[asset]; !known && len(amount) > 0 {
						t.Errorf("%x does not hold %x", h.Owner, asset)
					}
				}
				if at == store.MaxNumber {
					equal(t, "HoldingCount", ok[int](t)(db.HoldingCount(ctx, h.Owner, first, end)), held)
				}
			}
		}
		for _, owner := range [][]byte{holders[0].Owner, holders[1].Owner} {
			balance := ok[*store.TokenBalance](t)(db.TokenBalance(ctx, owner, token.Asset(nil), store.MaxNumber))
			if !bytes.Equal(balance.Amount, amounts[string(owner)]) {
				t.Errorf("%x holds %x or %x", owner, balance.Amount, amounts[string(owner)])
			}
		}
	}
}

// TestBlocksByProposer: a node proposed the blocks that name it, and the option after each of its proposals.
func TestBlocksByProposer(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		low, high := store.First(chain), store.Last(chain)
		head := ok[*store.PrimaryBlock](t)(db.PrimaryHead(ctx, chain))
		all := ok[[]store.PrimaryBlock](t)(db.PrimaryBlocks(ctx, chain, 0, math.MaxUint64))
		by := map[string][]store.Position{}
		options := 0
		for i, b := range all {
			proposer := b.Proposer
			if i > 0 && all[i-1].Type == "Proposal" {
				proposer = all[i-1].Proposer
				options++
			}
			by[string(proposer)] = append(by[string(proposer)], b.ID)
			equal(t, "PrimaryBlock", ok[*store.PrimaryBlock](t)(db.PrimaryBlock(ctx, chain, uint64(i))), b)
			equal(t, "PrimaryBlockName", ok[*store.PrimaryBlockName](t)(db.PrimaryBlockName(ctx, chain, uint64(i))), store.PrimaryBlockName{ID: b.ID, Hash: b.Hash, Time: b.Time, Type: b.Type})
		}
		if options == 0 || len(by) < 3 {
			t.Errorf("only %d options and %d proposers", options, len(by))
		}
		delete(by, "")
		for node, want := range by {
			slices.Reverse(want)
			for _, limit := range []int{1, 3, 1 << 20} {
				equal(t, "PrimaryBlocksBy", ok[[]store.Position](t)(db.PrimaryBlocksBy(ctx, []byte(node), high, low, limit)), want[:min(limit, len(want))])
			}
			newer := where(want, func(at *store.Position) bool { return *at >= head.ID/2 })
			equal(t, "PrimaryBlocksBy, a part", ok[[]store.Position](t)(db.PrimaryBlocksBy(ctx, []byte(node), high, head.ID/2, 1<<20)), newer)
		}
		for _, height := range []uint64{head.ID.Number() + 1, store.MaxNumber, store.MaxNumber + 1, math.MaxUint64} {
			_, err := db.PrimaryBlock(ctx, chain, height)
			_, ofName := db.PrimaryBlockName(ctx, chain, height)
			_, ofEVM := db.Block(ctx, w.Chains[0].Row.ID, height)
			if !errors.Is(err, store.ErrNotFound) || !errors.Is(ofName, store.ErrNotFound) || !errors.Is(ofEVM, store.ErrNotFound) {
				t.Errorf("block %d: %v, %v, %v", height, err, ofName, ofEVM)
			}
		}
		first := map[string]store.Position{}
		from := head.ID.Number() / 3
		for _, tx := range ok[[]store.PrimaryTx](t)(db.PrimaryTxsBetween(ctx, store.At(chain, from, 0), high)) {
			if _, known := first[tx.Type]; !known {
				first[tx.Type] = tx.ID
			}
		}
		have := map[string]store.Position{}
		for _, tx := range ok[[]store.PrimaryTx](t)(db.FirstPrimaryTxs(ctx, chain, from)) {
			have[tx.Type] = tx.ID
		}
		equal(t, "FirstPrimaryTxs", have, first)
	}
}

// TestOutputsAreTheNetworks: avalanchego's codec reads the bytes of every output, and gives the same input id.
func TestOutputsAreTheNetworks(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		for kind, codec := range map[int]txs.Chain{store.PChain: txs.PChain, store.XChain: txs.XChain, store.CChain: txs.CChain} {
			chain := store.PrimaryChain(network, kind)
			all := ok[[]store.UTXO](t)(db.UTXOsMadeBy(ctx, chain))
			owners := map[string]bool{}
			for i := range all {
				u := &all[i]
				read, err := txs.ParseUTXO(codec, u.Bytes())
				if err != nil {
					t.Fatalf("output %d: %v", u.Output, err)
				}
				id := read.InputID()
				if read.OutputIndex != u.Output || !bytes.Equal(read.TxID[:], u.Tx) || !bytes.Equal(id[:], u.Hash) || read.Amount() != uint64(u.Amount) {
					t.Errorf("output %d of %x is read as %+v", u.Output, u.Tx, read)
				}
				if found := ok[*store.UTXO](t)(db.UTXOOfNetwork(ctx, network, u.Hash)); found.ID != u.ID {
					t.Errorf("%x is found as %+v", u.Hash, found)
				}
				if len(u.Out) > 20 && len(owners) < 20 {
					owners[string(u.Out[len(u.Out)-20:])] = true
				}
			}
			for owner := range owners {
				for to := range 3 {
					target := store.PrimaryChain(network, to)
					mine := where(ok[[]store.UTXO](t)(db.UTXOsOfAddress(ctx, []byte(owner), target, math.MaxInt64, 1<<20)), func(u *store.UTXO) bool { return u.ID.Chain() == chain })
					slices.Reverse(mine)
					equal(t, "ExportedUTXOs", ok[[]store.UTXO](t)(db.ExportedUTXOs(ctx, []byte(owner), target, chain)), mine)
					if target == chain {
						old := where(mine, func(u *store.UTXO) bool { return u.ID.Height() == 0 })
						equal(t, "UTXOsOfGenesis", ok[[]store.UTXO](t)(db.UTXOsOfGenesis(ctx, []byte(owner), chain)), old)
					}
				}
			}
		}
	}
}
