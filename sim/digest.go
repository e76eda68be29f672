package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// computeDigest covers everything in the file but operations: identity and clock, the participants, and through each chain's last
// digest every block with all that it added. Every value is preceded by its length, so that no two worlds read the same. heads are the
// last digests of primary chains whose next block is not in the file yet.
func computeDigest(ctx context.Context, db *store.DB, m store.Meta, heads map[int][]byte) ([]byte, error) {
	h := sha256.New()
	write(h, m.Generator, m.Seed, m.Profile, m.Shape, m.Until, m.Clock)
	chains, err := db.Chains(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range chains {
		head, err := db.Head(ctx, c.ID)
		if err != nil {
			return nil, fmt.Errorf("chain %d: %w", c.EVMID, err)
		}
		write(h, "chain", c.ID, c.Network, c.EVMID, c.BlockchainID, c.SubnetID, c.VMID, c.Kind, c.Name, c.Description,
			c.TokenName, c.TokenSymbol, c.Genesis, c.Upgrades, head.Digest)
		contracts, err := db.Contracts(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range contracts {
			write(h, "contract", r.Address, r.Role, r.Artifact)
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
		write(h, "persona", p.ID, p.Name, p.Purpose, p.Key, p.Address)
	}
	if err := digestPrimary(ctx, h, db, heads); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// Identity covers what decides the bytes of the generated world. It stays when the world grows.
func (w *World) Identity() []byte {
	h := sha256.New()
	write(h, "identity", w.Meta.Generator, w.Meta.Seed, w.Meta.Profile, w.Meta.Shape, w.Meta.Until)
	return h.Sum(nil)
}

// digestPrimary covers the genesis, the nodes and through each chain's last digest every block of P and X.
func digestPrimary(ctx context.Context, h hash.Hash, db *store.DB, heads map[int][]byte) error {
	networks, err := db.PrimaryNetworks(ctx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		write(h, "network", n.ID, n.PChainGenesis, n.XChainGenesis)
		for _, chain := range []int{store.PChain, store.XChain} {
			number := store.PrimaryChain(rules.Index(n.ID), chain)
			head, err := db.PrimaryHead(ctx, number)
			if err != nil {
				return fmt.Errorf("network %d: %w", n.ID, err)
			}
			if next := heads[number]; next != nil {
				head.Digest = next
			}
			write(h, chain, head.Digest)
		}
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

// digestWithOperations covers everything in the file, given the digest of all but the operations. A world without operations
// keeps that one.
func digestWithOperations(ctx context.Context, db *store.DB, r revision) ([]byte, error) {
	if r.operations == 0 {
		return r.chains, nil
	}
	operations, err := db.OperationDigests(ctx, r.operations)
	if err != nil {
		return nil, err
	}
	switch at := slices.IndexFunc(operations, func(o store.OperationDigest) bool { return o.ID == r.changed }); {
	case at >= 0:
		operations[at].Digest = r.digest
	case r.digest != nil: // a new one, which comes last
		operations = append(operations, store.OperationDigest{ID: r.changed, Digest: r.digest})
	}
	h := sha256.New()
	write(h, "operations", r.chains, r.operations)
	for _, o := range operations {
		if o.Digest != nil {
			write(h, o.ID, o.Digest)
		}
	}
	return h.Sum(nil), nil
}

// CheckDigest computes the digest of what is in the file again. The error names the value in which the world differs.
func (w *World) CheckDigest(ctx context.Context) error {
	chains, err := computeDigest(ctx, w.DB, w.Meta, nil)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !bytes.Equal(chains, w.chains) {
		return fmt.Errorf("meta: chains is %x, the chains' digest is %x", w.chains, chains)
	}
	digest, err := digestWithOperations(ctx, w.DB, revision{chains: chains, operations: w.operations})
	if err == nil && !bytes.Equal(digest, w.digest) {
		err = fmt.Errorf("meta: digest is %x, the world's is %x", w.digest, digest)
	}
	return err
}

func write(h hash.Hash, values ...any) {
	var b bytes.Buffer
	for _, value := range values {
		text := fmt.Appendf(nil, "%v", value)
		if blob, ok := value.([]byte); ok {
			text = blob
		}
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		b.Write(text)
	}
	h.Write(b.Bytes())
}
