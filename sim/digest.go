package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"sync"

	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// The digest identifies the content of a world. It covers the base, which never changes, the clock, and the last digest of every
// chain, which in turn covers every block with all its rows and every state change. Operations are jobs, not history, and are
// left out. Each value is preceded by its length, so that no two worlds hash the same input.

// heads maps each chain to its last digest.
type heads map[headKey][]byte

// headKey identifies a chain in the file. EVM chains and primary chains are numbered separately.
type headKey struct {
	primary bool
	chain   int
}

func (k headKey) compare(other headKey) int {
	if k.primary != other.primary {
		if k.primary {
			return 1
		}
		return -1
	}
	return k.chain - other.chain
}

// with returns a copy in which next replaces the digests of some chains.
func (h heads) with(next heads) heads {
	all := maps.Clone(h)
	maps.Copy(all, next)
	return all
}

// digestOf computes the digest of a world with the clock at a time in milliseconds.
func digestOf(base []byte, clock int64, h heads) []byte {
	sum := sha256.New()
	write(sum, base, clock)
	for _, key := range slices.SortedFunc(maps.Keys(h), headKey.compare) {
		write(sum, key.primary, key.chain, h[key])
	}
	return sum.Sum(nil)
}

func readHeads(ctx context.Context, db *store.DB) (heads, error) {
	h := heads{}
	chains, err := db.ChainIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range chains {
		head, err := db.Head(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("EVM chain of row %d: %w", id, err)
		}
		if h[headKey{false, id}], err = db.HeadDigest(ctx, head); err != nil {
			return nil, fmt.Errorf("EVM chain of row %d: %w", id, err)
		}
	}
	networks, err := db.PrimaryNetworkIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range networks {
		for _, chain := range []int{store.PChain, store.XChain} {
			number := store.PrimaryChain(rules.Index(id), chain)
			head, err := db.PrimaryHead(ctx, number)
			if err != nil {
				return nil, fmt.Errorf("network %d: %w", id, err)
			}
			h[headKey{true, number}] = head.Digest
		}
	}
	return h, nil
}

// computeBase hashes what no block changes: the identity, the chains, and the participants of the world. more lists contracts that are about to
// get a name or another logo.
func computeBase(ctx context.Context, db *store.DB, m store.Meta, more []store.Contract) ([]byte, error) {
	h := sha256.New()
	write(h, m.Generator, m.Seed, m.Profile, m.Shape, m.Until)
	chains, err := db.Chains(ctx)
	if err != nil {
		return nil, err
	}
	for i := range chains {
		c, err := chains[i].Unpack()
		if err != nil {
			return nil, err
		}
		write(h, "chain", c.ID, c.Network, c.EVMID, c.BlockchainID, c.SubnetID, c.VMID, c.Kind, c.Name, c.Description,
			c.TokenName, c.TokenSymbol, []byte(c.Genesis), c.Upgrades)
		contracts, err := db.Contracts(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			if r.Chain != c.ID {
				continue
			}
			contracts = slices.DeleteFunc(contracts, func(other store.Contract) bool { return bytes.Equal(other.Address, r.Address) })
			contracts = append(contracts, r)
		}
		slices.SortFunc(contracts, func(a, b store.Contract) int { return strings.Compare(a.Role, b.Role) })
		for _, r := range contracts {
			write(h, "contract", r.Address, r.Role, r.Artifact)
			if r.ABI != "" {
				write(h, "abi", r.ABI)
			}
			if r.Logo != "" {
				write(h, "logo", r.Logo)
			}
		}
		markets, err := db.Markets(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range markets {
			write(h, "market", m.Address, m.Reputation, m.Series, m.Price, m.Amplitude)
		}
	}
	personas, err := db.Personas(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range personas {
		write(h, "persona", p.ID, p.Name, p.Purpose, p.Key, slices.Concat(p.Address, p.Primary))
	}
	if err := digestNetworks(ctx, h, db); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// digestNetworks hashes the genesis and the nodes of each primary network.
func digestNetworks(ctx context.Context, h hash.Hash, db *store.DB) error {
	networks, err := db.PrimaryNetworks(ctx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		write(h, "network", n.ID, []byte(n.PChainGenesis), []byte(n.XChainGenesis), n.Upgrades)
		nodes, err := db.Nodes(ctx, n.ID)
		if err != nil {
			return err
		}
		for _, d := range nodes {
			write(h, "node", d.Node, d.Role, d.Certificate, d.Secret, d.Version, d.IP, d.Uptime, d.Connected,
				d.City, d.Country, d.Code, d.Latitude, d.Longitude)
		}
	}
	return nil
}

// Identity hashes what decides the bytes of the generated world. It stays the same while the world grows.
func (w *World) Identity() []byte {
	h := sha256.New()
	write(h, "identity", w.Meta.Generator, w.Meta.Seed, w.Meta.Profile, w.Meta.Shape, w.Meta.Until)
	return h.Sum(nil)
}

// CheckDigest recomputes the digest from the file. The error names the value that differs.
func (w *World) CheckDigest(ctx context.Context) error {
	meta, err := w.DB.Meta(ctx)
	if err != nil {
		return err
	}
	base, err := computeBase(ctx, w.DB, meta, nil)
	if err != nil {
		return err
	}
	if !bytes.Equal(base, meta.Base) {
		return fmt.Errorf("meta: base is %x, but what never changes has the digest %x", meta.Base, base)
	}
	h, err := readHeads(ctx, w.DB)
	if err != nil {
		return err
	}
	if digest := digestOf(base, meta.Clock, h); !bytes.Equal(digest, meta.Digest) {
		return fmt.Errorf("meta: digest is %x, but the world's is %x", meta.Digest, digest)
	}
	return nil
}

// CheckUndo checks the undo log against the world.
func (w *World) CheckUndo(ctx context.Context) error {
	meta, err := w.DB.Meta(ctx)
	if err != nil {
		return err
	}
	h, err := readHeads(ctx, w.DB)
	if err != nil {
		return err
	}
	return w.DB.CheckUndo(ctx, func(clock int64) []byte { return digestOf(meta.Base, clock, h) })
}

func write(h hash.Hash, values ...any) {
	for _, value := range values {
		text, ok := value.([]byte)
		if !ok {
			text = fmt.Append(nil, value)
		}
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		h.Write(text)
	}
}

// identity caches the file's meta row for readers that run at the same time as a writer.
type identity struct {
	mu      sync.Mutex // guards the fields below for readers; only the holder of the writer's lock changes meta
	meta    store.Meta // as in the file
	damaged bool       // the file is known to be damaged
}

// become publishes the file's new meta row.
func (i *identity) become(m store.Meta) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.meta = m
}

// Digest returns the current digest, which covers the chains and the clock.
func (i *identity) Digest() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.meta.Digest
}

// Operations returns how many operations clients have started, deleted ones included.
func (i *identity) Operations() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.meta.Started
}

// ReportDamage makes Health report the file as damaged.
func (i *identity) ReportDamage() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.damaged = true
}

func (i *identity) knownDamaged() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.damaged
}
