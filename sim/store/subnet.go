package store

import (
	"context"
)

// Subnet is a subnet by the transaction that made it.
type Subnet struct {
	ID   Position `db:"id"`
	Hash []byte   `db:"hash"` // the subnet's id
}

// SubnetState is who controls a subnet from a height on, until a later row.
type SubnetState struct {
	Subnet         Position `db:"subnet"`
	Height         uint64   `db:"height"`
	Owner          []byte   `db:"owner"`      // see Owners
	Conversion     []byte   `db:"conversion"` // conversion id, nil while permissioned
	ManagerChain   []byte   `db:"manager_chain"`
	ManagerAddress []byte   `db:"manager_address"`
}

// SubnetView is a subnet with its newest state.
type SubnetView struct {
	Subnet
	State SubnetState `db:"state"`
}

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	ID     Position `db:"id"`   // of the transaction that made it
	Hash   []byte   `db:"hash"` // the blockchain's id
	Subnet []byte   `db:"subnet"`
	Name   string   `db:"name"`
	VM     []byte   `db:"vm"`
}

const (
	subnetNow = `SELECT n.id, n.hash, s.subnet AS "state.subnet", s.height AS "state.height", s.owner AS "state.owner",
			s.conversion AS "state.conversion", s.manager_chain AS "state.manager_chain", s.manager_address AS "state.manager_address"
		FROM subnet n CROSS JOIN subnet_state s ON s.subnet = n.id
		WHERE s.height = (SELECT MAX(t.height) FROM subnet_state t WHERE t.subnet = n.id) AND `
	blockchainColumns = `id, hash, subnet, name, vm`
)

// Subnets lists the subnets of a P-Chain as they are now, oldest first.
func (db *DB) Subnets(ctx context.Context, chain int) ([]SubnetView, error) {
	return list[SubnetView](ctx, db, subnetNow+`n.id BETWEEN ? AND ? ORDER BY n.id`, First(chain), Last(chain))
}

// Subnet reads the subnet of a P-Chain with this id as it is now.
func (db *DB) Subnet(ctx context.Context, chain int, hash []byte) (*SubnetView, error) {
	return get[SubnetView](ctx, db, subnetNow+`n.hash = ? AND n.id BETWEEN ? AND ?`, hash, First(chain), Last(chain))
}

// SubnetHistory reads every state of a subnet, oldest first.
func (db *DB) SubnetHistory(ctx context.Context, subnet Position) ([]SubnetState, error) {
	return list[SubnetState](ctx, db, `SELECT subnet, height, owner, conversion, manager_chain, manager_address FROM subnet_state
		WHERE subnet = ? ORDER BY height`, subnet)
}

// Blockchains lists the blockchains of a P-Chain, oldest first.
func (db *DB) Blockchains(ctx context.Context, chain int) ([]Blockchain, error) {
	return list[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE id BETWEEN ? AND ? ORDER BY id`,
		First(chain), Last(chain))
}

// BlockchainsOfSubnet lists the chains that a subnet validates, oldest first.
func (db *DB) BlockchainsOfSubnet(ctx context.Context, subnet []byte) ([]Blockchain, error) {
	return list[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE subnet = ? ORDER BY id`, subnet)
}

// Blockchain reads the chain with this id.
func (db *DB) Blockchain(ctx context.Context, hash []byte) (*Blockchain, error) {
	return get[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE hash = ?`, hash)
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
