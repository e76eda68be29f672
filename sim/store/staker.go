package store

import (
	"context"
)

// The states of a staker.
const (
	StakerPending = iota
	StakerActive
	StakerCompleted
	StakerRemoved
)

// Staker is a validator or delegator of the primary network, or a validator of a permissioned subnet.
type Staker struct {
	ID              Position `db:"id"` // of its transaction
	Tx              []byte   `db:"tx"`
	Node            []byte   `db:"node"`
	Subnet          []byte   `db:"subnet"` // zero for the primary network
	Delegator       bool     `db:"delegator"`
	Weight          Amount   `db:"weight"` // own stake, nAVAX
	Start           int64    `db:"start"`
	End             int64    `db:"until"`
	Shares          uint32   `db:"shares"`    // delegation fee, of a million
	PotentialReward Amount   `db:"reward"`    // potential reward
	DelegateeReward Amount   `db:"delegatee"` // fees from delegations that ended
	BLS             []byte   `db:"bls"`       // public key, nil for none
	Proof           []byte   `db:"proof"`
	Owner           []byte   `db:"owner"`     // of the rewards, see Owners; nil for a subnet's validator
	FeeOwner        []byte   `db:"fee_owner"` // of a validator's delegation fees
	Status          int      `db:"status"`    // as the chain has it; the clock may be ahead of the chain
	Began           *int64   `db:"began"`     // height at which it became active
	Ended           *int64   `db:"ended"`     // height at which its staking ended
	Rewarded        bool     `db:"rewarded"`
	RewardTx        []byte   `db:"reward_tx"` // the RewardValidatorTx, nil while there is none
}

const stakerColumns = `id, tx, node, subnet, delegator, weight, start, until, shares, reward, delegatee, bls, proof, owner, fee_owner,
	status, began, ended, rewarded, reward_tx`

// Stakers lists every staker of a P-Chain in the order of their transactions.
func (db *DB) Stakers(ctx context.Context, chain int) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE id BETWEEN ? AND ? ORDER BY id`, First(chain), Last(chain))
}

// StakersOf lists the stakers of a P-Chain whose transactions touched a subject, newest first.
func (db *DB) StakersOf(ctx context.Context, chain int, subject []byte) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT `+stakerColumns+` FROM (SELECT tx AS touched FROM primary_activity WHERE subject = ? AND tx BETWEEN ? AND ?)
		CROSS JOIN staker ON id = touched ORDER BY touched DESC`, subject, First(chain), Last(chain))
}

// StakerTimes are when a staker whose time is not over begins and ends.
type StakerTimes struct {
	Tx        []byte `db:"tx"`
	Node      []byte `db:"node"`
	Delegator bool   `db:"delegator"`
	Start     int64  `db:"start"`
	End       int64  `db:"until"`
	Status    int    `db:"status"` // pending or active
}

// StakerTimes lists the stakers of a P-Chain that are pending or active, in the order of their transactions.
func (db *DB) StakerTimes(ctx context.Context, chain int) ([]StakerTimes, error) {
	return list[StakerTimes](ctx, db, `SELECT tx, node, delegator, start, until, status FROM staker WHERE id BETWEEN ? AND ? AND status < 2 ORDER BY id`, First(chain), Last(chain))
}

// StakerCounts are how many validators and delegators a P-Chain has ever had.
type StakerCounts struct {
	All        int `db:"stakers"`
	Delegators int `db:"delegators"`
}

// StakerCounts counts the stakers of a P-Chain.
func (db *DB) StakerCounts(ctx context.Context, chain int) (*StakerCounts, error) {
	return get[StakerCounts](ctx, db, `SELECT COUNT(*) AS stakers, COALESCE(SUM(delegator), 0) AS delegators FROM staker WHERE id BETWEEN ? AND ?`, First(chain), Last(chain))
}

// ValidatorsAt lists the validators of a P-Chain, of the primary network and of subnets, whose time has begun and not ended at a time: their
// nodes, subnets and keys.
func (db *DB) ValidatorsAt(ctx context.Context, chain int, time int64) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT node, subnet, bls, proof FROM staker
		WHERE id BETWEEN ? AND ? AND delegator = 0 AND start < ? AND until > ? ORDER BY id`, First(chain), Last(chain), time, time)
}

// FirstTxOfNode is the id of the transaction that began a node's first validation, or the first delegation to it.
func (db *DB) FirstTxOfNode(ctx context.Context, chain int, node []byte) ([]byte, error) {
	row, err := get[struct {
		Tx []byte `db:"tx"`
	}](ctx, db, `SELECT tx FROM staker WHERE node = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`, node, First(chain), Last(chain))
	return row.Tx, err
}

// StakersOfNode lists the validations of a node and the delegations to it, oldest first.
func (db *DB) StakersOfNode(ctx context.Context, chain int, node []byte) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE node = ? AND id BETWEEN ? AND ? ORDER BY id`,
		node, First(chain), Last(chain))
}

