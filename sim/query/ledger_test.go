package query_test

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/pchain"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// ledger has a network's outputs as its transactions describe them, read one after another.
type ledger struct {
	*sim.Network
	blocks  map[store.Position]store.PrimaryBlock
	stakers map[ids.ID]*store.Staker // by transaction; the last cycle of a validator that renews itself
	first   map[ids.ID]*store.Staker // by transaction; the first cycle
	ended   map[ids.ID]*store.Staker // by reward transaction
	txs     []*ledgerTx
	outputs map[ids.ID]*ledgerOutput
	order   []*ledgerOutput
}

type ledgerTx struct {
	kind txs.Chain
	row  store.PrimaryTx
	tx   *txs.Tx
	made []*ledgerOutput
}

// ledgerOutput is an output, or a stake from the staking transaction on.
type ledgerOutput struct {
	*txs.UTXO
	id        ids.ID
	row       *store.UTXO // nil for a stake that was not returned
	maker     txs.Chain
	user      txs.Chain
	block     store.Position // that made it
	said      store.Position // to which it is attributed
	spent     *store.Position
	spender   ids.ID
	reward    bool
	staker    *store.Staker // of a stake
	stakedBy  store.Position
	stakeTime int64
}

func readLedger(t *testing.T, n *sim.Network) *ledger {
	t.Helper()
	l := &ledger{Network: n, blocks: map[store.Position]store.PrimaryBlock{}, stakers: map[ids.ID]*store.Staker{},
		first: map[ids.ID]*store.Staker{}, ended: map[ids.ID]*store.Staker{}, outputs: map[ids.ID]*ledgerOutput{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stakers, err := n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
	must(err)
	for i := range stakers {
		s := &stakers[i]
		l.stakers[ids.ID(s.Tx)] = s
		if l.first[ids.ID(s.Tx)] == nil {
			l.first[ids.ID(s.Tx)] = s
		}
		if s.RewardTx != nil {
			l.ended[ids.ID(s.RewardTx)] = s
		}
	}
	rows := map[ids.ID]*store.UTXO{}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		made, err := n.DB.UTXOsMadeBy(t.Context(), n.Chain(kind))
		must(err)
		for i := range made {
			rows[ids.ID(made[i].Hash)] = &made[i]
		}
	}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		chain := n.Chain(kind)
		if kind != txs.CChain {
			blocks, err := n.DB.PrimaryBlocks(t.Context(), chain, 0, math.MaxInt32)
			must(err)
			for _, b := range blocks {
				l.blocks[b.ID] = b
			}
		} else {
			blocks, err := n.DB.Blocks(t.Context(), n.CChain().Row.ID, 0, math.MaxInt32)
			must(err)
			for _, b := range blocks {
				at := store.At(chain, b.ID.Number(), 0)
				l.blocks[at] = store.PrimaryBlock{ID: at, Hash: b.Hash, Time: b.Time}
			}
		}
		all, err := n.DB.PrimaryTxsBetween(t.Context(), store.First(chain), store.Last(chain))
		must(err)
		for _, row := range all {
			tx, err := txs.ReadTx(kind, ids.ID(row.Hash), row.Bytes)
			must(err)
			l.add(&ledgerTx{kind: kind, row: row, tx: tx}, rows)
		}
	}
	for _, row := range rows { // of no transaction: a genesis' outputs, rewards and refunds
		if l.outputs[ids.ID(row.Hash)] != nil {
			continue
		}
		u, err := txs.ParseUTXO(txs.PChain, row.Bytes())
		must(err)
		at := store.At(row.ID.Chain(), row.ID.Height(), 0)
		o := &ledgerOutput{UTXO: u, maker: txs.PChain, user: txs.PChain, block: at, said: at, reward: row.Reward}
		if row.Reward {
			o.said = store.At(row.ID.Chain(), row.ID.Height()-1, 0)
		}
		x := &ledgerTx{}
		if row.ID.Height() > 0 {
			x = l.txOf(ids.ID(row.Tx))
		}
		l.put(x, o, rows)
	}
	for _, x := range l.txs {
		for _, s := range x.tx.SpentOutputs() {
			o := l.outputs[s.InputID()]
			o.spent, o.spender = &x.row.ID, x.tx.ID()
		}
	}
	return l
}

