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
	Code    string `db:"code"` // what is to say about the status, empty for nothing
	Message string `db:"message"`
	Created int64  `db:"created"` // Unix seconds of the world's clock, as Updated
	Updated int64  `db:"updated"`
	Next    int64  `db:"next"`    // the day with which another export would go on, Unix seconds; 0 for none
	Chunks  int    `db:"chunks"`  // how many there are of its file so far
	Size    int64  `db:"size"`    // their bytes
	Rows    int64  `db:"rows"`    // and rows
	Reached int64  `db:"reached"` // the time of the last row, Unix seconds
	Content []byte `db:"content"`
	Request string `db:"request"` // JSON
}

// Name returns the UUID as clients write it.
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

// OperationDigest is an operation's number and stored digest.
type OperationDigest struct {
	ID     int64  `db:"id"`
	Digest []byte `db:"digest"`
}

const operationColumns = `id, uuid, status, code, message, created, updated, next, chunks, size, rows, reached, content, request`

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
	return b.exec(`INSERT OR REPLACE INTO operation (digest, `+operationColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.Digest(), o.ID, o.UUID, o.Status, o.Code, o.Message, o.Created, o.Updated, o.Next, o.Chunks, o.Size, o.Rows, o.Reached, o.Content, o.Request)
}

// DropOperation deletes an operation. Its chunks are deleted with DropChunks.
func (b *Batch) DropOperation(id int64) error {
	return b.exec(`DELETE FROM operation WHERE id = ?`, id)
}

// ChunkID orders the chunks of all exports: by operation, then by number from 0.
type ChunkID int64

const chunkBits = 24

// MaxChunks is the most chunks a file can have.
const MaxChunks = 1 << chunkBits

// NewChunkID returns the id of the n-th chunk of an operation's file.
func NewChunkID(operation int64, n int) ChunkID { return ChunkID(operation<<chunkBits | int64(n)) }

// ChunkInfo locates a chunk in an export's file, which continues after it without a gap.
type ChunkInfo struct {
	ID         ChunkID  `db:"id"`
	Start      int64    `db:"start"`   // where in the file it begins
	Size       int64    `db:"size"`    // bytes of the file
	Stored     int64    `db:"stored"`  // bytes of the data, deflated
	Rows       int64    `db:"rows"`    // of the file up to and with this chunk
	Sum        uint32   `db:"sum"`     // CRC-32 of the file up to and with this chunk
	Reached    int64    `db:"reached"` // the time of its last transaction, Unix seconds
	ChainIndex int      `db:"lane"`    // that transaction's chain, by its index in the request
	At         Position `db:"at"`
	Digest     []byte   `db:"digest"`
}

// Chunk is a piece of an export's file with its bytes.
type Chunk struct {
	ChunkInfo
	Data []byte `db:"data"` // deflated
}

// Seal computes the digest, which covers the earlier chunks and everything in this one.
func (c *Chunk) Seal(before []byte) {
	h := sha256.New()
	h.Write(before)
	for _, n := range []int64{int64(c.ID), c.Start, c.Size, c.Rows, int64(c.Sum), c.Reached, int64(c.ChainIndex), int64(c.At)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	h.Write(c.Data)
	c.Digest = h.Sum(nil)
}

const chunkInfoColumns = `id, start, size, length(data) AS stored, rows, sum, reached, lane, at, digest`

// ChunkInfos lists the chunks of an operation's file from one number up to another, without their bytes.
func (db *DB) ChunkInfos(ctx context.Context, operation int64, first, last int) ([]ChunkInfo, error) {
	return List[ChunkInfo](ctx, db, `SELECT `+chunkInfoColumns+` FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id`,
		NewChunkID(operation, first), NewChunkID(operation, last))
}

// Chunk reads a chunk of an operation's file.
func (db *DB) Chunk(ctx context.Context, operation int64, n int) (*Chunk, error) {
	return Get[Chunk](ctx, db, `SELECT `+chunkInfoColumns+`, data FROM chunk WHERE id = ?`, NewChunkID(operation, n))
}

// AddChunk writes a chunk.
func (b *Batch) AddChunk(c *Chunk) error {
	return b.exec(`INSERT INTO chunk (id, start, size, rows, sum, reached, lane, at, digest, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Start, c.Size, c.Rows, c.Sum, c.Reached, c.ChainIndex, c.At, c.Digest, c.Data)
}

// DropChunks deletes the chunks of an operation's file from one number on.
func (b *Batch) DropChunks(operation int64, first int) error {
	return b.exec(`DELETE FROM chunk WHERE id BETWEEN ? AND ?`, NewChunkID(operation, first), NewChunkID(operation, MaxChunks-1))
}
