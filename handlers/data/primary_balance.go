package data

import (
	"cmp"
	"errors"
	"reflect"
	"slices"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
)

// AggregatedAmount is what several outputs hold of an asset.
type AggregatedAmount struct {
	AssetAmount
	UTXOCount int `json:"utxoCount"`
}

// SharedAmount is what a chain can import from another.
type SharedAmount struct {
	AggregatedAmount
	SharedWithChainID string `json:"sharedWithChainId" format:"cb58" doc:"The chain that exported it."`
}

// PlatformSharedAmount is a shared amount as the P-Chain shows it.
type PlatformSharedAmount struct {
	SharedAmount
	Status string `json:"status" enum:"unlocked,locked"`
}

// PlatformBalance is what addresses own on the P-Chain. A stake is staked until the block that returns it.
type PlatformBalance struct {
	UnlockedUnstaked     []AggregatedAmount     `json:"unlockedUnstaked"`
	UnlockedStaked       []AggregatedAmount     `json:"unlockedStaked" doc:"Staked, free when the stake ends."`
	LockedPlatform       []AggregatedAmount     `json:"lockedPlatform" doc:"Not yet to be spent."`
	LockedStakeable      []AggregatedAmount     `json:"lockedStakeable" doc:"Not yet to be spent, but by staking."`
	LockedStaked         []AggregatedAmount     `json:"lockedStaked" doc:"Staked, still locked when the stake ends."`
	PendingStaked        []AggregatedAmount     `json:"pendingStaked" doc:"Staked for a time that has not begun."`
	AtomicMemoryUnlocked []PlatformSharedAmount `json:"atomicMemoryUnlocked" doc:"Exported to the chain and not yet imported."`
	AtomicMemoryLocked   []PlatformSharedAmount `json:"atomicMemoryLocked"`
}

// ExchangeBalance is what addresses own on the X-Chain: amounts, neither NFTs nor rights.
type ExchangeBalance struct {
	Locked               []AggregatedAmount `json:"locked"`
	Unlocked             []AggregatedAmount `json:"unlocked"`
	AtomicMemoryUnlocked []SharedAmount     `json:"atomicMemoryUnlocked" doc:"Exported to the chain and not yet imported."`
	AtomicMemoryLocked   []SharedAmount     `json:"atomicMemoryLocked"`
}

// AtomicBalance is what addresses can import to the C-Chain.
type AtomicBalance struct {
	AtomicMemoryUnlocked []SharedAmount `json:"atomicMemoryUnlocked"`
	AtomicMemoryLocked   []SharedAmount `json:"atomicMemoryLocked"`
}

// anyHolding is a balance in the shape of its chain.
type anyHolding struct{ of any }

// MarshalJSON writes the shape.
func (b anyHolding) MarshalJSON() ([]byte, error) { return marshal(b.of) }

// Schema is one of the shapes.
func (anyHolding) Schema(d *handlers.Schemas) *handlers.Schema {
	return either(d, reflect.TypeFor[PlatformBalance](), reflect.TypeFor[ExchangeBalance](), reflect.TypeFor[AtomicBalance]())
}

type primaryBalances struct {
	Balances  anyHolding `json:"balances"`
	ChainInfo ChainInfo  `json:"chainInfo"`
}

func (a *primaryAPI) primaryBalanceOperations() []handlers.Operation {
	at := handlers.Param{Name: "blockTimestamp", Kind: handlers.KindTimestamp,
		Doc: "What they owned after the blocks up to this time; unless given, and for any later time, by the world's clock."}
	return []handlers.Operation{{
		ID: "listPrimaryBalances", Path: primaryBlocksPath + "/balances", Summary: "Sum up what addresses own on a primary chain, each output once",
		Params: with(pathNetworkParam, primaryParam, at, ownersParam), Answer: reflect.TypeFor[primaryBalances](), Handle: a.onPrimary(a.listPrimaryBalances),
	}}
}

func (a *primaryAPI) listPrimaryBalances(r *handlers.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Ledger)
	if err != nil {
		return nil, err
	}
	at := c.Clock.Unix()
	past := r.Given("blockTimestamp") && r.Int("blockTimestamp") < at
	if past {
		at = r.Int("blockTimestamp")
	}
	view := a.view(r, c.Ledger)
	sum, err := view.sumBalances(c.kind, addresses, at, past)
	if err != nil {
		return nil, err
	}
	shown, err := view.balance(sum)
	return primaryBalances{anyHolding{shown}, c.info()}, err
}

// balance is a sum in the shape of its chain.
func (b *chainView) balance(w *balanceSum) (any, error) {
	switch w.kind {
	case primary.XChain:
		return b.xChainBalance(w)
	case primary.CChain:
		return b.cChainBalance(w)
	}
	return b.pChainBalance(w)
}

func (b *chainView) pChainBalance(w *balanceSum) (shown PlatformBalance, err error) {
	for name, into := range map[string]*[]AggregatedAmount{
		unlocked: &shown.UnlockedUnstaked, unlockedStaked: &shown.UnlockedStaked, locked: &shown.LockedPlatform,
		lockedStakeable: &shown.LockedStakeable, lockedStaked: &shown.LockedStaked, pendingStaked: &shown.PendingStaked,
	} {
		var problem error
		*into, problem = b.amounts(w, name)
		err = errors.Join(err, problem)
	}
	for name, into := range map[string]*[]PlatformSharedAmount{atomicUnlocked: &shown.AtomicMemoryUnlocked, atomicLocked: &shown.AtomicMemoryLocked} {
		shares, problem := b.shares(w, name)
		err = errors.Join(err, problem)
		status := unlocked
		if name == atomicLocked {
			status = locked
		}
		*into = list(shares, func(s *SharedAmount) PlatformSharedAmount { return PlatformSharedAmount{*s, status} })
	}
	return shown, err
}

func (b *chainView) xChainBalance(w *balanceSum) (shown ExchangeBalance, err error) {
	free, problem := b.amounts(w, unlocked)
	held, err := b.amounts(w, locked)
	shares, failure := b.cChainBalance(w)
	return ExchangeBalance{held, free, shares.AtomicMemoryUnlocked, shares.AtomicMemoryLocked}, errors.Join(problem, err, failure)
}

func (b *chainView) cChainBalance(w *balanceSum) (AtomicBalance, error) {
	free, problem := b.shares(w, atomicUnlocked)
	held, err := b.shares(w, atomicLocked)
	return AtomicBalance{free, held}, errors.Join(problem, err)
}

// amounts are the subtotals of a name, by asset.
func (b *chainView) amounts(w *balanceSum, name string) ([]AggregatedAmount, error) {
	all := []AggregatedAmount{}
	for _, h := range w.subtotals[name] {
		asset, err := b.asset(h.asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.sum.String()
		all = append(all, AggregatedAmount{asset, h.count})
	}
	slices.SortFunc(all, func(x, y AggregatedAmount) int { return cmp.Compare(x.AssetID, y.AssetID) })
	return all, nil
}

// shares are the subtotals of a name, by asset and by the chain that made them.
func (b *chainView) shares(w *balanceSum, name string) ([]SharedAmount, error) {
	all := []SharedAmount{}
	for _, h := range w.subtotals[name] {
		asset, err := b.asset(h.asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.sum.String()
		all = append(all, SharedAmount{AggregatedAmount{asset, h.count}, b.Rules.BlockchainID(h.maker).String()})
	}
	slices.SortFunc(all, func(x, y SharedAmount) int {
		return cmp.Or(cmp.Compare(x.AssetID, y.AssetID), cmp.Compare(x.SharedWithChainID, y.SharedWithChainID))
	})
	return all, nil
}