func (l *ledger) txOf(id ids.ID) *ledgerTx {
	return l.txs[slices.IndexFunc(l.txs, func(x *ledgerTx) bool { return x.tx.ID() == id })]
}

func (l *ledger) put(x *ledgerTx, o *ledgerOutput, rows map[ids.ID]*store.UTXO) {
	o.id = o.InputID()
	o.row = rows[o.id]
	l.outputs[o.id] = o
	l.order = append(l.order, o)
	x.made = append(x.made, o)
}

// add adds a transaction's own outputs, and its stake.
func (l *ledger) add(x *ledgerTx, rows map[ids.ID]*store.UTXO) {
	l.txs = append(l.txs, x)
	block := x.row.ID.Block()
	for _, u := range x.tx.Produced() {
		l.put(x, &ledgerOutput{UTXO: u, maker: x.kind, user: x.kind, block: block, said: block}, rows)
	}
	to, exported := x.tx.Exported()
	for _, u := range exported {
		user, _ := l.Rules.ChainOf(to)
		l.put(x, &ledgerOutput{UTXO: u, maker: x.kind, user: user, block: block, said: block}, rows)
	}
	if x.kind != txs.PChain {
		return
	}
	if s, err := pchain.NewStaker(x.tx, pchain.Active); err == nil {
		for i, out := range s.Stake() {
			u := x.tx.NewUTXO(len(x.tx.Unsigned.Base().Outs)+i, out.AssetID, out.Out)
			o := &ledgerOutput{UTXO: u, maker: x.kind, user: x.kind, said: block, staker: l.stakers[x.tx.ID()], stakedBy: x.row.ID, stakeTime: l.blocks[block].Time}
			if o.staker.Ended != nil {
				o.block = store.At(block.Chain(), uint64(*o.staker.Ended), 0)
			}
			l.put(x, o, rows)
		}
	}
}

func (l *ledger) time(at store.Position) int64 { return l.blocks[at.Block()].Time }

func (o *ledgerOutput) ownedBy(owners []ids.ShortID) bool {
	return slices.ContainsFunc(o.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(owners, a) })
}

// held returns the amount of the asset as lists show it.
func (o *ledgerOutput) held() uint64 {
	switch out := o.Out.(type) {
	case *txs.NFTTransferOutput, *txs.PropertyOwnedOutput:
		return 1
	case *txs.TransferOutput:
		return out.Amount
	case *txs.StakeableLockOut:
		return out.Output.(*txs.TransferOutput).Amount
	}
	return 0
}

// returned reports whether a stake was returned; true for other outputs.
func (o *ledgerOutput) returned() bool { return o.staker == nil || o.staker.Ended != nil }

func eachLedger(t *testing.T, w *sim.World, do func(l *ledger, b *query.ChainReader)) {
	t.Helper()
	for _, n := range w.Networks {
		do(readLedger(t, n), query.NewChainReaders(w.DB.Caches()).Reader(t.Context(), n))
	}
}

