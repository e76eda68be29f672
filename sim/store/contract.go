package store

import "context"

// Deployment is the creation of a contract in a transaction.
type Deployment struct {
	ID      Position `db:"id"` // index counts the block's deployments
	Tx      int      `db:"tx"`
	Address []byte   `db:"address"`
	Sender  []byte   `db:"sender"`  // of the transaction
	Creator []byte   `db:"creator"` // the contract that made it, nil when the transaction did
}

// Transaction is the position of the transaction.
func (d *Deployment) Transaction() Position { return d.ID.Block() + Position(d.Tx) }

const deploymentColumns = `id, tx, address, sender, creator`

// Deployment reads the newest deployment of a contract on a chain.
func (db *DB) Deployment(ctx context.Context, chain int, address []byte) (*Deployment, error) {
	return get[Deployment](ctx, db, `SELECT `+deploymentColumns+` FROM deployment
		WHERE address = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`, address, First(chain), Last(chain))
}

// DeploymentView is a deployment with the hash of its transaction.
type DeploymentView struct {
	Deployment
	TxHash []byte `db:"tx_hash"`
}

// DeploymentsBy reads at most limit deployments that an address caused, as the transaction's sender or as the contract
// that made the other, from one position down to another.
func (db *DB) DeploymentsBy(ctx context.Context, address []byte, high, low Position, limit int) ([]DeploymentView, error) {
	return list[DeploymentView](ctx, db, `SELECT d.id, d.tx, d.address, d.sender, d.creator, t.hash AS tx_hash FROM (
			SELECT id AS page FROM deployment WHERE sender = ?1 AND id BETWEEN ?3 AND ?2
			UNION SELECT id FROM deployment WHERE creator IS NOT NULL AND creator = ?1 AND id BETWEEN ?3 AND ?2
			ORDER BY page DESC LIMIT 0 + ?4)
		CROSS JOIN deployment d ON d.id = page CROSS JOIN tx t ON t.id = (page & ~65535) + d.tx`, address, high, low, limit)
}

// DeploymentsIn reads the deployments of a block in order.
func (db *DB) DeploymentsIn(ctx context.Context, block Position) ([]Deployment, error) {
	return list[Deployment](ctx, db, `SELECT `+deploymentColumns+` FROM deployment WHERE id BETWEEN ? AND ? ORDER BY id`,
		block.Block(), block.End())
}

func (b *Batch) addDeployment(d *Deployment) error {
	return b.exec(`INSERT INTO deployment (`+deploymentColumns+`) VALUES (?, ?, ?, ?, ?)`, d.ID, d.Tx, d.Address, d.Sender, d.Creator)
}

// Contract is a contract of the world that has a role on its chain.
type Contract struct {
	Chain    int    `db:"chain"`
	Address  []byte `db:"address"`
	Role     string `db:"role"`     // unique on its chain
	Artifact string `db:"artifact"` // name of the compiled contract, empty for one that is none of the world's own
	ABI      string `db:"abi"`      // of such a one, in JSON; empty when nobody gave it
}

// Contracts lists the named contracts of a chain by role.
func (db *DB) Contracts(ctx context.Context, chain int) ([]Contract, error) {
	return list[Contract](ctx, db, `SELECT chain, address, role, artifact, abi FROM contract WHERE chain = ? ORDER BY role`, chain)
}

// AddContract writes a named contract.
func (b *Batch) AddContract(c Contract) error {
	b.tokens = true
	return b.exec(`INSERT INTO contract (chain, address, role, artifact, abi) VALUES (?, ?, ?, ?, ?)`,
		c.Chain, c.Address, c.Role, c.Artifact, c.ABI)
}
