package primary

import (
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

func (a *primaryAPI) listStakingTransactions(r *rest.Request, c *primaryChain) (any, error) {
	owners, err := data.AddressesOf(r, c.Network, "addresses")
	if err != nil {
		return nil, err
	}
	all, err := a.Stakers.Of(r.Context(), c.Network)
	if err != nil {
		return nil, err
	}
	f, err := c.txRange(r)
	if err != nil {
		return nil, err
	}
	if len(f.Types) == 0 {
		f.Types = query.StakingTypes
	}
	at, err := c.search(r, f, func(f store.TxRange) ([]store.Position, error) {
		if len(owners) > 0 {
			return c.DB.ActivityIDs(r.Context(), query.Subjects(owners), f)
		}
		return c.DB.PrimaryTxIDs(r.Context(), f)
	}, func(at store.Position) (bool, error) { return all.Staking[at], nil })
	if err != nil {
		return nil, err
	}
	return a.transactionPage(r, c, at)
}

// search reads on until enough of what it finds passes.
func (c *primaryChain) search(r *rest.Request, f store.TxRange, find func(store.TxRange) ([]store.Position, error),
	passes func(store.Position) (bool, error)) (page []store.Position, err error) {
	for {
		found, err := find(f)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			ok, err := passes(at)
			if err != nil {
				return nil, err
			}
			if ok {
				page = append(page, at)
			}
			if len(page) > r.PageSize() {
				return page, nil
			}
		}
		if len(found) < f.Limit {
			return page, nil
		}
		if last := found[len(found)-1]; f.Ascending {
			f.Low = last + 1
		} else {
			f.High = last - 1
		}
	}
}