// checkOutput compares an output with the transactions.
func (l *ledger) checkOutput(t *testing.T, o *ledgerOutput, got *query.Output) {
	t.Helper()
	said := l.blocks[o.said]
	raw, err := o.Bytes(o.maker)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != o.id || got.MadeBy != o.maker || got.UsedBy != o.user && o.returned() || got.Height != o.said.Number() || got.Made.Unix != said.Time || !bytes.Equal(got.Raw, raw) || got.Amount() != o.held() {
		t.Fatalf("output %s of %s: made by %s for %s at %d, %d; want by %s for %s at %d, %d", o.id, l.Name, got.MadeBy, got.UsedBy, got.Height, got.Made.Unix, o.maker, o.user, o.said.Number(), said.Time)
	}
	hash := ids.ID(said.Hash).String()
	if o.maker == txs.CChain {
		hash = "0x" + ids.ID(said.Hash).Hex()
	}
	if got.Made.Hash() != hash {
		t.Fatalf("output %s was made in block %s, want %s", o.id, got.Made.Hash(), hash)
	}
	switch {
	case o.spent == nil && (got.Spent != nil || got.SpentBy != "" || got.Used != nil):
		t.Fatalf("output %s was spent by %s", o.id, got.SpentBy)
	case o.spent != nil && (got.Spent == nil || *got.Spent != *o.spent || got.SpentBy != o.spender.String() || got.Used.Unix != l.time(*o.spent)):
		t.Fatalf("output %s: spent by %s, want %s", o.id, got.SpentBy, o.spender)
	}
	option := o.maker == txs.PChain && o.returned() && slices.Contains([]string{"Commit", "Abort"}, l.blocks[o.block].Type)
	switch {
	case o.staker != nil && (got.Staker == nil || !bytes.Equal(got.Staker.Tx, o.staker.Tx)), got.Locked == o.returned(), o.staker == nil && got.Staker != nil:
		t.Fatalf("output %s: staker %v, locked %t", o.id, got.Staker, got.Locked)
	case (got.Reward != "") != (option && o.reward):
		t.Fatalf("output %s: reward %q", o.id, got.Reward)
	}
	if o.reward {
		if want := l.rewardKind(o); got.Reward != want {
			t.Fatalf("output %s: reward %s, want %s", o.id, got.Reward, want)
		}
	}
}

// rewardKind tells from the amount what a reward is for. Rewards of a validator that renews itself are in its reward transaction.
func (l *ledger) rewardKind(o *ledgerOutput) string {
	s, renewed := l.ended[o.TxID]
	if !renewed {
		s = l.stakers[o.TxID]
	}
	validation := uint64(s.PotentialReward)
	switch {
	case s.Delegator:
		return "DELEGATOR"
	case renewed && s.ID == l.stakers[ids.ID(s.Tx)].ID: // it left, and gets its restaked amount as well
		if !s.Rewarded {
			validation = 0
		}
		validation += uint64(s.AccruedValidationRewards)
	case renewed:
		validation = validation * (1_000_000 - uint64(s.AutoCompoundRewardShares)) / 1_000_000
	}
	if o.Amount() == validation {
		return "VALIDATOR"
	}
	return "VALIDATOR_FEE"
}

