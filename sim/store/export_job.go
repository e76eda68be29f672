package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// The states of an operation.
const (
	OperationRunning              = "RUNNING"
	OperationCompleted            = "COMPLETED"
	OperationCompletedWithWarning = "COMPLETED_WITH_WARNING"
	OperationFailed               = "FAILED"
)

// Operation is an operation of the Data API: an export of transactions, made in the background.
type Operation struct {
	ID      int64  `db:"id"` // counts the operations of the world from 1
	UUID    []byte `db:"uuid"`
	Status  string `db:"status"`
	Code    string `db:"code"` // explains the status; may be empty
	Message string `db:"message"`
	Created int64  `db:"created"` // Unix seconds of the world's clock, as Updated
	Updated int64  `db:"updated"`
	ExportFile
	Request string `db:"request"` // JSON
}

// ExportFile sums up an export's file, or what there is of it so far.
type ExportFile struct {
	Size    int64  `db:"size"` // bytes
	Rows    int64  `db:"rows"`
	Reached int64  `db:"reached"` // the time of the last row, Unix seconds
	Next    int64  `db:"next"`    // the day with which another export would go on, Unix seconds; 0 for none
	Content []byte `db:"content"` // SHA-256; empty for an unfinished file
}

// Name returns the UUID as clients write it.
func (o *Operation) Name() string {
	text := hex.EncodeToString(o.UUID)
	if len(text) != 32 {
		return text
	}
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// Complete reports whether there is a file.
func (o *Operation) Complete() bool {
	return o.Status == OperationCompleted || o.Status == OperationCompletedWithWarning
}

// Digest covers the whole row.
func (o *Operation) Digest() []byte {
	h := sha256.New()
	for _, n := range []int64{o.ID, o.Created, o.Updated, o.Next, o.Size, o.Rows, o.Reached} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	for _, text := range [][]byte{o.UUID, []byte(o.Status), []byte(o.Code), []byte(o.Message), o.Content, []byte(o.Request)} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		h.Write(text)
	}
	return h.Sum(nil)
}

// OperationDigest is an operation's number and stored digest.
type OperationDigest struct {
	ID     int64  `db:"id"`
	Digest []byte `db:"digest"`
}

const operationColumns = `id, uuid, status, code, message, created, updated, next, size, rows, reached, content, request`

// Operation reads an operation by its number.
func (db *DB) Operation(ctx context.Context, id int64) (*Operation, error) {
	return Get[Operation](ctx, db, `SELECT `+operationColumns+` FROM operation WHERE id = ?`, id)
}

// OperationByUUID reads an operation by its UUID.
func (db *DB) OperationByUUID(ctx context.Context, uuid []byte) (*Operation, error) {
	return Get[Operation](ctx, db, `SELECT `+operationColumns+` FROM operation WHERE uuid = ?`, uuid)
}

// Operations lists the operations with numbers below one, the newest first.
func (db *DB) Operations(ctx context.Context, before int64, limit int) ([]Operation, error) {
	return List[Operation](ctx, db, `SELECT `+operationColumns+` FROM operation WHERE id > 0 AND id < ? ORDER BY id DESC LIMIT ?`, before, limit)
}

// OperationDigests lists the digests of the operations up to a number, in order.
func (db *DB) OperationDigests(ctx context.Context, last int64) ([]OperationDigest, error) {
	return List[OperationDigest](ctx, db, `SELECT id, digest FROM operation WHERE id BETWEEN 1 AND ? ORDER BY id`, last)
}

// RunningOperations lists the numbers of unfinished operations, in order.
func (db *DB) RunningOperations(ctx context.Context) ([]int64, error) {
	return List[int64](ctx, db, `SELECT id FROM operation WHERE status = 'RUNNING' AND id > 0 ORDER BY id`)
}

// EndedOperations lists the numbers of operations that ended by a time, in Unix seconds.
func (db *DB) EndedOperations(ctx context.Context, until int64) ([]int64, error) {
	return List[int64](ctx, db, `SELECT id FROM operation WHERE status <> 'RUNNING' AND updated <= ? ORDER BY updated, id`, until)
}

// PutOperation writes a new operation, or an operation's new state.
func (b *Batch) PutOperation(o *Operation) error {
	return b.exec(`INSERT OR REPLACE INTO operation (digest, `+operationColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.Digest(), o.ID, o.UUID, o.Status, o.Code, o.Message, o.Created, o.Updated, o.Next, o.Size, o.Rows, o.Reached, o.Content, o.Request)
}

// DropOperation deletes an operation.
func (b *Batch) DropOperation(id int64) error {
	return b.exec(`DELETE FROM operation WHERE id = ?`, id)
}
