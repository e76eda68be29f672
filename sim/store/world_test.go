package store_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// generated returns a generated world that no test changes.
func generated(t *testing.T) *sim.World {
	t.Helper()
	return seedtest.Shared(t, "tiny", 2)
}

// ok returns a value that was read without an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// equal compares what a query finds with a scan of all rows.
func equal(t *testing.T, what string, have, want any) {
	t.Helper()
	a, _ := json.Marshal(have)
	b, _ := json.Marshal(want)
	if !bytes.Equal(bytes.ReplaceAll(a, []byte("null"), []byte("[]")), bytes.ReplaceAll(b, []byte("null"), []byte("[]"))) {
		t.Errorf("%s: %.1000s\nwant %.1000s", what, a, b)
	}
}

// where returns the rows that satisfy a condition.
func where[T any](rows []T, holds func(*T) bool) (all []T) {
	for i := range rows {
		if holds(&rows[i]) {
			all = append(all, rows[i])
		}
	}
	return all
}

// TestMessagesAreFiltered compares every combination of two conditions, in pages, with a scan of all messages.
func TestMessagesAreFiltered(t *testing.T) {
	db := generated(t).DB
	end := store.MessageCursor{Time: math.MaxInt64}
	all := ok[[]store.Message](t)(db.Messages(t.Context(), store.MessageFilter{}, end, 1<<20))
	since := ok[[]store.Message](t)(db.MessagesSince(t.Context(), 0))
	slices.Reverse(since)
	seen := map[string]bool{}
	first := where(since, func(m *store.Message) bool { // the first sending is the last in this order
		for i := range since {
			if o := &since[i]; bytes.Equal(o.Hash, m.Hash) && (o.Time < m.Time || o.Time == m.Time && o.ID < m.ID) {
				return false
			}
		}
		return !seen[string(m.Hash)]
	})
	equal(t, "all messages", all, first)
	if len(all) < 10 {
		t.Fatalf("only %d messages", len(all))
	}
	m := all[len(all)/2]
	conditions := []struct {
		set   func(*store.MessageFilter)
		holds func(*store.Message) bool
	}{
		{func(f *store.MessageFilter) { f.Chains = 1 << m.ID.Chain() }, func(o *store.Message) bool { return o.ID.Chain() == m.ID.Chain() }},
		{func(f *store.MessageFilter) { f.Source = m.Source }, func(o *store.Message) bool { return bytes.Equal(o.Source, m.Source) }},
		{func(f *store.MessageFilter) { f.Destination = m.Source }, func(o *store.Message) bool { return bytes.Equal(o.Destination, m.Source) }},
		{func(f *store.MessageFilter) { f.EitherChain = m.Source }, func(o *store.Message) bool {
			return bytes.Equal(o.Source, m.Source) || bytes.Equal(o.Destination, m.Source)
		}},
		{func(f *store.MessageFilter) { f.Sender = m.Sender }, func(o *store.Message) bool { return bytes.Equal(o.Sender, m.Sender) }},
		{func(f *store.MessageFilter) { f.Recipient = m.Recipient }, func(o *store.Message) bool { return bytes.Equal(o.Recipient, m.Recipient) }},
		{func(f *store.MessageFilter) { f.EitherAddress = m.Sender }, func(o *store.Message) bool {
			return bytes.Equal(o.Sender, m.Sender) || bytes.Equal(o.Recipient, m.Sender)
		}},
	}
	for i, a := range conditions {
		for k, b := range conditions[i:] {
			var f store.MessageFilter
			a.set(&f)
			b.set(&f)
			want := where(all, func(o *store.Message) bool { return a.holds(o) && b.holds(o) })
			var have []store.Message
			for cursor := end; ; {
				page := ok[[]store.Message](t)(db.Messages(t.Context(), f, cursor, 3))
				have = append(have, page...)
				if len(page) < 3 {
					break
				}
				cursor = store.MessageCursor{Time: page[2].Time, ID: page[2].ID}
			}
			equal(t, fmt.Sprintf("conditions %d and %d", i, i+k), have, want)
		}
	}
	var hashes [][]byte
	want := map[string][]store.MessageEvent{}
	for _, m := range all {
		hashes = append(hashes, m.Hash)
		if events := ok[[]store.MessageEvent](t)(db.MessageEvents(t.Context(), m.Hash)); len(events) > 0 {
			want[string(m.Hash)] = events
		}
	}
	equal(t, "events", ok[map[string][]store.MessageEvent](t)(db.MessageEventsOf(t.Context(), hashes)), want)
}

