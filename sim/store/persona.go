package store

import (
	"context"
	"database/sql"
)

// Persona is an account with a name and a part to play.
type Persona struct {
	ID      int // index of the account in the well-known mnemonic, or above 9
	Name    string
	Purpose string
	Key     []byte // secp256k1 private key, 32 bytes
	Address []byte // EVM address
}

// Contract is a contract with a part to play on its chain.
type Contract struct {
	Chain    int
	Address  []byte
	Role     string // unique on its chain
	Artifact string // name of the compiled contract
}

// Personas lists every persona in order.
func (db *DB) Personas(ctx context.Context) ([]Persona, error) {
	return many(ctx, db, `SELECT id, name, purpose, key, address FROM persona ORDER BY id`, nil,
		func(r *sql.Rows, p *Persona) error { return r.Scan(&p.ID, &p.Name, &p.Purpose, &p.Key, &p.Address) })
}

// Contracts lists the named contracts of a chain by role.
func (db *DB) Contracts(ctx context.Context, chain int) ([]Contract, error) {
	return many(ctx, db, `SELECT chain, address, role, artifact FROM contract WHERE chain = ? ORDER BY role`, []any{chain},
		func(r *sql.Rows, c *Contract) error { return r.Scan(&c.Chain, &c.Address, &c.Role, &c.Artifact) })
}

// AddPersona writes a persona.
func (b *Batch) AddPersona(p Persona) error {
	return b.exec(`INSERT INTO persona (id, name, purpose, key, address) VALUES (?, ?, ?, ?, ?)`,
		p.ID, p.Name, p.Purpose, p.Key, p.Address)
}

// AddContract writes a named contract.
func (b *Batch) AddContract(c Contract) error {
	b.named = true
	return b.exec(`INSERT INTO contract (chain, address, role, artifact) VALUES (?, ?, ?, ?)`,
		c.Chain, c.Address, c.Role, c.Artifact)
}
