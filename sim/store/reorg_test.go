package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
)

// word returns 32 bytes derived from a number.
func word(n int) []byte { return binary.BigEndian.AppendUint64(bytes.Repeat([]byte{1}, 24), uint64(n)) }

// added is a block, or an export, with the commit that added it.
type added struct {
	commit int64
	delta  *Delta
	export *Operation
}

// chains is a world of two EVM chains with what the tests must know of it: its contents, and what every commit did.
type chains struct {
	*testing.T
	db         *DB
	random     *rand.Rand
	there      []added         // in order of addition
	boundaries []int64         // the newest commits of snapshots
	removed    map[int64]int64 // for a commit that removed blocks, the commit that added the first of them
	gone       []added         // removed blocks
	heads      []map[int]uint64
	made       int
}

func (c *chains) base() *DB {
	return made(c.T, Memory, func(b *Batch) error {
		err := writeMeta(b)
		for chain := 1; chain <= 2; chain++ {
			err = errors.Join(err,
				b.AddChain(Chain{ID: chain, Network: []string{"mainnet", "fuji"}[chain-1], EVMID: uint64(chain), BlockchainID: word(chain), SubnetID: hash, VMID: hash, Kind: "C", Genesis: []byte("{}"), Upgrades: []byte("{}")}),
				b.AddBlock(&Delta{Block: Block{ID: At(chain, 0, 0), Hash: word(chain), Time: 100, Fees: wei, Header: []byte{0xc0}, Digest: hash}, Activity: metric.NewActivity(100, nil)}))
		}
		return err
	})
}

func (c *chains) now() int64 { return c.db.LastCommit().Sequence }

// write commits with a digest that no other commit has, and notes the heights after it.
func (c *chains) write(db *DB, number int, do func(*Batch) error) {
	c.Helper()
	db.commit(c.T, func(b *Batch) error {
		return errors.Join(do(b), b.SetMeta(Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: int64(number), Base: hash, Digest: word(number)}))
	})
}

// noteHeads notes the heights after the newest commit.
func (c *chains) noteHeads() {
	now := map[int]uint64{1: 0, 2: 0}
	for _, a := range c.there {
		if a.delta != nil {
			now[a.delta.Block.ID.Chain()] = a.delta.Block.ID.Number()
		}
	}
	for int64(len(c.heads)) <= c.now() {
		c.heads = append(c.heads, now)
	}
}

// block makes a block after a chain's head. Chains share addresses and code.
func (c *chains) block(chain int) *Delta {
	c.made++
	n, before := c.heads[c.now()][chain]+1, int64(c.made)*5000
	at, now := At(chain, n, 0), before+5000
	d := &Delta{Block: Block{ID: at, Hash: word(1000 + c.made), Time: now, Fees: wei, Header: []byte{0xc0}, Digest: hash, Txs: 1, AllTxs: int64(n)}}
	d.Activity = metric.NewActivity(now, &before)
	sender := word(c.random.IntN(3))[12:]
	d.Activity.Transaction(sender, word(9)[12:], 21_000, uint256.NewInt(c.random.Uint64N(100)))
	d.Activity.Close()
	d.Transactions = []Transaction{{ID: at, Hash: word(2000 + c.made), Sender: sender, Recipient: address, Status: 1, GasUsed: 21000, GasTotal: 21000, Raw: []byte{2}}}
	d.Touches = []Touch{{Address: sender, Tx: at}}
	if c.random.IntN(2) == 0 {
		d.Override, d.Impersonated = &BlockOverride{ID: at, Early: true}, []ImpersonatedTx{{at}}
	}
	for i := range 3 {
		a := Account{Chain: chain, Address: word(i)[12:], Block: n, Nonce: uint64(c.made), Balance: wei}
		if c.random.IntN(3) == 0 {
			code := Code{Hash: word(3000 + c.random.IntN(3)), Code: []byte{0x60}}
			a.CodeHash = code.Hash
			d.Codes = append(d.Codes, code)
		}
		if a.CodeHash != nil || c.random.IntN(2) == 0 {
			d.Accounts = append(d.Accounts, a)
		}
		if c.random.IntN(2) == 0 {
			d.Slots = append(d.Slots, Slot{Chain: chain, Address: a.Address, Key: word(c.random.IntN(2)), Block: n, Value: []byte{byte(c.made)}})
		}
	}
	if c.random.IntN(2) == 0 {
		d.Messages = []Message{{ID: at, Time: now, Hash: word(4000 + c.made), Source: word(chain), Destination: word(3 - chain), Sender: sender, Recipient: address}}
	}
	return d
}

func (c *chains) add(a added) {
	c.write(c.db, c.made, func(b *Batch) error { return a.to(b) })
	a.commit = c.now()
	c.there = append(c.there, a)
}

func (a *added) to(b *Batch) error {
	if a.export != nil {
		return b.PutOperation(a.export)
	}
	return b.AddBlock(a.delta)
}

// expect returns the plan for removing a chain's blocks, straight from its definition.
func (c *chains) expect(chain int, after uint64) *ChainRewind {
	first := slices.IndexFunc(c.there, func(a added) bool { return a.delta != nil && a.delta.Block.ID == At(chain, after+1, 0) })
	p := &ChainRewind{RewindOptions{Chain: chain, After: after}, map[int]uint64{}, map[common.Address]bool{}, map[common.Address]map[common.Hash]bool{}}
	for _, p.To = range slices.Backward(c.boundaries) {
		if p.To >= c.there[first].commit {
			continue
		}
		fits := true
		for by, of := range c.removed {
			fits = fits && (by <= p.To || of > p.To)
		}
		if fits {
			break
		}
	}
	for _, a := range slices.Concat(c.there, c.gone) {
		if a.delta == nil || a.commit <= p.To {
			continue
		}
		at := a.delta.Block.ID
		p.Heads[at.Chain()] = c.heads[p.To][at.Chain()]
		if at.Chain() != chain || at.Number() <= after {
			continue
		}
		for _, row := range a.delta.Accounts {
			p.Accounts[common.BytesToAddress(row.Address)] = true
		}
		for _, row := range a.delta.Slots {
			of := common.BytesToAddress(row.Address)
			if p.Slots[of] == nil {
				p.Slots[of] = map[common.Hash]bool{}
			}
			p.Slots[of][common.BytesToHash(row.Key)] = true
		}
	}
	return p
}