// TestTransactionsAreCountedAndListed compares the lists and counts of each address with a scan of all transactions.
func TestTransactionsAreCountedAndListed(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, c := range w.Chains {
		chain := c.Row.ID
		low, high := store.First(chain), store.Last(chain)
		all := ok[[]store.Transaction](t)(db.TransactionsBetween(ctx, low, high))
		calls := ok[[]store.Call](t)(db.CallsBetween(ctx, low, high))
		transfers := ok[[]store.Transfer](t)(db.Transfers(ctx, low, high))
		takesPart := map[string]bool{strings.Repeat("x", 20): true}
		for _, tx := range all {
			takesPart[string(tx.Sender)], takesPart[string(cmp.Or(string(tx.Recipient), string(tx.Created)))] = true, true
		}
		for address := range takesPart {
			is := func(other []byte) bool { return string(other) == address }
			native := where(all, func(tx *store.Transaction) bool {
				return is(tx.Sender) || is(tx.Recipient) || tx.Recipient == nil && is(tx.Created)
			})
			equal(t, "NativeCount", ok[int64](t)(db.NativeCount(ctx, chain, []byte(address))), len(native))
			slices.Reverse(native)
			page := native[:min(len(native), 5)]
			have := ok[[]store.TransactionView](t)(db.NativeHistory(ctx, []byte(address), high, low, 5))
			ids := ok[[]store.Position](t)(db.NativeHistoryIDs(ctx, []byte(address), high, low, 5))
			equal(t, "lengths", []int{len(have), len(ids)}, []int{len(page), len(page)})
			for i := range min(len(have), len(ids), len(page)) {
				equal(t, "NativeHistory", have[i].Transaction, page[i])
				equal(t, "NativeHistoryIDs", ids[i], page[i].ID)
			}
			internal := where(calls, func(c *store.Call) bool { return c.Type != "SELFDESTRUCT" && (is(c.Sender) || is(c.Recipient)) })
			slices.Reverse(internal)
			internal = internal[:min(len(internal), 4)]
			var found []store.Call
			for _, v := range ok[[]store.CallView](t)(db.InternalHistory(ctx, []byte(address), high, low, 4)) {
				found = append(found, v.Call)
			}
			equal(t, "InternalHistory", found, internal)
			for _, up := range []bool{false, true} {
				part := store.AddressHistory{Address: []byte(address), High: high, Low: low, Limit: 6, Ascending: up}
				views := ok[[]store.TransactionView](t)(db.WholeHistory(ctx, part))
				touched := where(all, func(tx *store.Transaction) bool {
					return is(tx.Sender) || is(tx.Recipient) || tx.Recipient == nil && is(tx.Created) || ok[bool](t)(db.Touched(ctx, []byte(address), tx.ID))
				})
				if !up {
					slices.Reverse(touched)
				}
				touched = touched[:min(len(touched), 6)]
				in := map[store.Position]bool{}
				var list []store.Transaction
				for _, v := range views {
					list = append(list, v.Transaction)
					in[v.ID] = true
				}
				equal(t, "WholeHistory", list, touched)
				moved := ok[[]store.TransferView](t)(db.HistoryTransfers(ctx, part))
				equal(t, "HistoryTransfers", len(moved), len(where(transfers, func(x *store.Transfer) bool {
					return in[x.ID.Block()+store.Position(x.Tx)] && (is(x.Sender) || is(x.Recipient))
				})))
			}
		}
		for status, holds := range map[store.Status]func(*store.Transaction) bool{
			store.AnyStatus: func(*store.Transaction) bool { return true }, store.Failed: func(tx *store.Transaction) bool { return tx.Status == 0 },
			store.Succeeded: func(tx *store.Transaction) bool { return tx.Status == 1 },
		} {
			want := where(all, holds)
			slices.Reverse(want)
			var ids []store.Position
			for _, tx := range want {
				ids = append(ids, tx.ID)
			}
			equal(t, "HistoryIDs", ok[[]store.Position](t)(db.HistoryIDs(ctx, status, high, low, 1<<20)), ids)
		}
		equal(t, "AddressSeen", ok[bool](t)(db.AddressSeen(ctx, chain, []byte(strings.Repeat("x", 20)))), false)
	}
}

