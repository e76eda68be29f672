package outbox

import (
	"context"

	"snowglobe/sim/store"
)

// The events that a webhook can watch.
const (
	AddressActivity        = "address_activity"
	PrimaryAddressActivity = "primary_network_address_activity"
	ValidatorActivity      = "validator_activity"
)

// Webhook is a URL and the events to send to it.
type Webhook struct {
	ID          int64  `db:"id"`
	UUID        []byte `db:"uuid"`
	Account     []byte `db:"account"` // SHA-256 of the API key that made it
	Event       string `db:"event"`
	Chain       int    `db:"chain"` // an EVM chain or a primary chain, as the file numbers them
	Active      bool   `db:"active"`
	Created     int64  `db:"created"` // by the world's clock, Unix milliseconds
	URL         string `db:"url"`
	Name        string `db:"name"`
	Description string `db:"description"`
	Internal    bool   `db:"internal"` // whether messages have the internal transactions
	Logs        bool   `db:"logs"`     // whether they have the logs
	Filter      string `db:"filter"`   // JSON, of package webhook
}

const webhookColumns = `id, uuid, account, event, chain, active, created, url, name, description, internal, logs, filter`

// ByUUID reads a webhook by UUID.
func ByUUID(ctx context.Context, db *store.DB, uuid []byte) (*Webhook, error) {
	return store.Get[Webhook](ctx, db, `SELECT `+webhookColumns+` FROM webhook WHERE uuid = ?`, uuid)
}

// ByID reads a webhook by number.
func ByID(ctx context.Context, db *store.DB, id int64) (*Webhook, error) {
	return store.Get[Webhook](ctx, db, `SELECT `+webhookColumns+` FROM webhook WHERE id = ?`, id)
}

// OfAccount lists an account's webhooks before a number, the newest first.
func OfAccount(ctx context.Context, db *store.DB, account []byte, before int64, limit int) ([]Webhook, error) {
	return store.List[Webhook](ctx, db, `SELECT `+webhookColumns+` FROM webhook WHERE account = ? AND id < ? ORDER BY id DESC LIMIT 0 + ?`,
		account, before, limit)
}

// Active lists the active webhooks, in the file or as a batch sees them.
func Active(ctx context.Context, r store.Preparer) ([]Webhook, error) {
	return store.List[Webhook](ctx, r, `SELECT `+webhookColumns+` FROM webhook WHERE active = 1 AND id > 0 ORDER BY id`)
}

// Put writes a webhook. A new one gets a number.
func Put(b *store.Batch, w *Webhook) error {
	if w.ID == 0 {
		last, err := store.Get[int64](context.Background(), b, `SELECT ifnull(max(id), 0) FROM webhook`)
		if err != nil {
			return err
		}
		w.ID = *last + 1
	}
	return store.Exec(b, `INSERT OR REPLACE INTO webhook (`+webhookColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		w.ID, w.UUID, w.Account, w.Event, w.Chain, w.Active, w.Created, w.URL, w.Name, w.Description, w.Internal, w.Logs, w.Filter)
}

// Deactivate stops a webhook.
func Deactivate(b *store.Batch, id int64) error {
	return store.Exec(b, `UPDATE webhook SET active = 0 WHERE id = ?`, id)
}

// Key is something that a webhook watches.
type Key struct {
	Number  int64  `db:"number"` // the key's number within its webhook
	Watched []byte `db:"watched"`
}

// Keys lists the keys that a webhook watches, after a number, in the file or as a batch sees it.
func Keys(ctx context.Context, r store.Preparer, webhook, after int64, limit int) ([]Key, error) {
	return store.List[Key](ctx, r, `SELECT number, watched FROM webhook_key WHERE webhook = ? AND number > ? ORDER BY number LIMIT 0 + ?`, webhook, after, limit)
}

// KeyCount returns how many things a webhook watches, in the file or as a batch sees it.
func KeyCount(ctx context.Context, r store.Preparer, webhook int64) (int64, error) {
	n, err := store.Get[int64](ctx, r, `SELECT count(*) FROM webhook_key WHERE webhook = ?`, webhook)
	return *n, err
}

// AddKeys adds keys to a webhook, and ignores known ones.
func AddKeys(b *store.Batch, webhook int64, keys [][]byte) error {
	last, err := store.Get[int64](context.Background(), b, `SELECT ifnull(max(number), 0) FROM webhook_key WHERE webhook = ?`, webhook)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := store.Exec(b, `INSERT OR IGNORE INTO webhook_key (webhook, number, watched) VALUES (?, ?, ?)`, webhook, *last+int64(i)+1, key); err != nil {
			return err
		}
	}
	return nil
}

// DropKeys removes keys from a webhook.
func DropKeys(b *store.Batch, webhook int64, keys [][]byte) error {
	for _, key := range keys {
		if err := store.Exec(b, `DELETE FROM webhook_key WHERE watched = ? AND webhook = ?`, key, webhook); err != nil {
			return err
		}
	}
	return nil
}

// WatchersOf lists the webhooks that watch something, as a batch sees it.
func WatchersOf(b *store.Batch, key []byte) ([]int64, error) {
	return store.List[int64](context.Background(), b, `SELECT webhook FROM webhook_key WHERE watched = ? ORDER BY webhook`, key)
}

// Secret returns the key that signs an account's messages.
func Secret(ctx context.Context, db *store.DB, account []byte) ([]byte, error) {
	s, err := store.Get[[]byte](ctx, db, `SELECT secret FROM webhook_secret WHERE account = ?`, account)
	return *s, err
}

// SetSecret changes an account's secret.
func SetSecret(b *store.Batch, account, secret []byte) error {
	return store.Exec(b, `INSERT OR REPLACE INTO webhook_secret (account, secret) VALUES (?, ?)`, account, secret)
}

// L1Validator holds the properties by which webhooks select messages about an L1 validator.
type L1Validator struct {
	Validation []byte `db:"validation"`
	Subnet     []byte `db:"subnet"`
	Node       []byte `db:"node"`
}

// L1ValidatorOf reads a validator of an L1, as a batch sees it.
func L1ValidatorOf(b *store.Batch, id store.UTXONumber) (*L1Validator, error) {
	return store.Get[L1Validator](context.Background(), b, `SELECT validation, subnet, node FROM l1_validator WHERE id = ?`, id)
}

// L1State is the weight of a validator of an L1 and the accrued fee up to which it has paid, 0 when it is inactive.
type L1State struct {
	Weight    store.Amount `db:"weight"`
	PaidUntil store.Amount `db:"paid_until"`
}

// L1StateBefore reads an L1 validator's state before a height, as a batch sees it.
func L1StateBefore(b *store.Batch, id store.UTXONumber, height uint64) (*L1State, error) {
	return store.Get[L1State](context.Background(), b, `SELECT weight, paid_until FROM l1_state WHERE validator = ? AND height < ? ORDER BY height DESC LIMIT 1`, id, height)
}

// TxPosition finds a transaction of a primary chain, as a batch sees it.
func TxPosition(b *store.Batch, chain int, hash []byte) (store.Position, error) {
	at, err := store.Get[store.Position](context.Background(), b, `SELECT id FROM primary_tx WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
		hash, store.First(chain), store.Last(chain))
	return *at, err
}
