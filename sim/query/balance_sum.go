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
	at        int64
	height    uint64                 // up to which blocks of the chain count, whenever others were made; MaxNumber for all
	Subtotals map[string][]*subtotal // by what can be done with them
}

// subtotal is what several outputs hold of an asset, that one chain made and one can spend.
type subtotal struct {
	Asset   ids.ID
	Maker   txs.Chain
	Spender txs.Chain
	Sum     *big.Int
	Count   int
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
	return b.sumBalances(kind, owners, &BalanceSum{at: at, height: store.MaxNumber}, past)
}

// Holding is what an address owns on P or X by the world's clock.
type Holding struct {
	Outputs                  int    // as the list of UTXOs has them
	Unlocked, Locked, Staked uint64 // nAVAX
}

// Holding sums up what an address owns on P or X by the world's clock. It takes and leaves nothing in the cache: who wants a page of the list as
// well asks for the set.
func (b *ChainReader) Holding(kind txs.Chain, owner ids.ShortID) (h Holding, err error) {
	others := map[txs.Chain][2]int{txs.PChain: {b.Chain(txs.XChain), b.Chain(txs.CChain)}, txs.XChain: {b.Chain(txs.PChain), b.Chain(txs.CChain)}}
	unspent, err := b.DB.Unspent(b.Ctx, owner[:], b.Chain(kind), others[kind])
	if err != nil {
		return h, err
	}
	h.Outputs, h.Unlocked = unspent.Count, unspent.Sum()
	err = b.addOthers(&h, kind, unspent)
	if err == nil && kind == txs.PChain {
		err = b.addStakes(&h, owner)
	}
	return h, err
}

// addOthers adds the AVAX of a chain's own outputs that are locked, or once were, or that several addresses spend together.
func (b *ChainReader) addOthers(h *Holding, kind txs.Chain, unspent *store.Unspent) error {
	others, err := unspent.Others()
	if err != nil {
		return err
	}
	for _, n := range others {
		row, err := b.DB.UTXO(b.Ctx, n)
		if err != nil {
			return err
		}
		c, err := newUTXOEntry(kind, row)
		if err != nil {
			return err
		}
		if max(c.locktime, c.stakeable) > b.Clock.Unix() {
			h.Locked += uint64(c.Amount)
		} else {
			h.Unlocked += uint64(c.Amount)
		}
	}
	return nil
}

// addStakes adds what is staked and was not returned.
func (b *ChainReader) addStakes(h *Holding, owner ids.ShortID) error {
	found, err := b.stakingTxs([]ids.ShortID{owner}, false)
	if err != nil {
		return err
	}
	for _, t := range found {
		row, err := b.DB.PrimaryTx(b.Ctx, t.at)
		if err != nil {
			return err
		}
		tx, err := txs.ReadTx(txs.PChain, ids.ID(row.Hash), row.Bytes)
		if err != nil {
			return err
		}
		for _, out := range stakeOf(tx) {
			u := &txs.UTXO{AssetID: out.AssetID, Out: out.Out}
			if slices.Contains(u.Owners().Addresses, owner) {
				h.Outputs, h.Staked = h.Outputs+1, h.Staked+u.Amount()
			}
		}
	}
	return nil
}

// BalancesAfter sums up what addresses owned on a P- or X-Chain after one of its blocks, at that block's time.
func (b *ChainReader) BalancesAfter(kind txs.Chain, owners []ids.ShortID, height uint64) (*BalanceSum, error) {
	made, err := b.BlockTime(store.At(b.Chain(kind), height, 0))
	if err != nil {
		return nil, err
	}
	return b.sumBalances(kind, owners, &BalanceSum{at: made.Unix, height: height}, true)
}

func (b *ChainReader) sumBalances(kind txs.Chain, owners []ids.ShortID, w *BalanceSum, past bool) (*BalanceSum, error) {
	w.ChainReader, w.Kind, w.Subtotals = b, kind, map[string][]*subtotal{}
	p, err := b.UTXOSet(kind, owners, past)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.held(p.own, w.own), w.held(p.shared, w.shared)); err != nil {
		return nil, err
	}
	if kind == txs.PChain && past {
		return w, b.stakes(owners, true, w.staked)
	}
	for _, s := range p.stakes {
		err = errors.Join(err, w.staked(s.by, s.entry))
	}
	return w, err
}

// add adds an output to the subtotal where it belongs. Only amounts count.
func (w *BalanceSum) add(name string, c *UTXOEntry) {
	if c.Amount == 0 {
		return
	}
	maker, spender := w.ChainReader.Kind(c.ID.Chain()), w.ChainReader.Kind(c.Chain)
	i := slices.IndexFunc(w.Subtotals[name], func(h *subtotal) bool { return h.Asset == c.Asset && h.Maker == maker && h.Spender == spender })
	if i < 0 {
		i = len(w.Subtotals[name])
		w.Subtotals[name] = append(w.Subtotals[name], &subtotal{c.Asset, maker, spender, new(big.Int), 0})
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

// shared adds what is between the chain and another.
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
		if c.made > w.at || w.later(store.At(c.ID.Chain(), c.ID.Height(), 0)) {
			continue
		}
		if c.Spent != nil && !w.later(*c.Spent) {
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

// later says that something is in a block of the chain that does not count.
func (w *BalanceSum) later(at store.Position) bool {
	return at.Chain() == w.ChainReader.Chain(w.Kind) && at.Number() > w.height
}

// AVAX is how much of it there is under the name of a balance, in nAVAX.
func (w *BalanceSum) AVAX(name string) uint64 {
	sum := uint64(0)
	for _, h := range w.Subtotals[name] {
		if h.Asset == w.Rules.AVAXAssetID {
			sum += h.Sum.Uint64()
		}
	}
	return sum
}

// staked adds what was staked and not returned by the time.
func (w *BalanceSum) staked(t stakingTx, c *UTXOEntry) error {
	if c.made > w.at || w.later(t.at) {
		return nil
	}
	if t.staker.Ended != nil && uint64(*t.staker.Ended) <= w.height {
		ended, err := w.BlockTime(store.At(t.at.Chain(), uint64(*t.staker.Ended), 0))
		if err != nil || ended.Unix <= w.at {
			return err
		}
	}
	w.add(stakeBalance(t.staker, max(c.locktime, c.stakeable), w.at), c)
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
