package primary

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// utxoPage is a search, as avalanchego's avax.GetPaginatedUTXOs, through the outputs of several owners. address and utxo are where it starts, then where it ended.
type utxoPage struct {
	*Service
	source  int // the chain that made the outputs
	owners  []ids.ShortID
	limit   int
	address ids.ShortID
	utxo    ids.ID
	found   []store.UTXO
}

// read searches owner by owner, each from the start only if the page before ended there. What the chain itself made comes
// after the start; what another exported comes with it, as a node's shared memory gives it.
func (p *utxoPage) read(ctx context.Context) error {
	seen, several := map[store.UTXONumber]bool{}, len(p.owners) > 1
	first := p.address
	for _, owner := range p.owners {
		if owner.Compare(first) < 0 {
			continue
		}
		before, err := p.start(ctx, owner, first)
		if err != nil {
			return err
		}
		p.address = owner
		rows, err := p.Network.DB.UnspentUTXOs(ctx, owner[:], p.StoreChain(), p.source, before, p.limit)
		if err != nil {
			return err
		}
		p.found = slices.Grow(p.found, len(rows))
		for _, row := range rows {
			p.utxo = ids.ID(row.Hash)
			if several && seen[row.ID] {
				continue
			}
			if several {
				seen[row.ID] = true
			}
			if p.found = append(p.found, row); len(p.found) == p.limit {
				return nil
			}
		}
	}
	return nil
}

// start is where the search through one owner's outputs begins: at the newest, unless an output of the owner says otherwise.
func (p *utxoPage) start(ctx context.Context, owner, first ids.ShortID) (store.UTXONumber, error) {
	if owner != first || p.utxo == ids.Empty {
		return newest, nil
	}
	row, err := p.Network.DB.UnspentUTXO(ctx, p.utxo[:], p.StoreChain(), p.source)
	if errors.Is(err, store.ErrNotFound) {
		return newest, nil
	}
	if err != nil {
		return newest, err
	}
	u, err := p.parse(row)
	if err != nil || !slices.Contains(u.Owners().Addresses, owner) {
		return newest, err
	}
	if p.source != p.StoreChain() {
		return row.ID + 1, nil
	}
	return row.ID, nil
}

// newest is past every output.
const newest = store.UTXONumber(math.MaxInt64)

// Unspent reads every output of the chain that some owners have, in the order of a page.
func (a *Service) Unspent(ctx context.Context, owners []ids.ShortID) ([]*txs.UTXO, error) {
	p := &utxoPage{Service: a, source: a.StoreChain(), owners: owners, limit: math.MaxInt}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	all := make([]*txs.UTXO, len(p.found))
	for i := range p.found {
		u, err := a.parse(&p.found[i])
		if err != nil {
			return nil, err
		}
		all[i] = u
	}
	return all, nil
}