// remove removes a chain's blocks above a height, with every later export.
func (c *chains) remove(chain int, after uint64) {
	c.Helper()
	plan, err := c.db.PlanRewind(c.Context(), chain, after)
	want := c.expect(chain, after)
	if err != nil || !reflect.DeepEqual(plan, want) {
		c.Fatalf("the plan is %+v, %v; want %+v", plan, err, want)
	}
	first := int64(0)
	kept := slices.DeleteFunc(slices.Clone(c.there), func(a added) bool {
		goes := a.delta != nil && a.delta.Block.ID.Chain() == chain && a.delta.Block.ID.Number() > after
		if goes && first == 0 {
			first = a.commit
		}
		return goes || a.export != nil && first > 0
	})
	for _, a := range c.there {
		if a.delta != nil && !slices.ContainsFunc(kept, func(k added) bool { return k.delta == a.delta }) {
			c.gone = append(c.gone, a)
		}
	}
	c.there = kept
	c.made++
	c.write(c.db, c.made, func(b *Batch) error {
		if err := b.Rewind(plan.RewindOptions); err != nil {
			return err
		}
		for _, a := range kept {
			if a.delta == nil {
				continue
			}
			at := a.delta.Block.ID
			if head, grown := plan.Heads[at.Chain()]; grown && at.Number() > head {
				err = errors.Join(err, b.AddActivity(at.Chain(), a.delta.Activity))
				for i := range a.delta.Messages {
					err = errors.Join(err, b.AddICMCount(&a.delta.Messages[i]))
				}
			}
		}
		return err
	})
	c.removed[c.now()] = first
}

// checkDeltas reads the blocks of each chain together.
func (c *chains) checkDeltas() {
	c.Helper()
	for chain := 1; chain <= 2; chain++ {
		found, err := c.db.Deltas(c.Context(), chain, 1, MaxNumber)
		if err != nil {
			c.Fatal(err)
		}
		var have, want []string
		for _, d := range found {
			have = append(have, fmt.Sprintf("%d %x %d %+v %+v", d.Block.ID, d.Block.Hash, len(d.Transactions), d.Override, d.Impersonated))
		}
		for _, a := range c.there {
			if d := a.delta; d != nil && d.Block.ID.Chain() == chain {
				want = append(want, fmt.Sprintf("%d %x %d %+v %+v", d.Block.ID, d.Block.Hash, len(d.Transactions), d.Override, d.Impersonated))
			}
		}
		if !slices.Equal(have, want) {
			c.Errorf("the blocks of chain %d are %q, want %q", chain, have, want)
		}
	}
}

// rows lists the rows of a world as text, without any trace of what was removed.
func rows(t *testing.T, db *DB) string {
	var text strings.Builder
	for _, table := range Tables() {
		if !notUndone[table] && table != "meta" {
			fmt.Fprintf(&text, "%s %q\n", table, db.rowsOf(t, table))
		}
	}
	return text.String()
}

// TestAChainGoesBackAlone adds blocks to two chains, exports and snapshots, and removes the newest blocks of either, at random. Each plan is the one
// that its definition asks for, and the rows equal those of a world in which the removed blocks were never made.
func TestAChainGoesBackAlone(t *testing.T) {
	removals, shared := 0, 0
	for seed := range uint64(12) {
		c := &chains{T: t, random: rand.New(rand.NewPCG(seed, 7)), boundaries: []int64{0}, removed: map[int64]int64{}}
		c.db = c.base()
		c.noteHeads()
		for range 40 {
			chain := 1 + c.random.IntN(2)
			head := c.heads[c.now()][chain]
			switch choice := c.random.IntN(12); {
			case choice < 8:
				c.add(added{delta: c.block(chain)})
			case choice == 8:
				c.made++
				c.add(added{export: &Operation{ID: int64(c.made), UUID: word(c.made)[16:], Status: OperationRunning, ExportFile: ExportFile{Content: hash}, Request: "{}"}})
			case choice == 9:
				c.db.commit(t, func(b *Batch) error { return b.AddSnapshot(&Snapshot{Digest: word(c.made), Memory: []byte("{}")}) })
				c.boundaries = append(c.boundaries, c.now())
			case head > 0:
				depth := 1 + c.random.Uint64N(min(head, 4))
				c.remove(chain, head-depth)
				removals++
				again := c.base()
				for _, a := range c.there {
					c.write(again, c.made, func(b *Batch) error { return a.to(b) })
				}
				if got, want := rows(t, c.db), rows(t, again); got != want {
					t.Fatalf("seed %d: after removing %d blocks the rows are\n%.3000s\nwant\n%.3000s", seed, depth, got, want)
				}
				c.checkDeltas()
				if len(c.db.rowsOf(t, "code")) > 0 {
					shared++
				}
			}
			c.noteHeads()
		}
		if _, err := c.db.PlanRewind(t.Context(), 3, 0); !errors.Is(err, ErrNotFound) {
			t.Errorf("a block that no commit added: %v", err)
		}
	}
	if removals < 20 || shared < 10 {
		t.Errorf("%d removals, %d with code left", removals, shared)
	}
}