// TestOutputsAreThoseOfTheTransactions reads every output and every transaction of the primary chains, and compares each with the bytes of all
// transactions.
func TestOutputsAreThoseOfTheTransactions(t *testing.T) {
	w := tinyWorld(t)
	kinds := map[string]int{}
	eachLedger(t, w, func(l *ledger, b *query.ChainReader) {
		for _, o := range l.order {
			if o.row == nil {
				continue
			}
			got, err := b.Output(o.row)
			if err != nil {
				t.Fatal(err)
			}
			l.checkOutput(t, o, got)
			if numbered, err := b.OutputNumbered(o.row.ID); err != nil || numbered.ID != o.id || numbered.SpentBy != got.SpentBy {
				t.Fatalf("output %s by its number: %v, %v", o.id, numbered, err)
			}
			kinds[got.Reward]++
		}
		for _, x := range l.txs {
			got, err := b.TxUTXOs(x.kind, x.row.ID)
			if err != nil {
				t.Fatalf("%s %s: %v", x.tx.TypeName(), x.tx.ID(), err)
			}
			spent := x.tx.SpentOutputs()
			if got.ID() != x.tx.ID() || got.Kind != x.kind || got.Row.ID != x.row.ID || got.Block.Unix != l.time(x.row.ID) || len(got.ConsumedUTXOs) != len(spent) {
				t.Fatalf("%s %s is %s at %d and spends %d", x.tx.TypeName(), x.tx.ID(), got.ID(), got.Block.Unix, len(got.ConsumedUTXOs))
			}
			for i, o := range got.ConsumedUTXOs {
				l.checkOutput(t, l.outputs[spent[i].InputID()], o)
			}
			made, staker := x.made, l.first[x.tx.ID()]
			made = slices.DeleteFunc(slices.Clone(made), func(o *ledgerOutput) bool { return o.reward })
			if u, ok := x.tx.Unsigned.(*txs.RewardValidatorTx); ok {
				if staker = l.stakers[u.TxID]; bytes.Equal(staker.RewardTx, x.row.Hash) {
					made = slices.DeleteFunc(slices.Clone(l.txOf(u.TxID).made), func(o *ledgerOutput) bool { return !o.reward })
				}
			}
			if _, ok := x.tx.Unsigned.(*txs.RewardAutoRenewedValidatorTx); ok {
				made, staker = x.made, l.ended[x.tx.ID()]
			}
			slices.SortFunc(made, func(a, b *ledgerOutput) int { return cmp.Compare(a.OutputIndex, b.OutputIndex) })
			if len(got.EmittedUTXOs) != len(made) {
				t.Fatalf("%s %s makes %d, want %d", x.tx.TypeName(), x.tx.ID(), len(got.EmittedUTXOs), len(made))
			}
			for i, o := range got.EmittedUTXOs {
				l.checkOutput(t, made[i], o)
			}
			if (got.Staker != nil) != (staker != nil) || staker != nil && !bytes.Equal(got.Staker.Tx, staker.Tx) {
				t.Fatalf("%s %s: staker %v", x.tx.TypeName(), x.tx.ID(), got.Staker)
			}
			if staker != nil {
				head, err := l.DB.PrimaryHead(t.Context(), l.Chain(txs.PChain))
				if err != nil {
					t.Fatal(err)
				}
				want := uint64(staker.PotentialReward)
				if staker.Status == store.StakerPending && query.OnPrimaryNetwork(staker.Subnet) {
					want = l.Rules.StakingAt(uint64(staker.Start)).Reward(uint64(staker.End-staker.Start), uint64(staker.Weight), uint64(head.Supply))
				}
				if uint64(got.Staker.PotentialReward) != want {
					t.Fatalf("%s %s earns %d, want %d", x.tx.TypeName(), x.tx.ID(), got.Staker.PotentialReward, want)
				}
			}
			kinds[x.kind.String()+" "+x.tx.TypeName()]++
		}
	})
	for _, kind := range []string{"DELEGATOR", "VALIDATOR", "P ImportTx", "X ExportTx", "C ImportTx", "C ExportTx", "X OperationTx", "P RewardValidatorTx", "P RewardAutoRenewedValidatorTx", "P DisableL1ValidatorTx", "P SetL1ValidatorWeightTx"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
}

// someOwners returns addresses that own outputs, alone and in groups.
func (l *ledger) someOwners() (all [][]ids.ShortID) {
	count := map[ids.ShortID]int{}
	for _, o := range l.order {
		for _, a := range o.Owners().Addresses {
			count[a]++
		}
	}
	var owners []ids.ShortID
	for a := range count {
		owners = append(owners, a)
	}
	slices.SortFunc(owners, func(a, b ids.ShortID) int { return cmp.Or(cmp.Compare(count[b], count[a]), a.Compare(b)) })
	owners = owners[:min(len(owners), 18)]
	for i, a := range owners {
		if i > 0 && i%3 == 0 {
			both := []ids.ShortID{a, owners[i-1], owners[i-2]}
			slices.SortFunc(both, ids.ShortID.Compare)
			all = append(all, both)
		}
		all = append(all, []ids.ShortID{a})
	}
	return all
}

// listed returns the outputs in a chain's list: the present ones, or all that ever existed, but for stakes always the present ones.
func (l *ledger) listed(kind txs.Chain, owners []ids.ShortID, spent bool) (all []*ledgerOutput) {
	for _, o := range l.order {
		if (o.maker == kind || o.user == kind) && o.ownedBy(owners) && (spent || o.spent == nil) && (o.returned() || query.OnPrimaryNetwork(o.staker.Subnet)) {
			all = append(all, o)
		}
	}
	return all
}

// TestListsOfOutputs pages through owners' outputs in every order, both ways, after every cursor, even that of a spent output that is gone from the
// list.
func TestListsOfOutputs(t *testing.T) {
	w := tinyWorld(t)
	eachLedger(t, w, func(l *ledger, b *query.ChainReader) {
		for _, owners := range l.someOwners() {
			for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
				l.checkLists(t, b, kind, owners)
			}
		}
	})
}

