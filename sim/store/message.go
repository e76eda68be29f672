package store

import (
	"context"
	"strings"

	"snowglobe/sim/store/bulk"
)

// Message is a Teleporter message, keyed by the log that sent it; a message from a chain outside the world, by the log that delivered it.
type Message struct {
	ID          Position `db:"id"`     // of the log
	Tx          int      `db:"tx"`     // index of the transaction in the block
	Time        int64    `db:"time"`   // Unix seconds
	Hash        []byte   `db:"hash"`   // the message's id
	Source      []byte   `db:"source"` // blockchain ids
	Destination []byte   `db:"destination"`
	Sender      []byte   `db:"sender"`
	Recipient   []byte   `db:"recipient"`
}

// The kinds of message events.
const (
	MessageReceived = iota
	MessageExecuted
	MessageReceipt // the sending chain received the receipt
)

// MessageEvent records the delivery, the execution or the receipt of a message.
type MessageEvent struct {
	ID   Position `db:"id"` // of the log
	Tx   int      `db:"tx"`
	Kind int      `db:"kind"`
	Hash []byte   `db:"hash"` // of the message
}

const (
	messageColumns      = `id, tx, time, hash, source, destination, sender, recipient`
	messageEventColumns = `id, tx, kind, hash`
)

// Transaction returns the position of the transaction.
func (m *Message) Transaction() Position { return m.ID.Block() + Position(m.Tx) }

// Transaction returns the position of the transaction.
func (e *MessageEvent) Transaction() Position { return e.ID.Block() + Position(e.Tx) }

// MessageFilter selects messages that match everything set.
type MessageFilter struct {
	Chains        uint64 // a bit for each chain's id; 0 for all
	Source        []byte
	Destination   []byte
	EitherChain   []byte // source or destination
	Sender        []byte
	Recipient     []byte
	EitherAddress []byte // sender or recipient
}

// MessageCursor is the cursor of a page of messages: the page starts before a time, and before a position at that time.
type MessageCursor struct {
	Time int64
	ID   Position
}

// Messages reads at most limit messages before a cursor, newest first. A message that was sent again counts as sent at its first sending.
func (db *DB) Messages(ctx context.Context, f MessageFilter, before MessageCursor, limit int) ([]Message, error) {
	text, args := f.query(before, limit)
	return List[Message](ctx, db, text, args...)
}

// query reads the index of the most selective condition; for a condition on either of two columns it combines the index of each in a UNION.
func (f *MessageFilter) query(before MessageCursor, limit int) (text string, args []any) {
	type condition struct {
		column string
		value  []byte
	}
	var all []condition
	either := map[string][2]string{"either address": {"sender", "recipient"}, "either chain": {"source", "destination"}}
	for _, c := range []condition{{"sender", f.Sender}, {"recipient", f.Recipient}, {"either address", f.EitherAddress}, {"source", f.Source},
		{"destination", f.Destination}, {"either chain", f.EitherChain}} {
		if c.value != nil {
			all = append(all, c)
		}
	}
	selectBy := func(first string) string {
		s := strings.Builder{}
		s.WriteString(`SELECT ` + messageColumns + ` FROM message m WHERE (time, id) < (?, ?)
			AND NOT EXISTS (SELECT 1 FROM message WHERE hash = m.hash AND (time, id) < (m.time, m.id))`)
		args = append(args, before.Time, before.ID)
		for i, c := range all {
			columns, twoColumns := either[c.column]
			switch {
			case i == 0 && first != "":
				s.WriteString(` AND ` + first + ` = ?`)
				args = append(args, c.value)
			case twoColumns:
				s.WriteString(` AND (+` + columns[0] + ` = ? OR +` + columns[1] + ` = ?)`)
				args = append(args, c.value, c.value)
			default:
				s.WriteString(` AND +` + c.column + ` = ?`)
				args = append(args, c.value)
			}
		}
		if f.Chains != 0 {
			s.WriteString(` AND (1 << (id >> 52)) & ? <> 0`)
			args = append(args, int64(f.Chains))
		}
		return s.String()
	}
	switch {
	case len(all) == 0:
		text = selectBy("")
	case either[all[0].column] != [2]string{}:
		columns := either[all[0].column]
		text = selectBy(columns[0]) + ` UNION ` + selectBy(columns[1])
	default:
		text = selectBy(all[0].column)
	}
	args = append(args, limit)
	return text + ` ORDER BY time DESC, id DESC LIMIT 0 + ?`, args
}

// MessagesSince lists the messages from a time on, in Unix seconds, the oldest first.
func (db *DB) MessagesSince(ctx context.Context, since int64) ([]Message, error) {
	return List[Message](ctx, db, `SELECT `+messageColumns+` FROM message WHERE time >= ? ORDER BY time, id`, since)
}

// MessageByHash reads the message with an id in the logs of one of these chains, the oldest if there are several.
func (db *DB) MessageByHash(ctx context.Context, hash []byte) (*Message, error) {
	return Get[Message](ctx, db, `SELECT `+messageColumns+` FROM message WHERE hash = ? ORDER BY time, id LIMIT 1`, hash)
}

// MessageEvents lists the events of a message by chain and block.
func (db *DB) MessageEvents(ctx context.Context, hash []byte) ([]MessageEvent, error) {
	return List[MessageEvent](ctx, db, `SELECT `+messageEventColumns+` FROM message_event WHERE hash = ? ORDER BY id`, hash)
}

// MessagesIn lists the messages of a block's logs.
func (db *DB) MessagesIn(ctx context.Context, block Position) ([]Message, error) {
	return List[Message](ctx, db, `SELECT `+messageColumns+` FROM message WHERE id BETWEEN ? AND ? ORDER BY id`, block.Block(), block.End())
}

// MessageEventsIn lists the message events of a block's logs.
func (db *DB) MessageEventsIn(ctx context.Context, block Position) ([]MessageEvent, error) {
	return List[MessageEvent](ctx, db, `SELECT `+messageEventColumns+` FROM message_event WHERE id BETWEEN ? AND ? ORDER BY id`,
		block.Block(), block.End())
}

func (b *Batch) addMessage(m *Message) error {
	return b.exec(`INSERT INTO message (`+messageColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.Tx, m.Time, m.Hash, m.Source, m.Destination, m.Sender, m.Recipient)
}

var intoMessageEvent = bulk.NewTable("message_event", messageEventColumns, false)

func (b *Batch) addMessageEvent(e *MessageEvent) error {
	return b.insert(intoMessageEvent, e.ID, e.Tx, e.Kind, e.Hash)
}

// MessageEventsOf lists the events of messages by message id, each by chain and block.
func (db *DB) MessageEventsOf(ctx context.Context, hashes [][]byte) (map[string][]MessageEvent, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	in, size := inList(len(hashes))
	rows, err := List[MessageEvent](ctx, db, `SELECT `+messageEventColumns+` FROM message_event WHERE hash IN `+in+` ORDER BY hash, id`,
		listArgs(hashes, size)...)
	events := map[string][]MessageEvent{}
	for _, e := range rows {
		events[string(e.Hash)] = append(events[string(e.Hash)], e)
	}
	return events, err
}
