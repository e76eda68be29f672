package store

import "context"

// Chain is an EVM chain in the world file.
type Chain struct {
	ID           int    `db:"id"`
	Network      string `db:"network"` // mainnet or fuji
	EVMID        uint64 `db:"evm_id"`
	BlockchainID []byte `db:"blockchain_id"` // 32 bytes
	SubnetID     []byte `db:"subnet_id"`     // 32 bytes
	VMID         []byte `db:"vm_id"`         // 32 bytes
	Kind         string `db:"kind"`          // C or L1
	Name         string `db:"name"`
	Description  string `db:"description"`
	TokenName    string `db:"token_name"`
	TokenSymbol  string `db:"token_symbol"`
	Upgrades     []byte `db:"upgrades"` // JSON
	Genesis      Packed // JSON
}

// PackedChain is a chain with a genesis that is still packed.
type PackedChain struct {
	Chain
	Kept []byte `db:"kept"` // the genesis
}

// Unpack returns the chain with its genesis.
func (c *PackedChain) Unpack() (Chain, error) {
	chain := c.Chain
	return chain, chain.Genesis.Scan(c.Kept)
}

const chainColumns = `id, network, evm_id, blockchain_id, subnet_id, vm_id, kind, name, description, token_name, token_symbol, upgrades`

// Chains lists every EVM chain by row id. Their large geneses stay packed.
func (db *DB) Chains(ctx context.Context) ([]PackedChain, error) {
	return List[PackedChain](ctx, db, `SELECT `+chainColumns+`, genesis AS kept FROM chain ORDER BY id`)
}

// ChainIDs lists the row ids of the EVM chains without reading their large geneses.
func (db *DB) ChainIDs(ctx context.Context) ([]int, error) {
	return List[int](ctx, db, `SELECT id FROM chain ORDER BY id`)
}

// AddChain writes a chain.
func (b *Batch) AddChain(c Chain) error {
	return b.exec(`
		INSERT INTO chain (`+chainColumns+`, genesis)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Network, c.EVMID, c.BlockchainID, c.SubnetID, c.VMID, c.Kind, c.Name,
		c.Description, c.TokenName, c.TokenSymbol, c.Upgrades, c.Genesis)
}

// Meta is a world's identity: everything that determines its bytes, and its digest.
type Meta struct {
	Generator string `db:"generator"`
	Seed      int64  `db:"seed"`
	Profile   string `db:"profile"`
	Shape     string `db:"shape"`
	Until     int64  `db:"until"`
	Clock     int64  `db:"clock"`   // Unix milliseconds
	Started   int64  `db:"started"` // operations, deleted ones included
	Base      []byte `db:"base"`    // digest of what never changes
	Digest    []byte `db:"digest"`
}

const metaColumns = `generator, seed, profile, shape, until, clock, started, base, digest`

// Meta reads the world's identity.
func (db *DB) Meta(ctx context.Context) (Meta, error) {
	return readMeta(ctx, db)
}

func readMeta(ctx context.Context, p Preparer) (Meta, error) {
	return value[Meta](ctx, p, `SELECT `+metaColumns+` FROM meta WHERE id = 1`)
}

// SetMeta writes the world's identity. Every commit to an open world calls it, to give the file another state.
func (b *Batch) SetMeta(m Meta) error {
	if err := b.proceed(m.Digest); err != nil {
		return err
	}
	b.after = Commit{Clock: m.Clock, Digest: m.Digest}
	return b.exec(`
		INSERT INTO meta (id, `+metaColumns+`)
		VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET generator = excluded.generator, seed = excluded.seed, profile = excluded.profile, shape = excluded.shape,
			until = excluded.until, clock = excluded.clock, started = excluded.started, base = excluded.base, digest = excluded.digest`,
		m.Generator, m.Seed, m.Profile, m.Shape, m.Until, m.Clock, m.Started, m.Base, m.Digest)
}

// Persona is an account with a name and a documented purpose.
type Persona struct {
	ID      int    `db:"id"` // index of the account in the well-known mnemonic, or above 9
	Name    string `db:"name"`
	Purpose string `db:"purpose"`
	Key     []byte `db:"key"`     // secp256k1 private key, 32 bytes; empty if only its owner has it
	Address []byte `db:"address"` // EVM address; empty from FirstPrimaryPersona on
	Primary []byte `db:"-"`       // address on P and X from FirstPrimaryPersona on; elsewhere it follows from the key
}

// FirstPrimaryPersona is the first id of personas known only by their address on P and X, which the file stores in place of their EVM
// address.
const FirstPrimaryPersona = 1_000_000

// Personas lists every persona in order.
func (db *DB) Personas(ctx context.Context) ([]Persona, error) {
	all, err := List[Persona](ctx, db, `SELECT id, name, purpose, key, address FROM persona ORDER BY id`)
	for i := range all {
		if p := &all[i]; p.ID >= FirstPrimaryPersona {
			p.Address, p.Primary = nil, p.Address
		}
	}
	return all, err
}

// AddPersona writes a persona.
func (b *Batch) AddPersona(p Persona) error {
	address := p.Address
	if p.ID >= FirstPrimaryPersona {
		address = p.Primary
	}
	return b.exec(`INSERT INTO persona (id, name, purpose, key, address) VALUES (?, ?, ?, ?, ?)`,
		p.ID, p.Name, p.Purpose, p.Key, address)
}
