package data

import (
	"errors"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// stakingTypes are those of the transactions that stake.
var stakingTypes = []string{"AddValidatorTx", "AddDelegatorTx", "AddPermissionlessValidatorTx", "AddPermissionlessDelegatorTx"}

// balanceSum sums up what addresses own on a chain at a time.
type balanceSum struct {
	*chainReader
	kind      primary.Chain
	owners    []ids.ShortID
	at        int64
	subtotals map[string][]*subtotal // by what can be done with them
}

// subtotal is what several outputs hold of an asset, that one chain made.
type subtotal struct {
	asset ids.ID
	maker primary.Chain
	sum   *big.Int
	count int
}

// What can be done with an output, by the names of the balances.
const (
	unlocked        = "unlocked"
	locked          = "locked"
	lockedStakeable = "lockedStakeable"
	unlockedStaked  = "unlockedStaked"
	lockedStaked    = "lockedStaked"
	pendingStaked   = "pendingStaked"
	atomicUnlocked  = "atomicMemoryUnlocked"
	atomicLocked    = "atomicMemoryLocked"
)

// sumBalances sums up what addresses own on a chain at a time, in the past also what was spent since.
func (b *chainReader) sumBalances(kind primary.Chain, owners []ids.ShortID, at int64, past bool) (*balanceSum, error) {
	w := &balanceSum{chainReader: b, kind: kind, owners: owners, at: at, subtotals: map[string][]*subtotal{}}
	p, err := b.utxoSet(kind, owners, past)
	if err != nil {
		return nil, err
	}
	add := w.own
	if kind == primary.CChain {
		add = w.shared
	}
	if err := errors.Join(w.held(p.orders["timestamp"], add), w.held(p.atomic, w.shared)); err != nil {
		return nil, err
	}
	if kind == primary.PChain {
		err = w.stakes()
	}
	return w, err
}

// add adds an output to the subtotal where it belongs. Only amounts count.
func (w *balanceSum) add(name string, c *utxoEntry) {
	if c.Amount == 0 {
		return
	}
	maker := w.chainReader.kind(c.ID.Chain())
	i := slices.IndexFunc(w.subtotals[name], func(h *subtotal) bool { return h.asset == c.asset && h.maker == maker })
	if i < 0 {
		i = len(w.subtotals[name])
		w.subtotals[name] = append(w.subtotals[name], &subtotal{c.asset, maker, new(big.Int), 0})
	}
	h := w.subtotals[name][i]
	h.sum.Add(h.sum, new(big.Int).SetUint64(uint64(c.Amount)))
	h.count++
}

// own adds what the chain itself can spend.
func (w *balanceSum) own(c *utxoEntry) {
	switch {
	case c.locktime > w.at:
		w.add(locked, c)
	case c.stakeable > w.at:
		w.add(lockedStakeable, c)
	default:
		w.add(unlocked, c)
	}
}

// shared adds what the chain can import.
func (w *balanceSum) shared(c *utxoEntry) {
	if c.locktime > w.at {
		w.add(atomicLocked, c)
	} else {
		w.add(atomicUnlocked, c)
	}
}

// held passes on those outputs that were made by the time and not yet spent.
func (w *balanceSum) held(entries []*utxoEntry, add func(*utxoEntry)) error {
	for _, c := range entries {
		if c.time > w.at {
			continue
		}
		if c.Spent != nil {
			used, err := w.blockTime(*c.Spent)
			if err != nil {
				return err
			}
			if used.unix <= w.at {
				continue
			}
		}
		add(c)
	}
	return nil
}

// stakes adds what the owners staked and what was not returned by the time.
func (w *balanceSum) stakes() error {
	chain := w.Chain(primary.PChain)
	at, err := w.DB.ActivityIDs(w.ctx, subjects(w.owners), store.TxRange{
		High: store.Last(chain), Low: store.First(chain), Types: stakingTypes, Limit: 1 << 30,
	})
	if err != nil {
		return err
	}
	for _, p := range at {
		if err := w.stake(p); err != nil {
			return err
		}
	}
	return nil
}

// stake adds what one transaction staked.
func (w *balanceSum) stake(at store.Position) error {
	made, err := w.blockTime(at)
	if err != nil || made.unix > w.at {
		return err
	}
	tx, err := w.tx(primary.PChain, at)
	if err != nil {
		return err
	}
	id := tx.ID()
	s, err := w.DB.StakerOfTx(w.ctx, id[:])
	if err != nil {
		return err
	}
	if s.Ended != nil {
		ended, err := w.blockTime(store.At(at.Chain(), uint64(*s.Ended), 0))
		if err != nil || ended.unix <= w.at {
			return err
		}
	}
	for _, out := range stakeOf(tx) {
		u := &primary.UTXO{AssetID: out.AssetID, Out: out.Out}
		if !slices.ContainsFunc(u.Owners().Addresses, func(o ids.ShortID) bool { return slices.Contains(w.owners, o) }) {
			continue
		}
		row := &store.UTXO{ID: store.NumberUTXO(at.Chain(), at.Number(), 0), Amount: store.Amount(u.Amount())}
		free := max(unix(u.Owners().Locktime), unix(u.StakeableUntil()))
		w.add(stakeBalance(s, free, w.at), &utxoEntry{UTXO: row, asset: out.AssetID})
	}
	return nil
}

// stakeBalance is the balance in which a stake counts that would be free at a time.
func stakeBalance(s *store.Staker, free, now int64) string {
	switch {
	case s.Start > now:
		return pendingStaked
	case free > s.End:
		return lockedStaked
	}
	return unlockedStaked
}
