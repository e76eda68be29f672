package store

import (
	"context"
	"database/sql"
)

// Subnet is a subnet by the transaction that made it.
type Subnet struct {
	ID   Position
	Hash []byte // the subnet's id
}

// SubnetState is who controls a subnet from a height on, until a later row.
type SubnetState struct {
	Subnet         Position
	Height         uint64
	Owner          []byte // see Owners
	Conversion     []byte // conversion id, nil while permissioned
	ManagerChain   []byte
	ManagerAddress []byte
}

// SubnetNow is a subnet with its newest state.
type SubnetNow struct {
	Subnet
	State SubnetState
}

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	ID     Position // of the transaction that made it
	Hash   []byte   // the blockchain's id
	Subnet []byte
	Name   string
	VM     []byte
}

const (
	subnetNow = `SELECT n.id, n.hash, s.subnet, s.height, s.owner, s.conversion, s.manager_chain, s.manager_address
		FROM subnet n CROSS JOIN subnet_state s ON s.subnet = n.id
		WHERE s.height = (SELECT MAX(t.height) FROM subnet_state t WHERE t.subnet = n.id) AND `
	blockchainColumns = `id, hash, subnet, name, vm`
)

func (s *SubnetState) fields() []any {
	return []any{&s.Subnet, &s.Height, &s.Owner, &s.Conversion, &s.ManagerChain, &s.ManagerAddress}
}

func (s *SubnetNow) fields() []any { return append([]any{&s.ID, &s.Hash}, s.State.fields()...) }

func (c *Blockchain) fields() []any { return []any{&c.ID, &c.Hash, &c.Subnet, &c.Name, &c.VM} }

func scanBlockchain(r *sql.Rows, c *Blockchain) error { return r.Scan(c.fields()...) }

// Subnets lists the subnets of a P-chain as they are now, oldest first.
func (db *DB) Subnets(ctx context.Context, chain int) ([]SubnetNow, error) {
	return many(ctx, db, subnetNow+`n.id BETWEEN ? AND ? ORDER BY n.id`, []any{First(chain), Last(chain)},
		func(r *sql.Rows, s *SubnetNow) error { return r.Scan(s.fields()...) })
}

// Subnet reads the subnet of a P-chain with this id as it is now.
func (db *DB) Subnet(ctx context.Context, chain int, hash []byte) (*SubnetNow, error) {
	var s SubnetNow
	err := db.one(ctx, subnetNow+`n.hash = ? AND n.id BETWEEN ? AND ?`, []any{hash, First(chain), Last(chain)}, s.fields()...)
	return &s, err
}

// SubnetHistory reads every state of a subnet, oldest first.
func (db *DB) SubnetHistory(ctx context.Context, subnet Position) ([]SubnetState, error) {
	return many(ctx, db, `SELECT subnet, height, owner, conversion, manager_chain, manager_address FROM subnet_state
		WHERE subnet = ? ORDER BY height`, []any{subnet}, func(r *sql.Rows, s *SubnetState) error { return r.Scan(s.fields()...) })
}

// Blockchains lists the chains that a P-chain knows, oldest first.
func (db *DB) Blockchains(ctx context.Context, chain int) ([]Blockchain, error) {
	return many(ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{First(chain), Last(chain)}, scanBlockchain)
}

// BlockchainsOfSubnet lists the chains that a subnet validates, oldest first.
func (db *DB) BlockchainsOfSubnet(ctx context.Context, subnet []byte) ([]Blockchain, error) {
	return many(ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE subnet = ? ORDER BY id`, []any{subnet}, scanBlockchain)
}

// Blockchain reads the chain with this id.
func (db *DB) Blockchain(ctx context.Context, hash []byte) (*Blockchain, error) {
	var c Blockchain
	err := db.one(ctx, `SELECT `+blockchainColumns+` FROM blockchain WHERE hash = ?`, []any{hash}, c.fields()...)
	return &c, err
}

func (b *Batch) addSubnet(s *Subnet) error {
	return b.exec(`INSERT INTO subnet (id, hash) VALUES (?, ?)`, s.ID, s.Hash)
}

func (b *Batch) addSubnetState(s *SubnetState) error {
	return b.exec(`INSERT INTO subnet_state (subnet, height, owner, conversion, manager_chain, manager_address) VALUES (?, ?, ?, ?, ?, ?)`,
		s.Subnet, s.Height, s.Owner, s.Conversion, s.ManagerChain, s.ManagerAddress)
}

func (b *Batch) addBlockchain(c *Blockchain) error {
	return b.exec(`INSERT INTO blockchain (`+blockchainColumns+`) VALUES (?, ?, ?, ?, ?)`, c.ID, c.Hash, c.Subnet, c.Name, c.VM)
}