// TestOutputsAreFoundInEveryWay compares every way to read outputs with a scan of all that a chain made.
func TestOutputsAreFoundInEveryWay(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	byEnd := 0
	for network := range w.Networks {
		var all []store.UTXO
		chains := map[int]bool{}
		for kind := store.PChain; kind <= store.CChain; kind++ {
			chain := store.PrimaryChain(network, kind)
			chains[chain] = true
			made := ok[[]store.UTXO](t)(db.UTXOsMadeBy(ctx, chain))
			all = append(all, made...)
			byTx := map[string][]store.UTXO{}
			for _, u := range made {
				byTx[string(u.Tx)] = append(byTx[string(u.Tx)], u)
				equal(t, "UTXO", ok[*store.UTXO](t)(db.UTXO(ctx, u.ID)), u)
				equal(t, "UTXOByHash", ok[*store.UTXO](t)(db.UTXOByHash(ctx, chain, u.Hash)), u)
			}
			for _, tx := range ok[[]store.PrimaryTx](t)(db.PrimaryTxsBetween(ctx, store.First(chain), store.Last(chain))) {
				want := slices.Clone(byTx[string(tx.Hash)])
				slices.SortFunc(want, func(a, b store.UTXO) int { return cmp.Compare(a.Output, b.Output) })
				have := ok[[]store.UTXO](t)(db.UTXOsOfTx(ctx, chain, tx.Hash))
				if tx.ID.Number() > 0 { // outputs of the genesis have no transaction
					equal(t, "UTXOsOfTx "+tx.Type, have, want)
				}
				for _, u := range want {
					if u.ID.Height() > tx.ID.Number() {
						byEnd++
					}
				}
			}
			here, shared := ok[[]store.UTXO](t)(db.UnspentUTXOsMadeBy(ctx, chain)), ok[[]store.UTXO](t)(db.SharedUTXOs(ctx, chain))
			equal(t, "UnspentUTXOsMadeBy", here, where(made, func(u *store.UTXO) bool { return u.Spent == nil && u.Chain == chain }))
			equal(t, "SharedUTXOs", shared, where(made, func(u *store.UTXO) bool { return u.Spent == nil && u.Chain != chain }))
		}
		owners := map[string]bool{}
		for _, u := range all {
			if len(u.Out) > 20 && len(owners) < 40 {
				owners[string(u.Out[len(u.Out)-20:])] = true
			}
		}
		for owner := range owners {
			for chain := range chains {
				// An address may own an output with others, so only the ones that it owns alone are looked for.
				mine := where(ok[[]store.UTXO](t)(db.UTXOsOfAddress(ctx, []byte(owner), chain, math.MaxInt64, 1<<20)), func(u *store.UTXO) bool { return chains[u.ID.Chain()] })
				if got := where(mine, func(u *store.UTXO) bool { return u.Chain != chain || !bytes.Contains(u.Out, []byte(owner)) }); len(got) > 0 {
					t.Errorf("%x does not own %+v", owner, got)
				}
				plain := where(all, func(u *store.UTXO) bool { return u.Chain == chain && bytes.HasSuffix(u.Out, []byte(owner)) })
				slices.SortFunc(plain, func(a, b store.UTXO) int { return cmp.Compare(b.ID, a.ID) })
				equal(t, "UTXOsOfAddress", where(mine, func(u *store.UTXO) bool { return bytes.HasSuffix(u.Out, []byte(owner)) }), plain)
				slices.Reverse(mine)
				unspent := where(mine, func(u *store.UTXO) bool { return u.Spent == nil })
				equal(t, "UnspentUTXOsOfAddress", ok[[]store.UTXO](t)(db.UnspentUTXOsOfAddress(ctx, []byte(owner), chain)), unspent)
				for source := range chains {
					of := where(unspent, func(u *store.UTXO) bool { return u.ID.Chain() == source })
					slices.Reverse(of)
					equal(t, "UnspentUTXOs", ok[[]store.UTXO](t)(db.UnspentUTXOs(ctx, []byte(owner), chain, source, math.MaxInt64, 1<<20)), of)
					for _, u := range of {
						equal(t, "UnspentUTXO", ok[*store.UTXO](t)(db.UnspentUTXO(ctx, u.Hash, chain, source)), u)
					}
				}
			}
		}
	}
	if byEnd == 0 {
		t.Error("no transaction made outputs later")
	}
}

// TestOwnersComeBack encodes owners and decodes them.
func TestOwnersComeBack(t *testing.T) {
	for n := range 3 {
		o := store.OutputOwners{Threshold: uint32(n), Locktime: 1 << 40}
		for i := range n {
			o.Addresses = append(o.Addresses, bytes.Repeat([]byte{byte(i + 1)}, 20))
		}
		equal(t, "owners", store.ParseOutputOwners(o.Bytes()), o)
	}
	equal(t, "no owners", store.ParseOutputOwners(make([]byte, 11)), store.OutputOwners{})
}

