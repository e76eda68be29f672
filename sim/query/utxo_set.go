package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// UTXOEntry is what lists and balances must know of an output.
type UTXOEntry struct {
	*store.UTXO
	Asset     ids.ID
	time      int64 // when it was made
	locktime  int64 // when it can be spent
	stakeable int64 // until when it can only be staked
}

// utxoSet is what some addresses own on a chain, or owned, as one block has it; it is never changed.
type utxoSet struct {
	version  int64
	orders   map[string][]*UTXOEntry // of what the chain itself made; for the C-Chain, what was exported to it
	byCursor map[uint64]*UTXOEntry
	atomic   []*UTXOEntry // what other chains exported to the P- or the X-Chain
}

// utxoSetKey is whose UTXOs on which chain.
type utxoSetKey struct {
	chain  int
	spent  bool // with what was spent
	owners string
}

// UTXOSet reads what addresses own on a chain, each output once, or takes it from the cache. Addresses must come sorted.
func (b *ChainReader) UTXOSet(kind txs.Chain, owners []ids.ShortID, spent bool) (*utxoSet, error) {
	key := utxoSetKey{chain: b.Chain(kind), spent: spent}
	for _, o := range owners {
		key.owners += string(o[:])
	}
	version := b.DB.PrimaryCommits()
	if p, ok := b.cache.utxos.Get(key); ok && p.version == version {
		return p, nil
	}
	p := &utxoSet{version: version, orders: map[string][]*UTXOEntry{}, byCursor: map[uint64]*UTXOEntry{}}
	entries, err := b.utxoEntries(kind, owners, spent)
	if err != nil {
		return nil, err
	}
	own := []*UTXOEntry{}
	for _, c := range entries {
		if kind != txs.CChain && c.ID.Chain() != key.chain {
			p.atomic = append(p.atomic, c)
		} else {
			own = append(own, c)
			p.byCursor[b.cursorOf(kind, c)] = c
		}
	}
	for by, compare := range utxoOrders {
		p.orders[by] = slices.SortedFunc(slices.Values(own), compare)
	}
	b.cache.utxos.Add(key, p)
	return p, nil
}

// utxoOrders are the orders of a list of outputs, descending. Ties go by the chain that made them, then by cursor.
var utxoOrders = map[string]func(a, b *UTXOEntry) int{
	"timestamp": func(a, b *UTXOEntry) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.ID, a.ID)) },
	"amount": func(a, b *UTXOEntry) int {
		return cmp.Or(cmp.Compare(uint64(b.Amount), uint64(a.Amount)), cmp.Compare(b.time, a.time), cmp.Compare(b.ID, a.ID))
	},
}

// utxoEntries reads the outputs that a chain can spend, and those that it could if they were not spent.
func (b *ChainReader) utxoEntries(kind txs.Chain, owners []ids.ShortID, spent bool) ([]*UTXOEntry, error) {
	var all []*UTXOEntry
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
			c, err := b.utxoEntry(&rows[i])
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (b *ChainReader) rowsOf(kind txs.Chain, owner ids.ShortID, spent bool) ([]store.UTXO, error) {
	if spent {
		return b.DB.UTXOsOfAddress(b.Ctx, owner[:], b.Chain(kind), math.MaxInt64, math.MaxInt)
	}
	return b.DB.UnspentUTXOsOfAddress(b.Ctx, owner[:], b.Chain(kind))
}

func (b *ChainReader) utxoEntry(row *store.UTXO) (*UTXOEntry, error) {
	made, err := b.BlockTime(store.At(row.ID.Chain(), row.ID.Height(), 0))
	if err != nil {
		return nil, err
	}
	u, err := txs.ParseUTXO(b.Kind(row.ID.Chain()), row.Bytes())
	if err != nil {
		return nil, err
	}
	return &UTXOEntry{row, ids.ID(row.Asset), made.Unix, unix(u.Owners().Locktime), unix(u.StakeableUntil())}, nil
}

// Keyset is a UTXO set in an order. A page goes on after any output, also after one that was spent since.
func (p *utxoSet) Keyset(b *ChainReader, kind txs.Chain, by string) Keyset[UTXOEntry] {
	cursor := func(c *UTXOEntry) uint64 { return b.cursorOf(kind, c) }
	return newOrderedKeyset(p.orders[by], cursor, utxoOrders[by], func(at uint64) *UTXOEntry {
		if c := p.byCursor[at]; c != nil {
			return c
		}
		row, err := b.DB.UTXO(b.Ctx, b.utxoAtCursor(kind, at))
		if err != nil {
			return nil
		}
		c, err := b.utxoEntry(row)
		if err != nil {
			return nil
		}
		return c
	})
}

// makers are the chains whose outputs a chain lists: its own, or what was exported to the C-Chain.
func makers(kind txs.Chain) []txs.Chain {
	if kind == txs.CChain {
		return []txs.Chain{txs.PChain, txs.XChain}
	}
	return []txs.Chain{kind}
}

// cursorOf is an output's cursor among those of all makers.
func (b *ChainReader) cursorOf(kind txs.Chain, c *UTXOEntry) uint64 {
	all := makers(kind)
	return CursorOfUTXO(c.ID)*uint64(len(all)) + uint64(slices.Index(all, b.Kind(c.ID.Chain())))
}

// utxoAtCursor is the number of the output with a cursor.
func (b *ChainReader) utxoAtCursor(kind txs.Chain, cursor uint64) store.UTXONumber {
	all := makers(kind)
	maker, rest := all[cursor%uint64(len(all))], cursor/uint64(len(all))
	return store.NewUTXONumber(b.Chain(maker), rest>>utxoIndexBits, int(rest&(1<<utxoIndexBits-1)))
}

// unix is a time that may lie beyond all times.
func unix(time uint64) int64 { return int64(min(time, math.MaxInt)) }

// LockedNow are the unspent amounts that are locked by the world's clock.
func (b *ChainReader) LockedNow() (sum uint64, err error) {
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		rows, err := b.DB.LockedUTXOs(b.Ctx, b.Chain(kind))
		if err != nil {
			return 0, err
		}
		for i := range rows {
			c, err := b.utxoEntry(&rows[i])
			if err != nil {
				return 0, err
			}
			if max(c.locktime, c.stakeable) > b.Clock.Unix() {
				sum += uint64(c.Amount)
			}
		}
	}
	return sum, nil
}
