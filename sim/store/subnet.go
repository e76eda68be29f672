package store

import (
	"cmp"
	"context"
	"slices"

	"snowglobe/sim/store/bulk"
)

// Subnet is a subnet, keyed by the transaction that created it.
type Subnet struct {
	ID   Position `db:"id"`
	Hash []byte   `db:"hash"` // the subnet's id
}

// SubnetState holds the owner of a subnet from a height on, until a later row.
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

// Subnets lists a P-Chain's subnets in their current state, oldest first.
func (db *DB) Subnets(ctx context.Context, chain int) ([]SubnetView, error) {
	return List[SubnetView](ctx, db, subnetNow+`n.id BETWEEN ? AND ? ORDER BY n.id`, First(chain), Last(chain))
}

// Subnet reads the current state of a P-Chain's subnet with this id.
func (db *DB) Subnet(ctx context.Context, chain int, hash []byte) (*SubnetView, error) {
	return Get[SubnetView](ctx, db, subnetNow+`n.hash = ? AND n.id BETWEEN ? AND ?`, hash, First(chain), Last(chain))
}

// SubnetHistory reads every state of a subnet, oldest first.
func (db *DB) SubnetHistory(ctx context.Context, subnet Position) ([]SubnetState, error) {
	return List[SubnetState](ctx, db, `SELECT subnet, height, owner, conversion, manager_chain, manager_address FROM subnet_state
		WHERE subnet = ? ORDER BY height`, subnet)
}

// Blockchains lists the blockchains of a P-Chain, oldest first.
func (db *DB) Blockchains(ctx context.Context, chain int) ([]Blockchain, error) {
	return List[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE id BETWEEN ? AND ? ORDER BY id`,
		First(chain), Last(chain))
}

// BlockchainsOfSubnet lists the chains that a subnet validates, oldest first.
func (db *DB) BlockchainsOfSubnet(ctx context.Context, subnet []byte) ([]Blockchain, error) {
	return List[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE subnet = ? ORDER BY id`, subnet)
}

// Blockchain reads the chain with this id.
func (db *DB) Blockchain(ctx context.Context, hash []byte) (*Blockchain, error) {
	return Get[Blockchain](ctx, db, `SELECT `+blockchainColumns+` FROM blockchain WHERE hash = ?`, hash)
}

func (b *Batch) addSubnet(s *Subnet) error {
	return b.exec(`INSERT INTO subnet (id, hash) VALUES (?, ?)`, s.ID, s.Hash)
}

func (b *Batch) addSubnetState(s *SubnetState) error {
	if s.Conversion != nil && s.ManagerAddress == nil {
		s.ManagerAddress = []byte{} // the engine returns it as nil
	}
	return b.exec(`INSERT INTO subnet_state (subnet, height, owner, conversion, manager_chain, manager_address) VALUES (?, ?, ?, ?, ?, ?)`,
		s.Subnet, s.Height, s.Owner, s.Conversion, s.ManagerChain, s.ManagerAddress)
}

func (b *Batch) addBlockchain(c *Blockchain) error {
	return b.exec(`INSERT INTO blockchain (`+blockchainColumns+`) VALUES (?, ?, ?, ?, ?)`, c.ID, c.Hash, c.Subnet, c.Name, c.VM)
}

// L1Validator is an L1 validator as registered. ID is numbered like UTXOs.
type L1Validator struct {
	ID                UTXONumber `db:"id"`
	Validation        []byte     `db:"validation"`
	Subnet            []byte     `db:"subnet"`
	Node              []byte     `db:"node"`
	BLS               []byte     `db:"bls"`
	BalanceOwner      []byte     `db:"balance_owner"` // see Owners
	DeactivationOwner []byte     `db:"deactivation_owner"`
	Start             int64      `db:"start"`
	Tx                Position   `db:"tx"` // the conversion or registration
}

// L1ValidatorState is the state of an L1 validator from a height on, until a later row. Its remaining balance is EndAccumulatedFee less the
// accrued fee of the chain.
type L1ValidatorState struct {
	Validator         UTXONumber `db:"validator"`
	Height            uint64     `db:"height"`
	Weight            Amount     `db:"weight"`     // 0 once it is removed
	Nonce             Amount     `db:"nonce"`      // of the next message about its weight, at least
	EndAccumulatedFee Amount     `db:"paid_until"` // 0 when inactive
}