// TestReadingsAreThoseOfTheTallies reads each metric in pieces, which together must equal the whole.
func TestReadingsAreThoseOfTheTallies(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	read := 0
	for i := range metric.Metrics {
		m := &metric.Metrics[i]
		for scope := range metric.Scope(3) {
			whole := ok[[]metric.Reading](t)(db.ReadingsSince(ctx, m, scope, metric.Day, 0, math.MaxInt64))
			if len(whole) < 3 {
				continue
			}
			read++
			newest := ok[int64](t)(db.NewestTally(ctx, scope, metric.Day))
			equal(t, "newest", newest, whole[0].Start)
			at := whole[len(whole)/2]
			later := ok[[]metric.Reading](t)(db.ReadingsSince(ctx, m, scope, metric.Day, at.Start, math.MaxInt64))
			equal(t, m.Name+" later", later, whole[:min(len(whole), len(whole)/2+2)]) // plus the newest before
			earlier := ok[[]metric.Reading](t)(db.ReadingsSince(ctx, m, scope, metric.Day, 0, at.Start))
			equal(t, m.Name+" earlier", earlier, whole[len(whole)/2+1:])
			var sum uint64
			over := false
			for _, r := range whole {
				over = over || r.Over != 1
				if r.Start < at.Start {
					sum += r.Amount.Uint64()
				}
				if m.Elapsed != (r.Last > 0) || r.Over == 0 && m.Over == "" {
					t.Errorf("%s: %+v", m.Name, r)
				}
			}
			if over != (m.Over != "") {
				t.Errorf("%s is divided: %t", m.Name, over)
			}
			if m.Running {
				equal(t, m.Name+" before", ok[int64](t)(db.SumBefore(ctx, m, scope, metric.Day, at.Start)), sum)
			}
		}
	}
	if read < 16 {
		t.Errorf("only %d readings", read)
	}
}

// TestBlocksAreReadWithWhatTheyAdded reads the blocks of a chain together and one by one.
func TestBlocksAreReadWithWhatTheyAdded(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, c := range w.Chains {
		head := ok[*store.Block](t)(db.Head(ctx, c.Row.ID))
		all := ok[[]store.Delta](t)(db.Deltas(ctx, c.Row.ID, 0, head.ID.Number()))
		if len(all) != int(head.ID.Number())+1 {
			t.Errorf("%d blocks, the last is %d", len(all), head.ID.Number())
		}
		for _, d := range all {
			at := d.Block.ID
			equal(t, "block", d.Block, ok[*store.Block](t)(db.Block(ctx, at.Chain(), at.Number())))
			equal(t, "transactions", d.Transactions, ok[[]store.Transaction](t)(db.Transactions(ctx, at)))
			equal(t, "logs", d.Logs, ok[[]store.Log](t)(db.LogsBetween(ctx, at, at.End(), 1<<16)))
			equal(t, "calls", d.Calls, ok[[]store.Call](t)(db.Calls(ctx, at)))
			if d.Block.Txs != len(d.Transactions) {
				t.Errorf("block %d of chain %d has %d transactions, it says %d", at.Number(), at.Chain(), len(d.Transactions), d.Block.Txs)
			}
		}
		equal(t, "last ones", ok[[]store.Delta](t)(db.Deltas(ctx, c.Row.ID, head.ID.Number()-2, head.ID.Number()+9)), all[len(all)-3:])
	}
}

// TestBytesOfPrimaryBlocks: the rows of a block give its bytes, whose SHA-256 is its id.
func TestBytesOfPrimaryBlocks(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		for _, chain := range []int{store.PrimaryChain(network, store.PChain), store.PrimaryChain(network, store.XChain)} {
			head := ok[*store.PrimaryBlock](t)(db.PrimaryHead(ctx, chain))
			all := ok[[]store.PrimaryBlock](t)(db.PrimaryBlocks(ctx, chain, 0, head.ID.Number()))
			for i, b := range all {
				txs := ok[[]store.PrimaryTx](t)(db.PrimaryTxs(ctx, b.ID))
				raw := b.Bytes(txs)
				if id := sha256.Sum256(raw); !bytes.Equal(id[:], b.Hash) || len(raw) != b.Size {
					t.Errorf("block %d of chain %d: %d bytes of %x, want %d of %x", i, chain, len(raw), id, b.Size, b.Hash)
				}
				if i == 0 {
					continue
				}
				equal(t, "BlockHead", store.BlockHead(raw, txs), b.Head)
				before, err := store.PrimaryHeadBefore(ctx, db, chain, uint64(i))
				if err != nil || !bytes.Equal(before.Hash, b.Parent) {
					t.Errorf("block %d of chain %d follows %+v, %v", i, chain, before, err)
				}
			}
			last, err := store.PrimaryHeadBefore(ctx, db, chain, math.MaxUint64)
			equal(t, "PrimaryHeadBefore", ok[*store.PrimaryBlock](t)(last, err), head)
		}
	}
}