func (l *ledger) checkLists(t *testing.T, b *query.ChainReader, kind txs.Chain, owners []ids.ShortID) {
	t.Helper()
	past, err := b.UTXOSet(kind, owners, true)
	if err != nil {
		t.Fatal(err)
	}
	now, err := b.UTXOSet(kind, owners, false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.UTXOSet(kind, owners, false); err != nil || again != now {
		t.Fatalf("the same set is made again: %v", err)
	}
	compare := map[string]func(a, b *ledgerOutput) int{
		"timestamp": func(a, b *ledgerOutput) int {
			return cmp.Or(cmp.Compare(l.time(b.said), l.time(a.said)), cmp.Compare(b.id.String(), a.id.String()))
		},
		"amount": func(a, b *ledgerOutput) int {
			return cmp.Or(cmp.Compare(b.held(), a.held()), cmp.Compare(b.id.String(), a.id.String()))
		},
	}
	every := func(*query.UTXOEntry) bool { return true }
	for by, order := range compare {
		whole, some := l.listed(kind, owners, true), l.listed(kind, owners, false)
		slices.SortFunc(whole, order)
		slices.SortFunc(some, order)
		all, _ := past.Keyset(b, by).Page(query.KeysetQuery{Size: math.MaxInt}, every)
		l.same(t, all, whole)
		set := now.Keyset(b, by)
		for _, size := range []int{1, 3, math.MaxInt} {
			for _, ascending := range []bool{false, true} {
				want := slices.Clone(some)
				if ascending {
					slices.Reverse(want)
				}
				q := query.KeysetQuery{Size: size, Ascending: ascending}
				for more := len(want) > 0; more; q.Resumed = true {
					var page []*query.UTXOEntry
					page, more = set.Page(q, every)
					if len(page) == 0 || len(page) > len(want) || more != (len(page) < len(want)) {
						t.Fatalf("a page of %d of %d, more %t", len(page), len(want), more)
					}
					l.same(t, page, want[:len(page)])
					q.After, want = set.Cursor(page[len(page)-1]), want[len(page):]
				}
			}
		}
		if len(whole) > 40 {
			continue
		}
		for i, e := range all { // a position in the whole list, whether it is in the present one or not
			want := some[sortedAfter(some, whole[i], order):]
			page, _ := set.Page(query.KeysetQuery{Resumed: true, After: set.Cursor(e), Size: math.MaxInt}, every)
			l.same(t, page, want)
		}
	}
	if page, more := now.Keyset(b, "amount").Page(query.KeysetQuery{Resumed: true, After: math.MaxUint64 / 8, Size: 3}, every); len(page) > 0 || more {
		t.Fatalf("%d after no output", len(page))
	}
	for _, e := range l.listed(kind, owners, false) {
		if e.staker == nil || e.returned() {
			continue
		}
		page, _ := now.Keyset(b, "amount").Page(query.KeysetQuery{Size: math.MaxInt}, func(u *query.UTXOEntry) bool { return ids.ID(u.Hash) == e.id })
		got, err := b.OutputNumbered(page[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		l.checkOutput(t, e, got)
		if _, err := b.OutputNumbered(page[0].ID + 1000); err == nil {
			t.Fatal("there is a stake that nobody made")
		}
	}
}

func sortedAfter(all []*ledgerOutput, o *ledgerOutput, order func(a, b *ledgerOutput) int) int {
	i, found := slices.BinarySearchFunc(all, o, order)
	if found {
		i++
	}
	return i
}

func (l *ledger) same(t *testing.T, got []*query.UTXOEntry, want []*ledgerOutput) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a *query.UTXOEntry, b *ledgerOutput) bool {
		return ids.ID(a.Hash) == b.id && a.Asset == b.AssetID && a.Held == b.held()
	}) {
		t.Fatalf("%d outputs, want %d, or others", len(got), len(want))
	}
}

