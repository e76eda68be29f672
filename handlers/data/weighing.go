package data

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// weighing sums up what addresses own on a chain at a time.
type weighing struct {
	*book
	kind   primary.Chain
	owners []ids.ShortID
	at     int64
	heaps  map[string][]*heap // by what can be done with them
}

// heap is what several outputs hold of an asset, that one chain made.
type heap struct {
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

// add puts an output on the heap where it belongs. Only amounts weigh.
func (w *weighing) add(name string, c *coin) {
	if c.Amount == 0 {
		return
	}
	maker := w.book.kind(c.ID.Chain())
	i := slices.IndexFunc(w.heaps[name], func(h *heap) bool { return h.asset == c.asset && h.maker == maker })
	if i < 0 {
		i = len(w.heaps[name])
		w.heaps[name] = append(w.heaps[name], &heap{c.asset, maker, new(big.Int), 0})
	}
	h := w.heaps[name][i]
	h.sum.Add(h.sum, new(big.Int).SetUint64(uint64(c.Amount)))
	h.count++
}

// own adds what the chain itself can spend.
func (w *weighing) own(c *coin) {
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
func (w *weighing) shared(c *coin) {
	if c.locktime > w.at {
		w.add(atomicLocked, c)
	} else {
		w.add(atomicUnlocked, c)
	}
}

// held passes on those outputs that were made by the time and not yet spent.
func (w *weighing) held(coins []*coin, add func(*coin)) error {
	for _, c := range coins {
		if c.time > w.at {
			continue
		}
		if c.Spent != nil {
			used, err := w.moment(*c.Spent)
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
func (w *weighing) stakes() error {
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
func (w *weighing) stake(at store.Position) error {
	made, err := w.moment(at)
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
		ended, err := w.moment(store.At(at.Chain(), uint64(*s.Ended), 0))
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
		w.add(stakePlace(s, free, w.at), &coin{UTXO: row, asset: out.AssetID})
	}
	return nil
}

// stakePlace is where a stake counts that would be free at a time.
func stakePlace(s *store.Staker, free, now int64) string {
	switch {
	case s.Start > now:
		return pendingStaked
	case free > s.End:
		return lockedStaked
	}
	return unlockedStaked
}

// amounts are the heaps of a name, by asset.
func (w *weighing) amounts(name string) ([]AggregatedAmount, error) {
	all := []AggregatedAmount{}
	for _, h := range w.heaps[name] {
		asset, err := w.asset(h.asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.sum.String()
		all = append(all, AggregatedAmount{asset, h.count})
	}
	slices.SortFunc(all, func(a, b AggregatedAmount) int { return cmp.Compare(a.AssetID, b.AssetID) })
	return all, nil
}

// shares are the heaps of a name, by asset and by the chain that made them.
func (w *weighing) shares(name string) ([]SharedAmount, error) {
	all := []SharedAmount{}
	for _, h := range w.heaps[name] {
		asset, err := w.asset(h.asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.sum.String()
		all = append(all, SharedAmount{AggregatedAmount{asset, h.count}, w.Rules.BlockchainID(h.maker).String()})
	}
	slices.SortFunc(all, func(a, b SharedAmount) int {
		return cmp.Or(cmp.Compare(a.AssetID, b.AssetID), cmp.Compare(a.SharedWithChainID, b.SharedWithChainID))
	})
	return all, nil
}