// TestPrimaryTransactionsAreListed compares lists of transactions by type and subject, both ways, with a scan of all.
func TestPrimaryTransactionsAreListed(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		low, high := store.First(chain), store.Last(chain)
		all := ok[[]store.PrimaryTx](t)(db.PrimaryTxsBetween(ctx, low, high))
		var subjects [][]byte
		for _, s := range ok[[]store.Staker](t)(db.Stakers(ctx, chain)) {
			subjects = append(subjects, store.ParseOutputOwners(s.Owner).Addresses...)
		}
		subjects = subjects[:3]
		for _, types := range [][]string{nil, {"AddPermissionlessValidatorTx"}, {"AddPermissionlessDelegatorTx", "ExportTx", "ImportTx"}} {
			for _, up := range []bool{false, true} {
				for _, limit := range []int{1, 4, 1 << 20} {
					r := store.TxRange{High: high, Low: low, Types: types, Ascending: up, Limit: limit}
					var ids, touched []store.Position
					for _, tx := range all {
						if types != nil && !slices.Contains(types, tx.Type) {
							continue
						}
						ids = append(ids, tx.ID)
						if slices.ContainsFunc(subjects, func(s []byte) bool { return ok[bool](t)(db.PrimaryTouched(ctx, s, tx.ID)) }) {
							touched = append(touched, tx.ID)
						}
					}
					for _, list := range [][]store.Position{ids, touched} {
						if !up {
							slices.Reverse(list)
						}
					}
					what := fmt.Sprint(types, up, limit)
					equal(t, "PrimaryTxIDs "+what, ok[[]store.Position](t)(db.PrimaryTxIDs(ctx, r)), ids[:min(len(ids), limit)])
					equal(t, "ActivityIDs "+what, ok[[]store.Position](t)(db.ActivityIDs(ctx, subjects, r)), touched[:min(len(touched), limit)])
				}
			}
		}
		var burned store.Amount
		kinds := map[string]int{}
		for _, tx := range all {
			burned += tx.Burned
			kinds[tx.Type]++
		}
		equal(t, "Burned", ok[uint64](t)(db.Burned(ctx, low, high)), burned)
		for kind, n := range kinds {
			equal(t, kind, ok[int](t)(db.CountPrimaryTxs(ctx, chain, kind)), n)
			equal(t, kind, len(ok[[]store.PrimaryTx](t)(db.PrimaryTxsOfType(ctx, chain, kind))), n)
		}
		equal(t, "two kinds", ok[int](t)(db.CountPrimaryTxs(ctx, chain, "ExportTx", "ImportTx")), kinds["ExportTx"]+kinds["ImportTx"])
	}
}

// TestFirstBlocksSinceATime compares the search with a scan of all blocks.
func TestFirstBlocksSinceATime(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, c := range w.Chains {
		head := ok[*store.Block](t)(db.Head(ctx, c.Row.ID))
		all := ok[[]store.Block](t)(db.Blocks(ctx, c.Row.ID, 0, head.ID.Number()))
		for i := 0; i < len(all); i += 1 + len(all)/50 {
			for unix := all[i].Time - 1; unix <= all[i].Time+1; unix++ {
				want := slices.IndexFunc(all, func(b store.Block) bool { return b.Time >= unix })
				if want < 0 {
					want = len(all)
				}
				equal(t, "FirstSince", ok[uint64](t)(db.FirstSince(ctx, c.Row.ID, unix)), want)
			}
		}
	}
}

// TestStatementsAreExplained: the engine finds a row by its key, and says so.
func TestStatementsAreExplained(t *testing.T) {
	db := generated(t).DB
	ok[*store.Block](t)(db.Head(t.Context(), 1))
	if all := db.Statements(); !slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, "FROM block") }) {
		t.Errorf("the statements are %q", all)
	}
	steps := ok[[]string](t)(db.Explain(t.Context(), `SELECT id FROM tx WHERE id = ? UNION SELECT id FROM log WHERE id = ?`))
	if text := strings.Join(steps, "\n"); strings.Count(text, "SEARCH") != 2 || len(steps) < 3 {
		t.Errorf("the steps are\n%s", text)
	}
	if _, err := db.Explain(t.Context(), "SELECT nothing"); err == nil || !strings.Contains(err.Error(), `explain "SELECT nothing"`) {
		t.Errorf("nothing: %v", err)
	}
}
