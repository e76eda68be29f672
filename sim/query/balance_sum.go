package query

import (
	"errors"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// StakingTypes are those of the transactions that stake.
var StakingTypes = []string{"AddValidatorTx", "AddDelegatorTx", "AddPermissionlessValidatorTx", "AddPermissionlessDelegatorTx"}

// BalanceSum sums up what addresses own on a chain at a time.
type BalanceSum struct {
	*ChainReader
	Kind      txs.Chain
	owners    []ids.ShortID
	at        int64
	Subtotals map[string][]*subtotal // by what can be done with them
}

// subtotal is what several outputs hold of an asset, that one chain made.
type subtotal struct {
	Asset ids.ID
	Maker txs.Chain
	Sum   *big.Int
	Count int
}

// What can be done with an output, by the names of the balances.
const (
	Unlocked        = "unlocked"
	Locked          = "locked"
	LockedStakeable = "lockedStakeable"
	UnlockedStaked  = "unlockedStaked"
	LockedStaked    = "lockedStaked"
	PendingStaked   = "pendingStaked"
	AtomicUnlocked  = "atomicMemoryUnlocked"
	AtomicLocked    = "atomicMemoryLocked"
)

// SumBalances sums up what addresses own on a chain at a time, in the past also what was spent since.
func (b *ChainReader) SumBalances(kind txs.Chain, owners []ids.ShortID, at int64, past bool) (*BalanceSum, error) {
	w := &BalanceSum{ChainReader: b, Kind: kind, owners: owners, at: at, Subtotals: map[string][]*subtotal{}}
	p, err := b.UTXOSet(kind, owners, past)
	if err != nil {
		return nil, err
	}
	add := w.own
	if kind == txs.CChain {
		add = w.shared
	}
	if err := errors.Join(w.held(p.orders["timestamp"], add), w.held(p.atomic, w.shared)); err != nil {
		return nil, err
	}
	if kind == txs.PChain {
		err = w.stakes()
	}
	return w, err
}

// add adds an output to the subtotal where it belongs. Only amounts count.
func (w *BalanceSum) add(name string, c *UTXOEntry) {
	if c.Amount == 0 {
		return
	}
	maker := w.ChainReader.Kind(c.ID.Chain())
	i := slices.IndexFunc(w.Subtotals[name], func(h *subtotal) bool { return h.Asset == c.Asset && h.Maker == maker })
	if i < 0 {
		i = len(w.Subtotals[name])
		w.Subtotals[name] = append(w.Subtotals[name], &subtotal{c.Asset, maker, new(big.Int), 0})
	}
	h := w.Subtotals[name][i]
	h.Sum.Add(h.Sum, new(big.Int).SetUint64(uint64(c.Amount)))
	h.Count++
}

// own adds what the chain itself can spend.
func (w *BalanceSum) own(c *UTXOEntry) {
	switch {
	case c.locktime > w.at:
		w.add(Locked, c)
	case c.stakeable > w.at:
		w.add(LockedStakeable, c)
	default:
		w.add(Unlocked, c)
	}
}

// shared adds what the chain can import.
func (w *BalanceSum) shared(c *UTXOEntry) {
	if c.locktime > w.at {
		w.add(AtomicLocked, c)
	} else {
		w.add(AtomicUnlocked, c)
	}
}

// held passes on those outputs that were made by the time and not yet spent.
func (w *BalanceSum) held(entries []*UTXOEntry, add func(*UTXOEntry)) error {
	for _, c := range entries {
		if c.time > w.at {
			continue
		}
		if c.Spent != nil {
			used, err := w.BlockTime(*c.Spent)
			if err != nil {
				return err
			}
			if used.Unix <= w.at {
				continue
			}
		}
		add(c)
	}
	return nil
}

// stakes adds what the owners staked and what was not returned by the time.
func (w *BalanceSum) stakes() error {
	chain := w.Chain(txs.PChain)
	at, err := w.DB.ActivityIDs(w.Ctx, Subjects(w.owners), store.TxRange{
		High: store.Last(chain), Low: store.First(chain), Types: StakingTypes, Limit: 1 << 30,
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
func (w *BalanceSum) stake(at store.Position) error {
	made, err := w.BlockTime(at)
	if err != nil || made.Unix > w.at {
		return err
	}
	tx, err := w.Tx(txs.PChain, at)
	if err != nil {
		return err
	}
	id := tx.ID()
	s, err := w.DB.StakerOfTx(w.Ctx, id[:])
	if err != nil {
		return err
	}
	if s.Ended != nil {
		ended, err := w.BlockTime(store.At(at.Chain(), uint64(*s.Ended), 0))
		if err != nil || ended.Unix <= w.at {
			return err
		}
	}
	for _, out := range stakeOf(tx) {
		u := &txs.UTXO{AssetID: out.AssetID, Out: out.Out}
		if !slices.ContainsFunc(u.Owners().Addresses, func(o ids.ShortID) bool { return slices.Contains(w.owners, o) }) {
			continue
		}
		row := &store.UTXO{ID: store.NewUTXONumber(at.Chain(), at.Number(), 0), Amount: store.Amount(u.Amount())}
		free := max(unix(u.Owners().Locktime), unix(u.StakeableUntil()))
		w.add(stakeBalance(s, free, w.at), &UTXOEntry{UTXO: row, Asset: out.AssetID})
	}
	return nil
}

// stakeBalance is the balance in which a stake counts that would be free at a time.
func stakeBalance(s *store.Staker, free, now int64) string {
	switch {
	case s.Start > now:
		return PendingStaked
	case free > s.End:
		return LockedStaked
	}
	return UnlockedStaked
}
