package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
)

// The states of an operation.
const (
	Running   = "RUNNING"
	Completed = "COMPLETED"
	Warned    = "COMPLETED_WITH_WARNING"
	Broken    = "FAILED"
)

// Operation is something that a client asked to be done in the background: an export of transactions.
type Operation struct {
	ID      int64 // counts the operations of the world from 1
	UUID    []byte
	Status  string
	Code    string // what is to say about the status, empty for nothing
	Message string
	Created int64 // Unix seconds of the world's clock, as Updated
	Updated int64
	Next    int64 // the day with which another export would go on, Unix seconds; 0 for none
	Chunks  int   // how many there are of its file so far
	Size    int64 // their bytes
	Rows    int64 // and rows
	Reached int64 // the time of the last row, Unix seconds
	Content []byte
	Request string // JSON
}

// Name is the UUID as clients write it.
func (o *Operation) Name() string {
	text := hex.EncodeToString(o.UUID)
	if len(text) != 32 {
		return text
	}
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// Digest covers the whole row.
func (o *Operation) Digest() []byte {
	h := sha256.New()
	for _, n := range []int64{o.ID, o.Created, o.Updated, o.Next, int64(o.Chunks), o.Size, o.Rows, o.Reached} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	for _, text := range [][]byte{o.UUID, []byte(o.Status), []byte(o.Code), []byte(o.Message), o.Content, []byte(o.Request)} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		h.Write(text)
	}
	return h.Sum(nil)
}

// OperationDigest is an operation's number with what its row says that its digest is.
type OperationDigest struct {
	ID     int64
	Digest []byte
}

const operationColumns = `id, uuid, status, code, message, created, updated, next, chunks, size, rows, reached, content, request`

func (o *Operation) fields() []any {
	return []any{&o.ID, &o.UUID, &o.Status, &o.Code, &o.Message, &o.Created, &o.Updated, &o.Next, &o.Chunks, &o.Size, &o.Rows,
		&o.Reached, &o.Content, &o.Request}
}

// Operation reads an operation by its number.
func (db *DB) Operation(ctx context.Context, id int64) (*Operation, error) {
	var o Operation
	err := db.one(ctx, `SELECT `+operationColumns+` FROM operation WHERE id = ?`, []any{id}, o.fields()...)
	return &o, err
}

// OperationByUUID reads an operation by its name.
func (db *DB) OperationByUUID(ctx context.Context, uuid []byte) (*Operation, error) {
	var o Operation
	err := db.one(ctx, `SELECT `+operationColumns+` FROM operation WHERE uuid = ?`, []any{uuid}, o.fields()...)
	return &o, err
}

// OperationDigests lists the digests of the operations up to a number, in order.
func (db *DB) OperationDigests(ctx context.Context, last int64) ([]OperationDigest, error) {
	return many(ctx, db, `SELECT id, digest FROM operation WHERE id BETWEEN 1 AND ? ORDER BY id`, []any{last},
		func(r *sql.Rows, d *OperationDigest) error { return r.Scan(&d.ID, &d.Digest) })
}

// RunningOperations lists the numbers of those that have not come to an end, in order.
func (db *DB) RunningOperations(ctx context.Context) ([]int64, error) {
	return many(ctx, db, `SELECT id FROM operation WHERE status = 'RUNNING' AND id > 0 ORDER BY id`, nil, scanNumber)
}

// EndedOperations lists the numbers of those that came to an end at a time or before, in Unix seconds.
func (db *DB) EndedOperations(ctx context.Context, until int64) ([]int64, error) {
	return many(ctx, db, `SELECT id FROM operation WHERE status <> 'RUNNING' AND updated <= ? ORDER BY updated, id`, []any{until}, scanNumber)
}

func scanNumber(r *sql.Rows, n *int64) error { return r.Scan(n) }

// PutOperation writes an operation, a new one or what became of it.
func (b *Batch) PutOperation(o *Operation) error {
	return b.exec(`INSERT OR REPLACE INTO operation (digest, `+operationColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.Digest(), o.ID, o.UUID, o.Status, o.Code, o.Message, o.Created, o.Updated, o.Next, o.Chunks, o.Size, o.Rows, o.Reached, o.Content, o.Request)
}

// DropOperation deletes an operation. Its chunks are deleted with DropChunks.
func (b *Batch) DropOperation(id int64) error {
	return b.exec(`DELETE FROM operation WHERE id = ?`, id)
}