// L1ValidatorView is an L1 validator with its state at a height.
type L1ValidatorView struct {
	L1Validator
	L1ValidatorState
}

// Balance returns what remains of the deposit for the continuous fee (ACP-77) at an accrued fee of the chain.
func (l *L1ValidatorView) Balance(accrued Amount) uint64 {
	if l.Weight == 0 {
		return 0
	}
	return uint64(l.EndAccumulatedFee - min(accrued, l.EndAccumulatedFee))
}

const l1Columns = `v.id, v.validation, v.subnet, v.node, v.bls, v.balance_owner, v.deactivation_owner, v.start, v.tx,
	s.validator, s.height, s.weight, s.nonce, s.paid_until`

// l1At joins validators with their state at a height, which must be the first argument after the condition's.
func l1At(condition string) string {
	return `SELECT ` + l1Columns + ` FROM l1_validator v CROSS JOIN l1_state s ON s.validator = v.id
		WHERE ` + condition + ` AND s.height = (SELECT MAX(t.height) FROM l1_state t WHERE t.validator = v.id AND t.height <= ?)
		ORDER BY v.id`
}

// L1Validators lists a P-Chain's L1 validators at a height, removed ones too.
func (db *DB) L1Validators(ctx context.Context, chain int, height uint64) ([]L1ValidatorView, error) {
	return L1ValidatorsAt(ctx, db, chain, height)
}

// L1ValidatorsAt is L1Validators in the file or as a batch sees it.
func L1ValidatorsAt(ctx context.Context, p Preparer, chain int, height uint64) ([]L1ValidatorView, error) {
	return List[L1ValidatorView](ctx, p, l1At(`v.id >= ? AND v.id < ?`), NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0), height)
}

