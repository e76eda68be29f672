package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store/bulk"
)

// Log is one log of a transaction.
type Log struct {
	ID      Position `db:"id"` // index of the log in its block
	Tx      int      `db:"tx"` // index of the transaction in the block
	Address []byte   `db:"address"`
	Topic   Topic    `db:"topic"`  // the first topic, empty when there is none
	Topics  Topics   `db:"topics"` // the other topics, 32 bytes each
	Data    Packed   `db:"data"`
}

// Topic is the first topic of a log, usually an event's. The file replaces the most common ones by a number.
type Topic []byte

// numberedEvents lists the events with a number, from 1 on. Like the dictionary, numbers never change.
var numberedEvents = []string{
	"SendWarpMessage(address,bytes32,bytes)",
	"Transfer(address,address,uint256)",
	"Approval(address,address,uint256)",
	"ApprovalForAll(address,address,bool)",
	"TransferSingle(address,address,address,uint256,uint256)",
	"TransferBatch(address,address,address,uint256[],uint256[])",
	"URI(string,uint256)",
	"MetadataUpdate(uint256)",
	"OwnershipTransferred(address,address)",
	"Deposit(address,uint256)",
	"Withdrawal(address,uint256)",
	"SendCrossChainMessage(bytes32,bytes32,(uint256,address,bytes32,address,uint256,address[],(uint256,address)[],bytes),(address,uint256))",
	"ReceiveCrossChainMessage(bytes32,bytes32,address,address,(uint256,address,bytes32,address,uint256,address[],(uint256,address)[],bytes))",
	"MessageExecuted(bytes32,bytes32)",
	"ReceiptReceived(bytes32,bytes32,address,(address,uint256))",
	"ValueSet(address,bytes32,bytes32)",
	"Deposited(address,uint256)",
	"Swap(address,address,address,uint256,uint256,address)",
	"Deployed(address,bool)",
	"Skipped(address,uint256)",
}

// numberedTopics lists the topics of the numbered events, in order.
var numberedTopics = sync.OnceValue(func() (all []Topic) {
	for _, event := range numberedEvents {
		all = append(all, crypto.Keccak256([]byte(event)))
	}
	return all
})

var errTopic = errors.New("malformed topic")

// kept returns the topic as stored in the file.
func (t Topic) kept() []byte {
	if n := slices.IndexFunc(numberedTopics(), func(numbered Topic) bool { return bytes.Equal(numbered, t) }); n >= 0 {
		return []byte{byte(n + 1)}
	}
	return t
}

// Scan reads a stored value.
func (t *Topic) Scan(value any) error {
	kept, ok := value.([]byte)
	switch numbered := numberedTopics(); {
	case !ok, len(kept) == 1 && (kept[0] == 0 || int(kept[0]) > len(numbered)), len(kept) > 1 && len(kept) != wordBytes:
		return errTopic
	case len(kept) == 1:
		*t = numbered[kept[0]-1]
	default:
		*t = bytes.Clone(kept)
	}
	return nil
}

// Topics holds the topics of a log after the first, one after another. The file stores each behind its length, addresses and small numbers
// without leading zeros.
type Topics []byte

const (
	maxTopics  = 3            // after the first
	shortTopic = addressBytes // longest topic stored without zeros, in bytes: a hash that begins with zeros stays whole
)

func (t Topics) kept() []byte {
	kept := make([]byte, 0, len(t)+len(t)/wordBytes)
	for topic := range slices.Chunk(t, wordBytes) {
		if short := bytes.TrimLeft(topic, "\x00"); len(short) <= shortTopic {
			topic = Topics(short)
		}
		kept = append(append(kept, byte(len(topic))), topic...)
	}
	return kept
}

// Scan reads a stored value.
func (t *Topics) Scan(value any) error {
	kept, ok := value.([]byte)
	if !ok {
		return errTopic
	}
	all := make([]byte, 0, maxTopics*wordBytes)
	for len(kept) > 0 {
		n := int(kept[0])
		if len(kept) <= n || n > shortTopic && n != wordBytes || len(all) == cap(all) {
			return errTopic
		}
		all = append(all[:len(all)+wordBytes-n], kept[1:1+n]...)
		kept = kept[1+n:]
	}
	*t = all
	return nil
}