// StakersOfSubnet lists who validates or validated a subnet, the zero id being the primary network; oldest first.
func (db *DB) StakersOfSubnet(ctx context.Context, chain int, subnet []byte) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE subnet = ? AND id BETWEEN ? AND ? ORDER BY id`,
		subnet, First(chain), Last(chain))
}

// StakerOfTx reads the staker that a transaction made.
func (db *DB) StakerOfTx(ctx context.Context, tx []byte) (*Staker, error) {
	return get[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE tx = ?`, tx)
}

// StakersOfAddress lists the stakers of a P-Chain whose rewards an address owns, oldest first.
func (db *DB) StakersOfAddress(ctx context.Context, chain int, address []byte) ([]Staker, error) {
	return list[Staker](ctx, db, `SELECT s.id, s.tx, s.node, s.subnet, s.delegator, s.weight, s.start, s.until, s.shares, s.reward, s.delegatee,
		s.bls, s.proof, s.owner, s.fee_owner, s.status, s.began, s.ended, s.rewarded, s.reward_tx
		FROM staker_owner o CROSS JOIN staker s ON s.id = o.staker
		WHERE o.address = ? AND o.staker BETWEEN ? AND ? ORDER BY o.staker`, address, First(chain), Last(chain))
}

func (b *Batch) putStaker(s *Staker) error {
	if err := b.exec(`INSERT OR REPLACE INTO staker (`+stakerColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID, s.Tx, s.Node, s.Subnet, s.Delegator, s.Weight, s.Start, s.End, s.Shares, s.PotentialReward, s.DelegateeReward, s.BLS, s.Proof,
		s.Owner, s.FeeOwner, s.Status, s.Began, s.Ended, s.Rewarded, s.RewardTx); err != nil {
		return err
	}
	for _, raw := range [][]byte{s.Owner, s.FeeOwner} {
		for _, address := range ParseOutputOwners(raw).Addresses {
			if err := b.exec(`INSERT OR IGNORE INTO staker_owner (address, staker) VALUES (?, ?)`, address, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Node is the node of a validator.
type Node struct {
	Network     uint32 `db:"network"`
	Node        []byte `db:"node"` // RIPEMD-160 of SHA-256 of the certificate
	Role        string `db:"role"` // the test case that it represents, empty for most
	Certificate []byte `db:"certificate"`
	Secret      []byte `db:"secret"`  // BLS secret key
	Version     string `db:"version"` // of its software
	IP          string `db:"ip"`      // with port
	Uptime      uint32 `db:"uptime"`  // of a million
	Connected   bool   `db:"connected"`
	City        string `db:"city"`
	Country     string `db:"country"`
	Code        string `db:"code"`     // ISO 3166
	Latitude    int64  `db:"latitude"` // millionths of a degree
	Longitude   int64  `db:"longitude"`
}

const nodeColumns = `network, node, role, certificate, secret, version, ip, uptime, connected, city, country, code, latitude, longitude`

// Nodes lists a network's nodes by their ids.
func (db *DB) Nodes(ctx context.Context, network uint32) ([]Node, error) {
	return list[Node](ctx, db, `SELECT `+nodeColumns+` FROM node WHERE network = ? ORDER BY node`, network)
}

// NodeRoles lists those of a network's nodes that represent a test case, by their ids: no more than that of each.
func (db *DB) NodeRoles(ctx context.Context, network uint32) ([]Node, error) {
	return list[Node](ctx, db, `SELECT node, role FROM node WHERE network = ? AND role <> '' ORDER BY node`, network)
}

// Node reads a node of a network.
func (db *DB) Node(ctx context.Context, network uint32, node []byte) (*Node, error) {
	return get[Node](ctx, db, `SELECT `+nodeColumns+` FROM node WHERE network = ? AND node = ?`, network, node)
}

// AddNode writes a node.
func (b *Batch) AddNode(n Node) error {
	return b.exec(`INSERT INTO node (`+nodeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n.Network, n.Node, n.Role, n.Certificate, n.Secret, n.Version, n.IP, n.Uptime, n.Connected,
		n.City, n.Country, n.Code, n.Latitude, n.Longitude)
}

// DueStakers lists the stakers of a subnet whom time alone has ended by a moment, and those who wait to begin.
func (db *DB) DueStakers(ctx context.Context, chain int, subnet []byte, moment int64) ([]Staker, error) {
	// The index holds those whose status is below 2, and the engine must be told that these are some of them.
	const due = `SELECT ` + stakerColumns + ` FROM staker WHERE subnet = ? AND +id BETWEEN ? AND ? AND status < 2 AND status = `
	return list[Staker](ctx, db, due+`1 AND until <= ? UNION ALL `+due+`0`,
		subnet, First(chain), Last(chain), moment, subnet, First(chain), Last(chain))
}