// L1ValidatorCount returns how many L1 validators a P-Chain has ever had.
func (db *DB) L1ValidatorCount(ctx context.Context, chain int) (int, error) {
	return value[int](ctx, db, `SELECT count(*) FROM l1_validator WHERE id >= ? AND id < ?`, NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
}

// L1ValidatorsOfSubnet lists the validators of one L1.
func (db *DB) L1ValidatorsOfSubnet(ctx context.Context, subnet []byte, height uint64) ([]L1ValidatorView, error) {
	return List[L1ValidatorView](ctx, db, l1At(`v.subnet = ?`), subnet, height)
}

// L1ValidatorsOfNode lists the L1 validators on one node.
func (db *DB) L1ValidatorsOfNode(ctx context.Context, node []byte, height uint64) ([]L1ValidatorView, error) {
	return List[L1ValidatorView](ctx, db, l1At(`v.node = ?`), node, height)
}

// L1Validator reads the L1 validator with this validation id at a height.
func (db *DB) L1Validator(ctx context.Context, validation []byte, height uint64) (*L1ValidatorView, error) {
	return Get[L1ValidatorView](ctx, db, l1At(`v.validation = ?`), validation, height)
}

// L1ValidatorHistory reads every state of an L1 validator, oldest first.
func (db *DB) L1ValidatorHistory(ctx context.Context, validator UTXONumber) ([]L1ValidatorState, error) {
	return List[L1ValidatorState](ctx, db, `SELECT validator, height, weight, nonce, paid_until FROM l1_state WHERE validator = ? ORDER BY height`,
		validator)
}

func (b *Batch) addL1Validator(v *L1Validator) error {
	return b.exec(`INSERT INTO l1_validator (id, validation, subnet, node, bls, balance_owner, deactivation_owner, start, tx)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.ID, v.Validation, v.Subnet, v.Node, v.BLS, v.BalanceOwner, v.DeactivationOwner, v.Start, v.Tx)
}

func (b *Batch) addL1State(s *L1ValidatorState) error {
	return b.exec(`INSERT INTO l1_state (validator, height, weight, nonce, paid_until) VALUES (?, ?, ?, ?, ?)`,
		s.Validator, s.Height, s.Weight, s.Nonce, s.EndAccumulatedFee)
}

// L1ValidatorsOutOfBalance lists a P-Chain's active L1 validators that run out of balance when the accrued fee grows from the newest
// block's to another.
func (db *DB) L1ValidatorsOutOfBalance(ctx context.Context, chain int, from, to Amount) ([]L1ValidatorView, error) {
	// Next to an index's condition, the engine would prepare the statement again for every value of a bare parameter.
	return List[L1ValidatorView](ctx, db, `SELECT `+l1Columns+` FROM l1_state s CROSS JOIN l1_validator v ON v.id = s.validator
		WHERE s.paid_until > 0 + ? AND s.paid_until <= 0 + ? AND s.paid_until > 0 AND v.id >= ? AND v.id < ?
		AND s.height = (SELECT MAX(t.height) FROM l1_state t WHERE t.validator = v.id)`, from, to, NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
}

// The states of a staker.
const (
	StakerPending = iota
	StakerActive
	StakerCompleted
	StakerRemoved
)

// Staker is a validator or delegator of the primary network, or a validator of a permissioned subnet.
type Staker struct {
	ID              Position `db:"id"` // of its transaction, or of the reward that began this cycle of an auto-renewed validator
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
	RewardTx        []byte   `db:"reward_tx"` // the RewardValidatorTx or RewardAutoRenewedValidatorTx, nil while there is none

	// Of auto-renewed validators.
	Authority                []byte `db:"authority"` // who configures it; nil for other stakers
	NextPeriod               int64  `db:"period"`    // of the next cycle in seconds, 0 for none
	AutoCompoundRewardShares uint32 `db:"compound"`  // share of the rewards that is restaked, of a million
	AccruedValidationRewards Amount `db:"restaked"`  // rewards of earlier cycles, a part of Weight
	AccruedDelegateeRewards  Amount `db:"fees"`      // delegation fees of earlier cycles, a part of Weight
}

// AutoRenewed reports whether the staker is a cycle of an auto-renewed validator.
func (s *Staker) AutoRenewed() bool { return s.Authority != nil }

const stakerColumns = `id, tx, node, subnet, delegator, weight, start, until, shares, reward, delegatee, bls, proof, owner, fee_owner,
	status, began, ended, rewarded, reward_tx, authority, period, compound, restaked, fees`

// Stakers lists every staker of a P-Chain in the order of their transactions.
func (db *DB) Stakers(ctx context.Context, chain int) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE id BETWEEN ? AND ? ORDER BY id`, First(chain), Last(chain))
}

// StakerTerms lists the subnet and the times of the stakers made by the transactions from one to another, without their other columns and
// without validators that renew themselves.
func (db *DB) StakerTerms(ctx context.Context, first, last Position) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT id, subnet, start, until, status FROM staker WHERE id BETWEEN ? AND ? AND authority IS NULL ORDER BY id`, first, last)
}

// RenewedStakerTerms lists the same of the current cycles of auto-renewed validators, with the position of their AddAutoRenewedValidatorTx.
func (db *DB) RenewedStakerTerms(ctx context.Context, chain int) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT (SELECT min(id) FROM staker WHERE tx = now.tx) AS id, subnet, start, until, status FROM staker AS now
		WHERE subnet = zeroblob(32) AND status < 2 AND authority IS NOT NULL AND +id BETWEEN ? AND ?`, First(chain), Last(chain))
}

