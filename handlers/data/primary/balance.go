package primary

import (
	"cmp"
	"errors"
	"reflect"
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/query"
	"snowglobe/sim/txs"
)

// AggregatedAmount is the sum of several outputs of one asset.
type AggregatedAmount struct {
	data.AssetAmount
	UTXOCount int `json:"utxoCount"`
}

// SharedAmount is an amount in transit between two chains.
type SharedAmount struct {
	AggregatedAmount
	SharedWithChainID string `json:"sharedWithChainId" format:"cb58" doc:"The other chain."`
}

// PlatformSharedAmount is a shared amount in the P-Chain's shape.
type PlatformSharedAmount struct {
	SharedAmount
	Status string `json:"status" enum:"pendingExport,pendingImport" doc:"pendingExport: exported from the P-Chain. pendingImport: the P-Chain can import it."`
}

// PlatformBalance is the balance of addresses on the P-Chain. A stake stays staked until a block returns it.
type PlatformBalance struct {
	UnlockedUnstaked     []AggregatedAmount     `json:"unlockedUnstaked"`
	UnlockedStaked       []AggregatedAmount     `json:"unlockedStaked" doc:"Staked, and spendable when the stake ends."`
	LockedPlatform       []AggregatedAmount     `json:"lockedPlatform" doc:"Not spendable yet."`
	LockedStakeable      []AggregatedAmount     `json:"lockedStakeable" doc:"Not spendable yet, except by staking."`
	LockedStaked         []AggregatedAmount     `json:"lockedStaked" doc:"Staked, and still locked when the stake ends."`
	PendingStaked        []AggregatedAmount     `json:"pendingStaked" doc:"Staked for a period that has not begun."`
	AtomicMemoryUnlocked []PlatformSharedAmount `json:"atomicMemoryUnlocked" doc:"Exported from or to the chain, but not imported yet."`
	AtomicMemoryLocked   []PlatformSharedAmount `json:"atomicMemoryLocked"`
}

// ExchangeBalance is the balance of addresses on the X-Chain, without NFTs and mint rights.
type ExchangeBalance struct {
	Locked               []AggregatedAmount `json:"locked"`
	Unlocked             []AggregatedAmount `json:"unlocked"`
	AtomicMemoryUnlocked []SharedAmount     `json:"atomicMemoryUnlocked" doc:"Exported from or to the chain, but not imported yet."`
	AtomicMemoryLocked   []SharedAmount     `json:"atomicMemoryLocked"`
}

// AtomicBalance is the balance in transit to or from the C-Chain.
type AtomicBalance struct {
	AtomicMemoryUnlocked []SharedAmount `json:"atomicMemoryUnlocked"`
	AtomicMemoryLocked   []SharedAmount `json:"atomicMemoryLocked"`
}

// anyHolding is a balance in its chain's shape.
type anyHolding struct{ of any }

// MarshalJSON writes the shape.
func (b anyHolding) MarshalJSON() ([]byte, error) { return data.Marshal(b.of) }

// Schema lists the shapes.
func (anyHolding) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[PlatformBalance](), reflect.TypeFor[ExchangeBalance](), reflect.TypeFor[AtomicBalance]())
}

type primaryBalances struct {
	Balances  anyHolding `json:"balances"`
	ChainInfo ChainInfo  `json:"chainInfo"`
}

func (a *primaryAPI) primaryBalanceOperations() []rest.Operation {
	at := rest.Param{Name: "blockTimestamp", Kind: schema.KindTimestamp,
		Doc: "The balances after the blocks up to this time. Default and latest: the world's clock."}
	return []rest.Operation{{
		ID: "listPrimaryBalances", Path: primaryBlocksPath + "/balances", Summary: "Get the balance of addresses on a primary chain, counting each output once",
		Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, at, ownersParam), Answer: reflect.TypeFor[primaryBalances](), Handle: a.onPrimary(a.listPrimaryBalances),
	}}
}