const logColumns = `id, tx, address, topic, topics, data`

// LogsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) LogsBetween(ctx context.Context, first, last Position, limit int) ([]Log, error) {
	return List[Log](ctx, db, `SELECT `+logColumns+` FROM log WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 0 + ?`, first, last, limit)
}

// SentWarpMessage reads the log by which a chain sent the warp message with this id.
func (db *DB) SentWarpMessage(ctx context.Context, chain int, message []byte) (*Log, error) {
	return Get[Log](ctx, db, `SELECT `+logColumns+` FROM log
		WHERE topic = X'01' AND substr(topics, -32) = ?
		AND address = X'0200000000000000000000000000000000000005' AND id BETWEEN ? AND ? LIMIT 1`,
		message, First(chain), Last(chain))
}

var intoLog = bulk.NewTable("log", logColumns, false)

func (b *Batch) addLog(l *Log) error {
	return b.insert(intoLog, l.ID, l.Tx, l.Address, l.Topic.kept(), l.Topics.kept(), l.Data)
}

// LogView is a log with the hashes of the block and the transaction that it belongs to.
type LogView struct {
	Log
	BlockHash []byte `db:"block_hash"`
	TxHash    []byte `db:"tx_hash"`
}

// The outer loop runs over the log's own index or range; it finds block and transaction by key, with one seek each.
const (
	eventSelect = `SELECT l.id, l.tx, l.address, l.topic, l.topics, l.data, b.hash AS block_hash, t.hash AS tx_hash
		FROM log l CROSS JOIN block b CROSS JOIN tx t
		WHERE b.id = l.id & ~65535 AND t.id = (l.id & ~65535) + l.tx AND `
	eventOrder = ` ORDER BY l.id LIMIT 0 + ?`
)

const logViewsBetween = eventSelect + `l.id BETWEEN ? AND ?` + eventOrder

// LogViewsBetween reads at most limit logs from one position to another, both included, ascending.
func (db *DB) LogViewsBetween(ctx context.Context, first, last Position, limit int) ([]LogView, error) {
	return List[LogView](ctx, db, logViewsBetween, first, last, limit)
}

// EachLogView is LogViewsBetween for callers that look at one log at a time. The log is reused; copy it to keep it.
func (db *DB) EachLogView(ctx context.Context, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, logViewsBetween, first, last, limit)
}

// EachLogViewOfAddress is EachLogView for the logs of one contract.
func (db *DB) EachLogViewOfAddress(ctx context.Context, address []byte, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, eventSelect+`substr(l.address, 1, 6) = substr(?1, 1, 6) AND l.address = ?1 AND l.id BETWEEN ?2 AND ?3`+eventOrder, address, first, last, limit)
}

// EachLogViewOfTopic is EachLogView for the logs with this first topic.
func (db *DB) EachLogViewOfTopic(ctx context.Context, topic []byte, first, last Position, limit int, visit func(*LogView)) error {
	return each(ctx, db, visit, eventSelect+`substr(l.topic, 1, 6) = substr(?1, 1, 6) AND l.topic = ?1 AND l.id BETWEEN ?2 AND ?3`+eventOrder, Topic(topic).kept(), first, last, limit)
}

// LogViewsAt reads the logs at positions, ascending.
func (db *DB) LogViewsAt(ctx context.Context, at []Position) ([]LogView, error) {
	if len(at) == 0 {
		return nil, nil
	}
	in, size := inList(len(at))
	return List[LogView](ctx, db, eventSelect+`l.id IN `+in+` ORDER BY l.id`, listArgs(at, size)...)
}

// LogsAt reads the logs at positions, in any order.
func (db *DB) LogsAt(ctx context.Context, at []Position) ([]Log, error) {
	if len(at) == 0 {
		return nil, nil
	}
	in, size := inList(len(at))
	return List[Log](ctx, db, `SELECT `+logColumns+` FROM log WHERE id IN `+in, listArgs(at, size)...)
}