// StakersOf lists the stakers of a P-Chain that staked outputs of an address, newest first; without past, only those whose stake was not
// returned.
func (db *DB) StakersOf(ctx context.Context, chain int, address []byte, past bool) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT `+stakerColumns+` FROM (SELECT staker FROM stake_owner WHERE address = ? AND staker BETWEEN ? AND ?)
		CROSS JOIN staker ON id = staker WHERE ? OR ended IS NULL ORDER BY staker DESC`, address, First(chain), Last(chain), past)
}

// StakeOwner records that a staker staked outputs of an address.
type StakeOwner struct {
	Address []byte
	Staker  Position
}

var intoStakeOwner = bulk.NewTable("stake_owner", `address, staker`, true)

func (b *Batch) addStakeOwner(o *StakeOwner) error {
	return b.insert(intoStakeOwner, o.Address, o.Staker)
}

// StakerTimes holds the begin and end of a staker whose time is not over.
type StakerTimes struct {
	ID        Position `db:"id"`
	Tx        []byte   `db:"tx"`
	Node      []byte   `db:"node"`
	Delegator bool     `db:"delegator"`
	Start     int64    `db:"start"`
	End       int64    `db:"until"`
	Status    int      `db:"status"` // pending or active
}

// stakedSubnets finds the subnets with a pending or active staker, one seek each: most subnets have none.
const stakedSubnets = `
	WITH RECURSIVE staked(subnet) AS (
		SELECT min(subnet) FROM staker WHERE status < 2
		UNION ALL
		SELECT (SELECT min(subnet) FROM staker WHERE status < 2 AND subnet > staked.subnet) FROM staked WHERE staked.subnet IS NOT NULL
	)
	SELECT subnet FROM staked WHERE subnet IS NOT NULL`

// NextStakers lists a P-Chain's pending stakers and, for each subnet, the first active ones to end after a time, up to a limit. It sorts them
// by transaction.
func (db *DB) NextStakers(ctx context.Context, chain int, after int64, limit int) ([]StakerTimes, error) {
	staked, err := List[[]byte](ctx, db, stakedSubnets)
	if err != nil {
		return nil, err
	}
	var all []StakerTimes
	for _, subnet := range staked {
		// The index covers status below 2, and the engine must be told that these rows are among them.
		const next = `SELECT id, tx, node, delegator, start, until, status FROM staker WHERE subnet = ? AND +id BETWEEN ? AND ? AND status < 2 AND status = `
		pending, err := List[StakerTimes](ctx, db, next+`0`, subnet, First(chain), Last(chain))
		if err != nil {
			return nil, err
		}
		active, err := List[StakerTimes](ctx, db, next+`1 AND until > ? ORDER BY until, id LIMIT 0 + ?`, subnet, First(chain), Last(chain), after, limit)
		if err != nil {
			return nil, err
		}
		all = append(append(all, pending...), active...)
	}
	slices.SortFunc(all, func(a, b StakerTimes) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// validatesAt selects the P-Chain's stakers that validate at a time. The plus keeps the engine from reading all stakers.
const validatesAt = `+id BETWEEN ? AND ? AND delegator = 0 AND start < ? AND until > ?`

// ValidatorsAt lists the nodes and keys of the validators of the primary network with a key at a time, oldest first.
func (db *DB) ValidatorsAt(ctx context.Context, chain int, time int64) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT node, bls, proof FROM staker WHERE subnet = zeroblob(32) AND bls IS NOT NULL AND `+validatesAt+` ORDER BY id`,
		First(chain), Last(chain), time, time)
}

// SubnetValidatorsAt lists the validators of ValidatorsAt that also validate a subnet.
func (db *DB) SubnetValidatorsAt(ctx context.Context, chain int, time int64) ([]Staker, error) {
	all, err := List[Staker](ctx, db, `SELECT id, node, bls, proof FROM staker WHERE node IN (SELECT node FROM staker WHERE subnet > zeroblob(32) AND `+validatesAt+`)
		AND +subnet = zeroblob(32) AND bls IS NOT NULL AND `+validatesAt,
		First(chain), Last(chain), time, time, First(chain), Last(chain), time, time)
	slices.SortFunc(all, func(a, b Staker) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// FirstTxOfNode returns the id of the transaction that began a node's first validation, or the first delegation to it.
func (db *DB) FirstTxOfNode(ctx context.Context, chain int, node []byte) ([]byte, error) {
	return value[[]byte](ctx, db, `SELECT tx FROM staker WHERE node = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 1`, node, First(chain), Last(chain))
}

// StakersOfNode lists the validations of a node and the delegations to it, oldest first.
func (db *DB) StakersOfNode(ctx context.Context, chain int, node []byte) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE node = ? AND id BETWEEN ? AND ? ORDER BY id`,
		node, First(chain), Last(chain))
}

// StakersOfSubnet lists the past and present validators of a subnet, oldest first; the zero id is the primary network.
func (db *DB) StakersOfSubnet(ctx context.Context, chain int, subnet []byte) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE subnet = ? AND id BETWEEN ? AND ? ORDER BY id`,
		subnet, First(chain), Last(chain))
}

// Staked is a staker's weight while it validates or delegates, and its signing key.
type Staked struct {
	Node   []byte `db:"node"`
	BLS    []byte `db:"bls"` // public key, nil for none
	Weight Amount `db:"weight"`
}

// StakedAt lists the stakers on a subnet after the block of a P-Chain at a height; oldest first.
func (db *DB) StakedAt(ctx context.Context, chain int, subnet []byte, height uint64) ([]Staked, error) {
	return List[Staked](ctx, db, `SELECT node, bls, weight FROM staker
		WHERE subnet = ? AND id BETWEEN ? AND ? AND began <= ? AND ifnull(ended > ?, 1) ORDER BY id`, subnet, First(chain), Last(chain), height, height)
}