func (a *primaryAPI) listPrimaryBalances(r *rest.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Network)
	if err != nil {
		return nil, err
	}
	at := c.Clock.Unix()
	past := r.Given("blockTimestamp") && r.Int("blockTimestamp") < at
	if past {
		at = r.Int("blockTimestamp")
	}
	view := a.view(r, c.Network)
	sum, err := view.SumBalances(c.kind, addresses, at, past)
	if err != nil {
		return nil, err
	}
	shown, err := view.balance(sum)
	return primaryBalances{anyHolding{shown}, c.info()}, err
}

// balance returns a sum in its chain's shape.
func (b *chainView) balance(w *query.BalanceSum) (any, error) {
	switch w.Kind {
	case txs.XChain:
		return b.xChainBalance(w)
	case txs.CChain:
		return b.cChainBalance(w)
	}
	return b.pChainBalance(w)
}

func (b *chainView) pChainBalance(w *query.BalanceSum) (shown PlatformBalance, err error) {
	for name, into := range map[string]*[]AggregatedAmount{
		query.Unlocked: &shown.UnlockedUnstaked, query.UnlockedStaked: &shown.UnlockedStaked, query.Locked: &shown.LockedPlatform,
		query.LockedStakeable: &shown.LockedStakeable, query.LockedStaked: &shown.LockedStaked, query.PendingStaked: &shown.PendingStaked,
	} {
		var problem error
		*into, problem = b.amounts(w, name)
		err = errors.Join(err, problem)
	}
	var unlocked, locked error
	shown.AtomicMemoryUnlocked, unlocked = b.shares(w, query.AtomicUnlocked)
	shown.AtomicMemoryLocked, locked = b.shares(w, query.AtomicLocked)
	err = errors.Join(err, unlocked, locked)
	return shown, err
}

func (b *chainView) xChainBalance(w *query.BalanceSum) (shown ExchangeBalance, err error) {
	free, problem := b.amounts(w, query.Unlocked)
	held, err := b.amounts(w, query.Locked)
	shares, failure := b.cChainBalance(w)
	return ExchangeBalance{held, free, shares.AtomicMemoryUnlocked, shares.AtomicMemoryLocked}, errors.Join(problem, err, failure)
}

func (b *chainView) cChainBalance(w *query.BalanceSum) (AtomicBalance, error) {
	free, problem := b.shares(w, query.AtomicUnlocked)
	held, err := b.shares(w, query.AtomicLocked)
	plain := func(s *PlatformSharedAmount) SharedAmount { return s.SharedAmount }
	return AtomicBalance{data.List(free, plain), data.List(held, plain)}, errors.Join(problem, err)
}

// amounts returns a name's subtotals by asset.
func (b *chainView) amounts(w *query.BalanceSum, name string) ([]AggregatedAmount, error) {
	all := []AggregatedAmount{}
	for _, h := range w.Subtotals[name] {
		asset, err := b.asset(h.Asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.Sum.String()
		all = append(all, AggregatedAmount{asset, h.Count})
	}
	slices.SortFunc(all, func(x, y AggregatedAmount) int { return cmp.Compare(x.AssetID, y.AssetID) })
	return all, nil
}

// shares returns a name's subtotals by asset, peer chain and direction.
func (b *chainView) shares(w *query.BalanceSum, name string) ([]PlatformSharedAmount, error) {
	all := []PlatformSharedAmount{}
	for _, h := range w.Subtotals[name] {
		asset, err := b.asset(h.Asset, 0)
		if err != nil {
			return nil, err
		}
		asset.Amount = h.Sum.String()
		other, status := h.Maker, "pendingImport"
		if h.Maker == w.Kind {
			other, status = h.Spender, "pendingExport"
		}
		all = append(all, PlatformSharedAmount{SharedAmount{AggregatedAmount{asset, h.Count}, b.Rules.BlockchainID(other).String()}, status})
	}
	slices.SortFunc(all, func(x, y PlatformSharedAmount) int {
		return cmp.Or(cmp.Compare(x.AssetID, y.AssetID), cmp.Compare(x.SharedWithChainID, y.SharedWithChainID), cmp.Compare(x.Status, y.Status))
	})
	return all, nil
}
