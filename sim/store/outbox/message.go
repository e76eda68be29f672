package outbox

import (
	"context"

	"snowglobe/sim/store"
)

// Message is a message promised to a webhook.
type Message struct {
	Webhook int64          `db:"webhook"`
	Number  int64          `db:"number"` // the message's number within its webhook
	UUID    []byte         `db:"uuid"`
	Event   string         `db:"event"`   // what happened
	Tx      store.Position `db:"tx"`      // the transaction, 0 when time alone did it
	Subject []byte         `db:"subject"` // the staker's transaction or the validation, empty for none
	Time    int64          `db:"time"`    // Unix seconds of the world's clock
}

// The states of a message.
const (
	Undelivered = "pending"
	Delivered   = "delivered"
	Failed      = "failed"
	Void        = "void" // there was nothing to send
)

// State records the delivery of a message. Times are wall clock times, in Unix milliseconds.
type State struct {
	Status   string `db:"status"`
	Attempts int    `db:"attempts"` // since it was promised, or was to be delivered again
	Next     int64  `db:"next"`     // when it is tried again
}

// View is a message with its delivery.
type View struct {
	Message
	State
}

// Attempt is one attempt to deliver a message.
type Attempt struct {
	Number  int    `db:"number"`
	Started int64  `db:"started"`
	Took    int64  `db:"took"`   // milliseconds
	Status  int    `db:"status"` // of the answer, 0 when there was none
	Error   string `db:"error"`
	Answer  string `db:"answer"` // the beginning of its body
}

const viewColumns = `m.webhook, m.number, m.uuid, m.event, m.tx, m.subject, m.time,
	ifnull(d.status, 'pending') AS status, ifnull(d.attempts, 0) AS attempts, ifnull(d.next, 0) AS next`

const fromMessages = ` FROM webhook_message m LEFT JOIN webhook_delivery d ON d.message = m.uuid `

// Promise writes a message with the webhook's next number.
func Promise(b *store.Batch, m *Message) error {
	return store.Exec(b, `INSERT INTO webhook_message (webhook, number, uuid, event, tx, subject, time)
		VALUES (?, (SELECT ifnull(max(number), 0) + 1 FROM webhook_message WHERE webhook = ?), ?, ?, ?, ?, ?)`,
		m.Webhook, m.Webhook, m.UUID, m.Event, m.Tx, append([]byte{}, m.Subject...), m.Time)
}

// NextUndelivered reads a webhook's first unfinished message after a number.
func NextUndelivered(ctx context.Context, db *store.DB, webhook, after int64) (*View, error) {
	return store.Get[View](ctx, db, `SELECT `+viewColumns+fromMessages+
		`WHERE m.webhook = ? AND m.number > ? AND ifnull(d.status, 'pending') = 'pending' ORDER BY m.number LIMIT 1`, webhook, after)
}

// Numbered reads a webhook's message by its number.
func Numbered(ctx context.Context, db *store.DB, webhook, number int64) (*View, error) {
	return store.Get[View](ctx, db, `SELECT `+viewColumns+fromMessages+`WHERE m.webhook = ? AND m.number = ?`, webhook, number)
}

// Named reads a message by its id.
func Named(ctx context.Context, db *store.DB, uuid []byte) (*View, error) {
	return store.Get[View](ctx, db, `SELECT `+viewColumns+fromMessages+`WHERE m.uuid = ?`, uuid)
}

// Messages lists a webhook's messages before a number, the newest first.
func Messages(ctx context.Context, db *store.DB, webhook, before int64, limit int) ([]View, error) {
	return store.List[View](ctx, db, `SELECT `+viewColumns+fromMessages+`WHERE m.webhook = ? AND m.number < ? ORDER BY m.number DESC LIMIT 0 + ?`,
		webhook, before, limit)
}

// Attempts lists the attempts to deliver a message.
func Attempts(ctx context.Context, db *store.DB, message []byte) ([]Attempt, error) {
	return store.List[Attempt](ctx, db, `SELECT number, started, took, status, error, answer FROM webhook_attempt WHERE message = ? ORDER BY number`, message)
}

// SetState writes the delivery state of a message.
func SetState(b *store.Batch, message []byte, s *State) error {
	return store.Exec(b, `INSERT OR REPLACE INTO webhook_delivery (message, status, attempts, next) VALUES (?, ?, ?, ?)`, message, s.Status, s.Attempts, s.Next)
}

// AddAttempt writes an attempt and numbers it.
func AddAttempt(b *store.Batch, message []byte, a *Attempt) error {
	last, err := store.Get[int](context.Background(), b, `SELECT ifnull(max(number), 0) FROM webhook_attempt WHERE message = ?`, message)
	if err != nil {
		return err
	}
	a.Number = *last + 1
	return store.Exec(b, `INSERT INTO webhook_attempt (message, number, started, took, status, error, answer) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		message, a.Number, a.Started, a.Took, a.Status, a.Error, a.Answer)
}

// ValidationAbout names the L1 validator that a P-Chain transaction concerns.
func ValidationAbout(ctx context.Context, db *store.DB, tx store.Position) ([]byte, error) {
	first, end := store.NewUTXONumber(tx.Chain(), 0, 0), store.NewUTXONumber(tx.Chain()+1, 0, 0)
	validation, err := store.Get[[]byte](ctx, db, `SELECT v.validation FROM l1_validator v CROSS JOIN primary_activity a
		ON a.subject = v.validation AND a.tx = ? WHERE v.id >= ? AND v.id < ? LIMIT 0 + 1`, tx, first, end)
	return *validation, err
}
