package store

import (
	"context"
	"database/sql"
)

// Deployment is a contract that came to be in a transaction.
type Deployment struct {
	ID      Position // index counts the block's deployments
	Tx      int
	Address []byte
	Sender  []byte // of the transaction
	Creator []byte // the contract that made it, nil when the transaction did
}

// Transaction is the position of the transaction.
func (d *Deployment) Transaction() Position { return d.ID.Block() + Position(d.Tx) }

const deploymentColumns = `id, tx, address, sender, creator`

func (d *Deployment) fields() []any { return []any{&d.ID, &d.Tx, &d.Address, &d.Sender, &d.Creator} }

func scanDeployment(r *sql.Rows, d *Deployment) error { return r.Scan(d.fields()...) }

// Deployment reads the newest deployment of a contract on a chain.
func (db *DB) Deployment(ctx context.Context, chain int, address []byte) (*Deployment, error) {
	var d Deployment
	err := db.one(ctx, `SELECT `+deploymentColumns+` FROM deployment
		WHERE address = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`,
		[]any{address, First(chain), Last(chain)}, d.fields()...)
	return &d, err
}

// DeploymentView is a deployment with the hash of its transaction.
type DeploymentView struct {
	Deployment
	TxHash []byte
}

// DeploymentsBy reads at most limit deployments that an address caused, as the transaction's sender or as the contract
// that made the other, from one position down to another.
func (db *DB) DeploymentsBy(ctx context.Context, address []byte, high, low Position, limit int) ([]DeploymentView, error) {
	return many(ctx, db, `SELECT d.id, d.tx, d.address, d.sender, d.creator, t.hash FROM (
			SELECT id AS page FROM deployment WHERE sender = ?1 AND id BETWEEN ?3 AND ?2
			UNION SELECT id FROM deployment WHERE creator IS NOT NULL AND creator = ?1 AND id BETWEEN ?3 AND ?2
			ORDER BY page DESC LIMIT 0 + ?4)
		CROSS JOIN deployment d ON d.id = page CROSS JOIN tx t ON t.id = (page & ~65535) + d.tx`,
		[]any{address, high, low, limit}, func(r *sql.Rows, v *DeploymentView) error {
			return r.Scan(append(v.Deployment.fields(), &v.TxHash)...)
		})
}

// DeploymentsIn reads the deployments of a block in order.
func (db *DB) DeploymentsIn(ctx context.Context, block Position) ([]Deployment, error) {
	return many(ctx, db, `SELECT `+deploymentColumns+` FROM deployment WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{block.Block(), block.End()}, scanDeployment)
}

func (b *Batch) addDeployment(d *Deployment) error {
	return b.exec(`INSERT INTO deployment (`+deploymentColumns+`) VALUES (?, ?, ?, ?, ?)`, d.ID, d.Tx, d.Address, d.Sender, d.Creator)
}

// Contract is a contract with a part to play on its chain.
type Contract struct {
	Chain    int
	Address  []byte
	Role     string // unique on its chain
	Artifact string // name of the compiled contract
}

// Contracts lists the named contracts of a chain by role.
func (db *DB) Contracts(ctx context.Context, chain int) ([]Contract, error) {
	return many(ctx, db, `SELECT chain, address, role, artifact FROM contract WHERE chain = ? ORDER BY role`, []any{chain},
		func(r *sql.Rows, c *Contract) error { return r.Scan(&c.Chain, &c.Address, &c.Role, &c.Artifact) })
}

// AddContract writes a named contract.
func (b *Batch) AddContract(c Contract) error {
	b.named = true
	return b.exec(`INSERT INTO contract (chain, address, role, artifact) VALUES (?, ?, ?, ?)`,
		c.Chain, c.Address, c.Role, c.Artifact)
}
