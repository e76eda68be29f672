package query

import (
	"errors"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// StakingTypes lists the transaction types that stake.
var StakingTypes = []string{"AddValidatorTx", "AddDelegatorTx", "AddPermissionlessValidatorTx", "AddPermissionlessDelegatorTx", "AddAutoRenewedValidatorTx"}

// RewardTypes lists the transaction types that end a stake, or a cycle of one. Their effects are those of the block after.
var RewardTypes = []string{"RewardValidatorTx", "RewardAutoRenewedValidatorTx"}

// Rewards reports whether a transaction type ends a stake, or a cycle of one.
func Rewards(txType string) bool { return slices.Contains(RewardTypes, txType) }

// BalanceSum sums up addresses' balances on a chain at a time.
type BalanceSum struct {
	*ChainReader
	Kind      txs.Chain
	at        int64
	height    uint64                 // counts only blocks up to it, regardless of their time; MaxNumber for all
	Subtotals map[string][]*subtotal // by name of the balance
}

// subtotal sums up outputs of one asset that one chain created and one can spend.
type subtotal struct {
	Asset   ids.ID
	Maker   txs.Chain
	Spender txs.Chain
	Sum     *big.Int
	Count   int
}

// Names of balances.
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

// SumBalances sums up addresses' balances on a chain at a time. A past time includes outputs spent since.
func (b *ChainReader) SumBalances(kind txs.Chain, owners []ids.ShortID, at int64, past bool) (*BalanceSum, error) {
	return b.sumBalances(kind, owners, &BalanceSum{at: at, height: store.MaxNumber}, past)
}

// Holding is an address's balance on P or X at the world's clock.
type Holding struct {
	Outputs                  int    // as the list of UTXOs counts them
	Unlocked, Locked, Staked uint64 // nAVAX
}

// Holding sums up an address's balance on P or X at the world's clock. It bypasses the cache: callers that also want a page of the list ask
// for the set.
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

// addOthers adds the AVAX of a chain's own outputs that have a locktime, past or future, or several owners.
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

// addStakes adds the stakes that have not been returned.
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

// BalancesAfter sums up addresses' balances on a P- or X-Chain after one of its blocks, at that block's time.
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

// add adds an output to its subtotal. Only amounts count.
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

// own adds the outputs that the chain itself can spend.
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

// shared adds the outputs in transit to or from another chain.
func (w *BalanceSum) shared(c *UTXOEntry) {
	if c.locktime > w.at {
		w.add(AtomicLocked, c)
	} else {
		w.add(AtomicUnlocked, c)
	}
}

// held passes on the outputs that existed unspent at the time.
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

// later reports whether a position lies in one of the chain's excluded blocks.
func (w *BalanceSum) later(at store.Position) bool {
	return at.Chain() == w.ChainReader.Chain(w.Kind) && at.Number() > w.height
}

// AVAX returns a balance in nAVAX.
func (w *BalanceSum) AVAX(name string) uint64 {
	sum := uint64(0)
	for _, h := range w.Subtotals[name] {
		if h.Asset == w.Rules.AVAXAssetID {
			sum += h.Sum.Uint64()
		}
	}
	return sum
}

// staked adds the stakes that had not been returned at the time.
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

// stakeBalance returns the balance to which a stake belongs that unlocks at a time.
func stakeBalance(s *store.Staker, free, now int64) string {
	switch {
	case s.Start > now:
		return PendingStaked
	case free > s.End:
		return LockedStaked
	}
	return UnlockedStaked
}
