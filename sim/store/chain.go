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