// StakerOfTx reads the staker that a transaction created, or the last cycle of it.
func (db *DB) StakerOfTx(ctx context.Context, tx []byte) (*Staker, error) {
	return Get[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE tx = ? ORDER BY id DESC LIMIT 1`, tx)
}

// StakingTx returns the position of the transaction that a staker belongs to, which is not that of a later cycle.
func (db *DB) StakingTx(ctx context.Context, s *Staker) (Position, error) {
	if !s.AutoRenewed() {
		return s.ID, nil
	}
	return value[Position](ctx, db, `SELECT min(id) FROM staker WHERE tx = ?`, s.Tx)
}

// RewardedBy reads the staker, or the cycle of a validator, that a reward transaction ended. The staking transaction is tx.
func (db *DB) RewardedBy(ctx context.Context, tx, rewardTx []byte) (*Staker, error) {
	return Get[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE tx = ? AND (reward_tx = ? OR authority IS NULL)`, tx, rewardTx)
}

// CyclesOfTx lists the cycles of the validator that a transaction created, oldest first; there is one unless it renews itself.
func (db *DB) CyclesOfTx(ctx context.Context, tx []byte) ([]Staker, error) {
	return List[Staker](ctx, db, `SELECT `+stakerColumns+` FROM staker WHERE tx = ? ORDER BY id`, tx)
}

func (b *Batch) putStaker(s *Staker) error {
	return b.exec(`INSERT OR REPLACE INTO staker (`+stakerColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID, s.Tx, s.Node, s.Subnet, s.Delegator, s.Weight, s.Start, s.End, s.Shares, s.PotentialReward, s.DelegateeReward, s.BLS, s.Proof,
		s.Owner, s.FeeOwner, s.Status, s.Began, s.Ended, s.Rewarded, s.RewardTx,
		s.Authority, s.NextPeriod, s.AutoCompoundRewardShares, s.AccruedValidationRewards, s.AccruedDelegateeRewards)
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

// Nodes lists a network's nodes by id.
func (db *DB) Nodes(ctx context.Context, network uint32) ([]Node, error) {
	return List[Node](ctx, db, `SELECT `+nodeColumns+` FROM node WHERE network = ? ORDER BY node`, network)
}

// NodeSecrets lists a network's nodes by id: only their signing keys, and whether they are connected.
func (db *DB) NodeSecrets(ctx context.Context, network uint32) ([]Node, error) {
	return List[Node](ctx, db, `SELECT node, secret, connected FROM node WHERE network = ? ORDER BY node`, network)
}

// NodeRoles lists the nodes of a network that represent a test case, by id and without other columns.
func (db *DB) NodeRoles(ctx context.Context, network uint32) ([]Node, error) {
	return List[Node](ctx, db, `SELECT node, role FROM node WHERE network = ? AND role <> '' ORDER BY node`, network)
}

// Node reads a node of a network.
func (db *DB) Node(ctx context.Context, network uint32, node []byte) (*Node, error) {
	return Get[Node](ctx, db, `SELECT `+nodeColumns+` FROM node WHERE network = ? AND node = ?`, network, node)
}

// AddNode writes a node.
func (b *Batch) AddNode(n Node) error {
	return b.exec(`INSERT INTO node (`+nodeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n.Network, n.Node, n.Role, n.Certificate, n.Secret, n.Version, n.IP, n.Uptime, n.Connected,
		n.City, n.Country, n.Code, n.Latitude, n.Longitude)
}

// DueStakers lists a subnet's stakers whose time has ended by a time without a transaction, and those waiting to begin.
func (db *DB) DueStakers(ctx context.Context, chain int, subnet []byte, unix int64) ([]Staker, error) {
	// The index covers status below 2, and the engine must be told that these rows are among them.
	const due = `SELECT ` + stakerColumns + ` FROM staker WHERE subnet = ? AND +id BETWEEN ? AND ? AND status < 2 AND status = `
	return List[Staker](ctx, db, due+`1 AND until <= ? UNION ALL `+due+`0`,
		subnet, First(chain), Last(chain), unix, subnet, First(chain), Last(chain))
}
