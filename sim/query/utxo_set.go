package query

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// UTXOEntry holds the part of an output that lists and balances need.
type UTXOEntry struct {
	*store.UTXO
	Asset     ids.ID
	Held      uint64 // amount of the asset: one of an NFT or a property
	id        string // as clients see it; breaks ties
	time      int64  // of the block it is attributed to
	made      int64  // when the chain created it
	locktime  int64  // when it becomes spendable
	stakeable int64  // until when it can only be staked
}

// utxoSet holds addresses' present or past outputs on a chain as of one block, and is immutable.
type utxoSet struct {
	version  int64
	orders   map[string][]*UTXOEntry // of all outputs that the chain created or can spend, and of stakes
	byCursor map[uint64]*UTXOEntry
	own      []*UTXOEntry // outputs that the chain created and can spend
	shared   []*UTXOEntry // outputs that the chain exported, or that others exported to it
	stakes   []stake      // current stakes
}

// utxoSetBytes returns a set's size: each entry once, with its places in lists and under its cursor.
func utxoSetBytes(p *utxoSet) int {
	const places = 64
	sum := len(p.stakes) * int(unsafe.Sizeof(stake{}))
	for _, e := range p.byCursor {
		sum += int(unsafe.Sizeof(*e)+unsafe.Sizeof(*e.UTXO)) + len(e.Hash) + len(e.Tx) + len(e.UTXO.Asset) + len(e.Out) + len(e.id) + places
	}
	return sum
}

type utxoSetKey struct {
	chain  int
	spent  bool // includes spent outputs
	owners string
}

// UTXOSet returns sorted addresses' outputs on a chain, without duplicates, from the cache if it can.
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
	for _, c := range entries {
		if c.ID.Chain() == key.chain && c.Chain == key.chain {
			p.own = append(p.own, c)
		} else {
			p.shared = append(p.shared, c)
		}
	}
	if kind == txs.PChain {
		if p.stakes, err = b.stakesNow(owners); err != nil {
			return nil, err
		}
		for _, s := range p.stakes {
			entries = append(entries, s.entry)
		}
	}
	for _, c := range entries {
		p.byCursor[b.cursorOf(c)] = c
	}
	for by, compare := range utxoOrders {
		p.orders[by] = slices.SortedFunc(slices.Values(entries), compare)
	}
	b.cache.utxos.Add(key, p)
	return p, nil
}

// utxoOrders lists the orders of a list of outputs, descending. The output's id breaks ties, as in the live API.
var utxoOrders = map[string]func(a, b *UTXOEntry) int{
	"timestamp": func(a, b *UTXOEntry) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.id, a.id)) },
	"amount": func(a, b *UTXOEntry) int {
		return cmp.Or(cmp.Compare(b.Held, a.Held), cmp.Compare(b.id, a.id))
	},
}

// utxoEntries reads the outputs that a chain can spend or has exported, and, for past sets, the spent ones.
func (b *ChainReader) utxoEntries(kind txs.Chain, owners []ids.ShortID, spent bool) ([]*UTXOEntry, error) {
	var all []*UTXOEntry
	seen := map[store.UTXONumber]bool{}
	for _, owner := range owners {
		rows, err := b.rowsOf(kind, owner, spent)
		if err != nil {
			return nil, err
		}
		if err := b.readTimes(rows); err != nil {
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

// rowsOf returns an address's outputs that a chain can or could spend, and the ones it exported.
func (b *ChainReader) rowsOf(kind txs.Chain, owner ids.ShortID, spent bool) (all []store.UTXO, err error) {
	if spent {
		all, err = b.DB.UTXOsOfAddress(b.Ctx, owner[:], b.Chain(kind), math.MaxInt64, math.MaxInt)
	} else {
		all, err = b.DB.UnspentUTXOsOfAddress(b.Ctx, owner[:], b.Chain(kind))
	}
	for _, to := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		if to == kind || err != nil {
			continue
		}
		var exported []store.UTXO
		if spent {
			exported, err = b.DB.ExportedUTXOs(b.Ctx, owner[:], b.Chain(to), b.Chain(kind))
		} else {
			exported, err = b.DB.UnspentUTXOs(b.Ctx, owner[:], b.Chain(to), b.Chain(kind), math.MaxInt64, math.MaxInt)
		}
		all = append(all, exported...)
	}
	return all, err
}

func (b *ChainReader) utxoEntry(row *store.UTXO) (*UTXOEntry, error) {
	at := store.At(row.ID.Chain(), row.ID.Height(), 0)
	made, err := b.BlockTime(at)
	if err != nil {
		return nil, err
	}
	said := made
	if made.option() {
		if at, err = b.saidOf(at, row.Tx, row.Reward); err != nil {
			return nil, err
		}
		if said, err = b.BlockTime(at); err != nil {
			return nil, err
		}
	}
	c, err := newUTXOEntry(b.Kind(row.ID.Chain()), row)
	if err != nil {
		return nil, err
	}
	c.id, c.time, c.made = ids.ID(row.Hash).String(), said.Unix, made.Unix
	return c, nil
}

// newUTXOEntry fills an entry from a row alone, without the time of its block.
func newUTXOEntry(maker txs.Chain, row *store.UTXO) (*UTXOEntry, error) {
	u, err := txs.ParseUTXO(maker, row.Bytes())
	if err != nil {
		return nil, err
	}
	return &UTXOEntry{UTXO: row, Asset: ids.ID(row.Asset), Held: held(u.Out), locktime: unix(u.Owners().Locktime), stakeable: unix(u.StakeableUntil())}, nil
}

// Keyset returns a UTXO set in an order. A page continues after any output, even one spent since.
func (p *utxoSet) Keyset(b *ChainReader, by string) Keyset[UTXOEntry] {
	return newOrderedKeyset(p.orders[by], b.cursorOf, utxoOrders[by], func(at uint64) *UTXOEntry {
		if c := p.byCursor[at]; c != nil {
			return c
		}
		c, _ := b.entryAtCursor(at)
		return c
	})
}

const makers = 3

// cursorOf returns an output's cursor among the outputs of all chains.
func (b *ChainReader) cursorOf(c *UTXOEntry) uint64 {
	return CursorOfUTXO(c.ID)*makers + uint64(b.Kind(c.ID.Chain()))
}

// entryAtCursor returns the output with a cursor, nil if it cannot. A stake keeps its place after it is returned.
func (b *ChainReader) entryAtCursor(cursor uint64) (*UTXOEntry, error) {
	maker, rest := txs.Chain(cursor%makers), cursor/makers
	number := store.NewUTXONumber(b.Chain(maker), rest>>utxoIndexBits, int(rest&(1<<utxoIndexBits-1)))
	if staked(number) {
		s, err := b.stakedOutput(number)
		if err != nil {
			return nil, err
		}
		return b.stakedEntry(s)
	}
	row, err := b.DB.UTXO(b.Ctx, number)
	if err != nil {
		return nil, err
	}
	return b.utxoEntry(row)
}

// unix returns a time that may lie beyond all times.
func unix(time uint64) int64 { return int64(min(time, math.MaxInt)) }

// LockedNow returns the unspent amounts that are locked at the world's clock.
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
