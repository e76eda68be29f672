package store

import (
	"context"
)

// L1Validator is a validator of an L1 as it was registered. ID is numbered as UTXOs are.
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

// L1ValidatorState is what an L1 validator is from a height on, until a later row. What remains of its balance is EndAccumulatedFee less
// the accrued fee of the chain.
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

// Balance is what remains of the deposit for the continuous fee (ACP-77) at an accrued fee of the chain.
func (l *L1ValidatorView) Balance(accrued Amount) uint64 {
	if l.Weight == 0 {
		return 0
	}
	return uint64(l.EndAccumulatedFee - min(accrued, l.EndAccumulatedFee))
}

const l1Columns = `v.id, v.validation, v.subnet, v.node, v.bls, v.balance_owner, v.deactivation_owner, v.start, v.tx,
	s.validator, s.height, s.weight, s.nonce, s.paid_until`

// l1At joins validators with their state at a height, which must be the first argument after those of the condition.
func l1At(condition string) string {
	return `SELECT ` + l1Columns + ` FROM l1_validator v CROSS JOIN l1_state s ON s.validator = v.id
		WHERE ` + condition + ` AND s.height = (SELECT MAX(t.height) FROM l1_state t WHERE t.validator = v.id AND t.height <= ?)
		ORDER BY v.id`
}

// L1Validators lists the L1 validators of a P-Chain as they were at a height, removed ones too.
func (db *DB) L1Validators(ctx context.Context, chain int, height uint64) ([]L1ValidatorView, error) {
	return L1ValidatorsAt(ctx, db, chain, height)
}

// L1ValidatorsAt lists the same in the file or as a batch sees them.
func L1ValidatorsAt(ctx context.Context, p Preparer, chain int, height uint64) ([]L1ValidatorView, error) {
	return list[L1ValidatorView](ctx, p, l1At(`v.id >= ? AND v.id < ?`), NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0), height)
}

// L1ValidatorsOfSubnet lists those of one L1.
func (db *DB) L1ValidatorsOfSubnet(ctx context.Context, subnet []byte, height uint64) ([]L1ValidatorView, error) {
	return list[L1ValidatorView](ctx, db, l1At(`v.subnet = ?`), subnet, height)
}

// L1ValidatorsOfNode lists those that run on one node.
func (db *DB) L1ValidatorsOfNode(ctx context.Context, node []byte, height uint64) ([]L1ValidatorView, error) {
	return list[L1ValidatorView](ctx, db, l1At(`v.node = ?`), node, height)
}

// L1Validator reads the L1 validator with this validation id as it was at a height.
func (db *DB) L1Validator(ctx context.Context, validation []byte, height uint64) (*L1ValidatorView, error) {
	return get[L1ValidatorView](ctx, db, l1At(`v.validation = ?`), validation, height)
}

// L1ValidatorHistory reads every state of an L1 validator, oldest first.
func (db *DB) L1ValidatorHistory(ctx context.Context, validator UTXONumber) ([]L1ValidatorState, error) {
	return list[L1ValidatorState](ctx, db, `SELECT validator, height, weight, nonce, paid_until FROM l1_state WHERE validator = ? ORDER BY height`,
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

// L1ValidatorsOutOfBalance lists the active L1 validators of a P-Chain whose balances are used up when the accrued fee has
// grown from that of the newest block to another.
func (db *DB) L1ValidatorsOutOfBalance(ctx context.Context, chain int, from, to Amount) ([]L1ValidatorView, error) {
	// Next to the condition of an index, a bare parameter would make the engine prepare the statement anew for every value.
	return list[L1ValidatorView](ctx, db, `SELECT `+l1Columns+` FROM l1_state s CROSS JOIN l1_validator v ON v.id = s.validator
		WHERE s.paid_until > 0 + ? AND s.paid_until <= 0 + ? AND s.paid_until > 0 AND v.id >= ? AND v.id < ?
		AND s.height = (SELECT MAX(t.height) FROM l1_state t WHERE t.validator = v.id)`, from, to, NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
}
