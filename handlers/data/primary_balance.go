package data

import (
	"errors"
	"reflect"

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

func (a *api) primaryBalanceOperations() []handlers.Operation {
	at := handlers.Param{Name: "blockTimestamp", Kind: handlers.KindTimestamp,
		Doc: "What they owned after the blocks up to this time; unless given, and for any later time, by the world's clock."}
	return []handlers.Operation{{
		ID: "listPrimaryBalances", Path: primaryBlocksPath + "/balances", Summary: "Sum up what addresses own on a primary chain, each output once",
		Params: with(ledgerParam, primaryParam, at, ownersParam), Answer: reflect.TypeFor[primaryBalances](), Handle: a.onPrimary(a.listPrimaryBalances),
	}}
}

func (a *api) listPrimaryBalances(r *handlers.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Ledger)
	if err != nil {
		return nil, err
	}
	now := c.Clock.Unix()
	past := r.Given("blockTimestamp") && r.Int("blockTimestamp") < now
	if past {
		now = r.Int("blockTimestamp")
	}
	w := &weighing{book: &book{c.Ledger, r.Context(), a}, kind: c.kind, owners: addresses, at: now, heaps: map[string][]*heap{}}
	shown, err := w.balance(past)
	return primaryBalances{anyHolding{shown}, c.info()}, err
}

// balance weighs everything, in the past also what was spent since.
func (w *weighing) balance(past bool) (any, error) {
	p, err := w.purse(w.kind, w.owners, past)
	if err != nil {
		return nil, err
	}
	add := w.own
	if w.kind == primary.CChain {
		add = w.shared
	}
	if err := errors.Join(w.held(p.orders["timestamp"], add), w.held(p.atomic, w.shared)); err != nil {
		return nil, err
	}
	switch w.kind {
	case primary.XChain:
		return w.exchangeBalance()
	case primary.CChain:
		return w.atomicBalance()
	}
	return w.platformBalance()
}

func (w *weighing) platformBalance() (shown PlatformBalance, err error) {
	err = w.stakes()
	for name, into := range map[string]*[]AggregatedAmount{
		unlocked: &shown.UnlockedUnstaked, unlockedStaked: &shown.UnlockedStaked, locked: &shown.LockedPlatform,
		lockedStakeable: &shown.LockedStakeable, lockedStaked: &shown.LockedStaked, pendingStaked: &shown.PendingStaked,
	} {
		var problem error
		*into, problem = w.amounts(name)
		err = errors.Join(err, problem)
	}
	for name, into := range map[string]*[]PlatformSharedAmount{atomicUnlocked: &shown.AtomicMemoryUnlocked, atomicLocked: &shown.AtomicMemoryLocked} {
		shares, problem := w.shares(name)
		err = errors.Join(err, problem)
		status := unlocked
		if name == atomicLocked {
			status = locked
		}
		*into = list(shares, func(s *SharedAmount) PlatformSharedAmount { return PlatformSharedAmount{*s, status} })
	}
	return shown, err
}

func (w *weighing) exchangeBalance() (shown ExchangeBalance, err error) {
	free, problem := w.amounts(unlocked)
	held, err := w.amounts(locked)
	shares, failure := w.atomicBalance()
	return ExchangeBalance{held, free, shares.AtomicMemoryUnlocked, shares.AtomicMemoryLocked}, errors.Join(problem, err, failure)
}

func (w *weighing) atomicBalance() (AtomicBalance, error) {
	free, problem := w.shares(atomicUnlocked)
	held, err := w.shares(atomicLocked)
	return AtomicBalance{free, held}, errors.Join(problem, err)
}