// total is a balance by its name, asset and chains.
type total struct {
	name          string
	asset         ids.ID
	maker, spends txs.Chain
}

// totals recomputes the balances of owners on a chain at a time and after a height.
func (l *ledger) totals(kind txs.Chain, owners []ids.ShortID, at int64, height uint64) map[total]*big.Int {
	sums := map[total]*big.Int{}
	later := func(p store.Position) bool {
		return l.time(p) > at || p.Chain() == l.Chain(kind) && p.Number() > height
	}
	for _, o := range l.order {
		if !o.ownedBy(owners) || o.maker != kind && o.user != kind || o.Amount() == 0 {
			continue
		}
		free := max(int64(min(o.Owners().Locktime, math.MaxInt64)), int64(min(o.StakeableUntil(), math.MaxInt64)))
		ended := o.returned() && !(o.staker != nil && later(o.block))
		var name string
		switch {
		case o.staker != nil && !ended:
			if later(o.stakedBy) || !query.OnPrimaryNetwork(o.staker.Subnet) {
				continue
			}
			switch {
			case o.staker.Start > at:
				name = query.PendingStaked
			case free > o.staker.End:
				name = query.LockedStaked
			default:
				name = query.UnlockedStaked
			}
		case later(o.block), o.spent != nil && !later(*o.spent):
			continue
		case o.maker != o.user && o.Owners().Locktime > uint64(at):
			name = query.AtomicLocked
		case o.maker != o.user:
			name = query.AtomicUnlocked
		case o.Owners().Locktime > uint64(at):
			name = query.Locked
		case free > at:
			name = query.LockedStakeable
		default:
			name = query.Unlocked
		}
		key := total{name, o.AssetID, o.maker, o.user}
		if sums[key] == nil {
			sums[key] = new(big.Int)
		}
		sums[key].Add(sums[key], new(big.Int).SetUint64(o.Amount()))
	}
	return sums
}

// TestBalancesAtEveryTime sums up balances at the times and heights at which they change, and compares with the outputs.
func TestBalancesAtEveryTime(t *testing.T) {
	w := tinyWorld(t)
	names := map[string]bool{}
	eachLedger(t, w, func(l *ledger, b *query.ChainReader) {
		now := l.Clock.Unix()
		for i, owners := range l.someOwners() {
			for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
				check := func(got *query.BalanceSum, err error, at int64, height uint64) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					want, avax := l.totals(kind, owners, at, height), map[string]uint64{}
					found := 0
					for name, all := range got.Subtotals {
						for _, s := range all {
							found++
							names[name] = true
							if sum := want[total{name, s.Asset, s.Maker, s.Spender}]; sum == nil || sum.Cmp(s.Sum) != 0 {
								t.Fatalf("%s of %v on the %s-Chain at %d, %d: %s, want %s", name, owners, kind, at, height, s.Sum, sum)
							}
						}
					}
					for key, sum := range want {
						if key.asset == l.Rules.AVAXAssetID {
							avax[key.name] += sum.Uint64()
						}
					}
					for name, sum := range avax {
						if got.AVAX(name) != sum {
							t.Fatalf("%s: %d AVAX, want %d", name, got.AVAX(name), sum)
						}
					}
					if found != len(want) {
						t.Fatalf("of %v on the %s-Chain at %d, %d: %d sums, want %d", owners, kind, at, height, found, len(want))
					}
				}
				present, err := b.SumBalances(kind, owners, now, false)
				check(present, err, now, store.MaxNumber)
				times, heights := map[int64]bool{now: true}, map[uint64]bool{}
				for _, o := range l.order {
					if !o.ownedBy(owners) || len(times) > 24 {
						continue
					}
					points := []store.Position{o.said}
					if o.spent != nil {
						points = append(points, *o.spent)
					}
					if o.returned() {
						points = append(points, o.block)
					}
					for _, p := range points {
						times[l.time(p)], times[l.time(p)-1] = true, true
						if p.Chain() == l.Chain(kind) && i%3 == 0 {
							heights[p.Number()] = true
							heights[max(p.Number(), 1)-1] = true
						}
					}
					times[int64(o.Owners().Locktime%(1<<62))] = true
				}
				for at := range times {
					past, err := b.SumBalances(kind, owners, at, true)
					check(past, err, at, store.MaxNumber)
				}
				for height := range heights {
					past, err := b.BalancesAfter(kind, owners, height)
					check(past, err, l.time(store.At(l.Chain(kind), height, 0)), height)
				}
				if len(owners) == 1 {
					l.checkHolding(t, b, kind, owners[0], now)
				}
			}
		}
	})
	for _, name := range []string{query.Unlocked, query.Locked, query.LockedStakeable, query.UnlockedStaked, query.PendingStaked, query.AtomicUnlocked} {
		if !names[name] {
			t.Errorf("nobody had anything that is %s", name)
		}
	}
}

