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

// utxoPage searches the outputs of several owners like avalanchego's avax.GetPaginatedUTXOs. address and utxo hold the start of the search,
// then its end.
type utxoPage struct {
	*Service
	source  int // the chain that created the outputs
	owners  []ids.ShortID
	limit   int
	address ids.ShortID
	utxo    ids.ID
	found   []store.UTXO
}

// read searches owner by owner, each from the start only if the page before ended there. Like a node, it excludes the start among the
// chain's own outputs but includes it among those that another chain exported (shared memory).
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

// start returns where the search through one owner's outputs begins: at the newest, unless an output of the owner says otherwise.
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

// newest lies beyond every output.
const newest = store.UTXONumber(math.MaxInt64)

// Unspent reads every unspent output of some owners on the chain, in page order.
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
