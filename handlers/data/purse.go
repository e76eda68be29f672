package data

import (
	"cmp"
	"math"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// coin is what lists and balances must know of an output.
type coin struct {
	*store.UTXO
	asset     ids.ID
	time      int64 // when it was made
	locktime  int64 // when it can be spent
	stakeable int64 // until when it can only be staked
}

// purse is what some addresses own on a chain, or owned, as one block has it; it is never changed.
type purse struct {
	version int64
	orders  map[string][]*coin // of what the chain itself made; for the C-Chain, what was exported to it
	places  map[uint64]*coin
	atomic  []*coin // what other chains exported to the P- or the X-Chain
}

// purseKey is whose purse on which chain.
type purseKey struct {
	chain  int
	spent  bool // with what was spent
	owners string
}

// purse reads what addresses own on a chain, each output once, or remembers it. Addresses must come sorted.
func (b *book) purse(kind primary.Chain, owners []ids.ShortID, spent bool) (*purse, error) {
	key := purseKey{chain: b.Chain(kind), spent: spent}
	for _, o := range owners {
		key.owners += string(o[:])
	}
	version := b.DB.Primaries()
	if p, ok := b.api.memory.purses.Get(key); ok && p.version == version {
		return p, nil
	}
	p := &purse{version: version, orders: map[string][]*coin{}, places: map[uint64]*coin{}}
	coins, err := b.coins(kind, owners, spent)
	if err != nil {
		return nil, err
	}
	own := []*coin{}
	for _, c := range coins {
		if kind != primary.CChain && c.ID.Chain() != key.chain {
			p.atomic = append(p.atomic, c)
		} else {
			own = append(own, c)
			p.places[b.placeOfCoin(kind, c)] = c
		}
	}
	for by, compare := range coinOrders {
		p.orders[by] = slices.SortedFunc(slices.Values(own), compare)
	}
	b.api.memory.purses.Add(key, p)
	return p, nil
}

// coinOrders are the orders of a list of outputs, descending. Ties go by the chain that made them, then by place.
var coinOrders = map[string]func(a, b *coin) int{
	"timestamp": func(a, b *coin) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.ID, a.ID)) },
	"amount": func(a, b *coin) int {
		return cmp.Or(cmp.Compare(uint64(b.Amount), uint64(a.Amount)), cmp.Compare(b.time, a.time), cmp.Compare(b.ID, a.ID))
	},
}

// coins reads the outputs that a chain can spend, and those that it could if they were not spent.
func (b *book) coins(kind primary.Chain, owners []ids.ShortID, spent bool) ([]*coin, error) {
	var all []*coin
	seen := map[store.UTXONumber]bool{}
	for _, owner := range owners {
		rows, err := b.rowsOf(kind, owner, spent)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if seen[rows[i].ID] {
				continue
			}
			seen[rows[i].ID] = true
			c, err := b.coin(&rows[i])
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (b *book) rowsOf(kind primary.Chain, owner ids.ShortID, spent bool) ([]store.UTXO, error) {
	if spent {
		return b.DB.UTXOsOf(b.ctx, owner[:], b.Chain(kind), math.MaxInt64, math.MaxInt64)
	}
	return b.DB.LiveUTXOsOf(b.ctx, owner[:], b.Chain(kind))
}

func (b *book) coin(row *store.UTXO) (*coin, error) {
	made, err := b.moment(store.At(row.ID.Chain(), row.ID.Height(), 0))
	if err != nil {
		return nil, err
	}
	u, err := primary.ParseUTXO(b.kind(row.ID.Chain()), row.Bytes())
	if err != nil {
		return nil, err
	}
	return &coin{row, ids.ID(row.Asset), made.unix, unix(u.Owners().Locktime), unix(u.StakeableUntil())}, nil
}

// shelf is a purse in an order. A page goes on after any output, also after one that was spent since.
func (p *purse) shelf(b *book, kind primary.Chain, by string) shelf[coin] {
	place := func(c *coin) uint64 { return b.placeOfCoin(kind, c) }
	return ordered(p.orders[by], place, coinOrders[by], func(place uint64) *coin {
		if c := p.places[place]; c != nil {
			return c
		}
		row, err := b.DB.UTXO(b.ctx, b.numberOfPlace(kind, place))
		if err != nil {
			return nil
		}
		c, err := b.coin(row)
		if err != nil {
			return nil
		}
		return c
	})
}

// makers are the chains whose outputs a chain lists: its own, or what was exported to the C-Chain.
func makers(kind primary.Chain) []primary.Chain {
	if kind == primary.CChain {
		return []primary.Chain{primary.PChain, primary.XChain}
	}
	return []primary.Chain{kind}
}

// placeOfCoin is an output's place among those of all makers.
func (b *book) placeOfCoin(kind primary.Chain, c *coin) uint64 {
	all := makers(kind)
	return placeOfOutput(c.ID)*uint64(len(all)) + uint64(slices.Index(all, b.kind(c.ID.Chain())))
}

// numberOfPlace is the number of the output with a place.
func (b *book) numberOfPlace(kind primary.Chain, place uint64) store.UTXONumber {
	all := makers(kind)
	maker, rest := all[place%uint64(len(all))], place/uint64(len(all))
	return store.NumberUTXO(b.Chain(maker), rest>>placeBits, int(rest&(1<<placeBits-1)))
}

// unix is a time that may lie beyond all times.
func unix(time uint64) int64 { return int64(min(time, math.MaxInt64)) }
