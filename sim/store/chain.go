package store

import (
	"context"
	"database/sql"
)

// Chain is an EVM chain as the world file describes it.
type Chain struct {
	ID           int
	Network      string // mainnet or fuji
	EVMID        uint64
	BlockchainID []byte // 32 bytes
	SubnetID     []byte // 32 bytes
	VMID         []byte // 32 bytes
	Kind         string // C or L1
	Name         string
	Description  string
	TokenName    string
	TokenSymbol  string
	Genesis      []byte // JSON
	Upgrades     []byte // JSON
}

// Chains lists every EVM chain in the order of their row ids.
func (db *DB) Chains(ctx context.Context) ([]Chain, error) {
	return many(ctx, db, `
		SELECT id, network, evm_id, blockchain_id, subnet_id, vm_id, kind, name, description, token_name, token_symbol, genesis, upgrades
		FROM chain ORDER BY id`, nil,
		func(r *sql.Rows, c *Chain) error {
			return r.Scan(&c.ID, &c.Network, &c.EVMID, &c.BlockchainID, &c.SubnetID, &c.VMID, &c.Kind, &c.Name,
				&c.Description, &c.TokenName, &c.TokenSymbol, &c.Genesis, &c.Upgrades)
		})
}

// AddChain writes a chain.
func (b *Batch) AddChain(c Chain) error {
	return b.exec(`
		INSERT INTO chain (id, network, evm_id, blockchain_id, subnet_id, vm_id, kind, name, description, token_name, token_symbol, genesis, upgrades)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Network, c.EVMID, c.BlockchainID, c.SubnetID, c.VMID, c.Kind, c.Name,
		c.Description, c.TokenName, c.TokenSymbol, c.Genesis, c.Upgrades)
}

// Meta is the identity of a world: everything that decides its bytes, and its digest.
type Meta struct {
	Generator string `db:"generator"`
	Seed      int64  `db:"seed"`
	Profile   string `db:"profile"`
	Shape     string `db:"shape"`
	Until     int64  `db:"until"`
	Clock     int64  `db:"clock"`
	Started   int64  `db:"started"` // operations, deleted ones included
	Chains    []byte `db:"chains"`  // digest of everything but operations
	Digest    []byte `db:"digest"`
}

// Meta reads the world's identity.
func (db *DB) Meta(ctx context.Context) (Meta, error) {
	var m Meta
	err := db.one(ctx, `
		SELECT generator, seed, profile, shape, until, clock, started, chains, digest
		FROM meta WHERE id = 1`, nil,
		&m.Generator, &m.Seed, &m.Profile, &m.Shape, &m.Until, &m.Clock, &m.Started, &m.Chains, &m.Digest)
	return m, err
}

// SetMeta writes the world's identity.
func (b *Batch) SetMeta(m Meta) error {
	return b.exec(`
		INSERT OR REPLACE INTO meta (id, generator, seed, profile, shape, until, clock, started, chains, digest)
		VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Generator, m.Seed, m.Profile, m.Shape, m.Until, m.Clock, m.Started, m.Chains, m.Digest)
}

// Persona is an account with a name and a part to play.
type Persona struct {
	ID      int // index of the account in the well-known mnemonic, or above 9
	Name    string
	Purpose string
	Key     []byte // secp256k1 private key, 32 bytes
	Address []byte // EVM address
}

// Personas lists every persona in order.
func (db *DB) Personas(ctx context.Context) ([]Persona, error) {
	return many(ctx, db, `SELECT id, name, purpose, key, address FROM persona ORDER BY id`, nil,
		func(r *sql.Rows, p *Persona) error { return r.Scan(&p.ID, &p.Name, &p.Purpose, &p.Key, &p.Address) })
}

// AddPersona writes a persona.
func (b *Batch) AddPersona(p Persona) error {
	return b.exec(`INSERT INTO persona (id, name, purpose, key, address) VALUES (?, ?, ?, ?, ?)`,
		p.ID, p.Name, p.Purpose, p.Key, p.Address)
}