// checkHolding compares the short form of a balance with the outputs.
func (l *ledger) checkHolding(t *testing.T, b *query.ChainReader, kind txs.Chain, owner ids.ShortID, now int64) {
	t.Helper()
	got, err := b.Holding(kind, owner)
	if err != nil {
		t.Fatal(err)
	}
	want := query.Holding{Outputs: len(l.listed(kind, []ids.ShortID{owner}, false))}
	for key, sum := range l.totals(kind, []ids.ShortID{owner}, now, store.MaxNumber) {
		if key.asset != l.Rules.AVAXAssetID {
			continue
		}
		switch key.name {
		case query.Unlocked:
			want.Unlocked += sum.Uint64()
		case query.Locked, query.LockedStakeable:
			want.Locked += sum.Uint64()
		case query.UnlockedStaked, query.LockedStaked, query.PendingStaked:
			want.Staked += sum.Uint64()
		}
	}
	if got != want {
		t.Fatalf("%s on the %s-Chain holds %+v, want %+v", owner, kind, got, want)
	}
}

// TestLockedNow sums up locked amounts before the first lock ends and after the last.
func TestLockedNow(t *testing.T) {
	w := tinyWorld(t)
	eachLedger(t, w, func(l *ledger, b *query.ChainReader) {
		locks := map[int64]bool{l.Clock.Unix(): true}
		for _, o := range l.order {
			if until := max(o.Owners().Locktime, o.StakeableUntil()); o.spent == nil && o.returned() && int64(until) > l.Clock.Unix() {
				locks[int64(until)], locks[int64(until)-1] = true, true
			}
		}
		if len(locks) == 1 {
			t.Fatal("nothing is locked")
		}
		start := l.Clock.Now()
		defer l.Clock.Set(start)
		for at := range locks {
			if at > l.Clock.Unix()+400*24*60*60 {
				continue
			}
			l.Clock.Set(time.Unix(at, 0))
			var want uint64
			for _, o := range l.order {
				if o.user != txs.CChain && o.returned() && o.spent == nil && max(int64(min(o.Owners().Locktime, math.MaxInt64)), int64(min(o.StakeableUntil(), math.MaxInt64))) > at {
					want += o.Amount()
				}
			}
			if got, err := b.LockedNow(); err != nil || got != want {
				t.Errorf("%s at %d: %d nAVAX are locked, want %d: %v", l.Name, at, got, want, err)
			}
		}
	})
}

// TestGenesisOutputs finds each owner's last output in a genesis.
func TestGenesisOutputs(t *testing.T) {
	w := tinyWorld(t)
	found := 0
	eachLedger(t, w, func(l *ledger, b *query.ChainReader) {
		for _, owners := range l.someOwners() {
			for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
				var want *store.UTXO
				for _, o := range l.order {
					if o.maker == kind && o.block.Number() == 0 && o.row != nil && o.ownedBy(owners) && (want == nil || o.row.ID > want.ID) {
						want = o.row
					}
				}
				got, err := b.GenesisUTXO(kind, owners)
				if err != nil || (got == nil) != (want == nil) || got != nil && got.ID != want.ID {
					t.Fatalf("%v has %v from the genesis, want %v: %v", owners, got, want, err)
				}
				if got != nil {
					found++
				}
			}
		}
	})
	if found == 0 {
		t.Error("nobody has anything")
	}
}
