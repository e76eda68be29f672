package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
)

// ChunkID orders the chunks of all exports: by operation, then their count from 0.
type ChunkID int64

const chunkBits = 24

// MaxChunks is how many chunks a file can have.
const MaxChunks = 1 << chunkBits

// NumberChunk is the id of the n-th chunk of an operation's file.
func NumberChunk(operation int64, n int) ChunkID { return ChunkID(operation<<chunkBits | int64(n)) }

// Piece says where in an export's file a chunk is. The file goes on after it as if nothing had come between.
type Piece struct {
	ID      ChunkID
	Start   int64  // where in the file it begins
	Size    int64  // bytes of the file
	Stored  int64  // bytes of the data, deflated
	Rows    int64  // of the file up to and with this chunk
	Sum     uint32 // CRC-32 of the file up to and with this chunk
	Reached int64  // the time of its last transaction, Unix seconds
	Lane    int    // that transaction's chain, by its place in the request
	At      Position
	Digest  []byte
}

// Chunk is a piece of an export's file with its bytes.
type Chunk struct {
	Piece
	Data []byte // deflated
}

// Seal computes the digest, which covers the chunks before and everything in this one.
func (c *Chunk) Seal(before []byte) {
	h := sha256.New()
	h.Write(before)
	for _, n := range []int64{int64(c.ID), c.Start, c.Size, c.Rows, int64(c.Sum), c.Reached, int64(c.Lane), int64(c.At)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	h.Write(c.Data)
	c.Digest = h.Sum(nil)
}

const pieceColumns = `id, start, size, length(data), rows, sum, reached, lane, at, digest`

func (p *Piece) fields() []any {
	return []any{&p.ID, &p.Start, &p.Size, &p.Stored, &p.Rows, &p.Sum, &p.Reached, &p.Lane, &p.At, &p.Digest}
}

// Pieces lists the chunks of an operation's file from one number up to another, without their bytes.
func (db *DB) Pieces(ctx context.Context, operation int64, first, last int) ([]Piece, error) {
	return many(ctx, db, `SELECT `+pieceColumns+` FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{NumberChunk(operation, first), NumberChunk(operation, last)},
		func(r *sql.Rows, p *Piece) error { return r.Scan(p.fields()...) })
}

// Chunk reads a chunk of an operation's file.
func (db *DB) Chunk(ctx context.Context, operation int64, n int) (*Chunk, error) {
	var c Chunk
	err := db.one(ctx, `SELECT `+pieceColumns+`, data FROM chunk WHERE id = ?`, []any{NumberChunk(operation, n)}, append(c.fields(), &c.Data)...)
	return &c, err
}

// AddChunk writes a chunk.
func (b *Batch) AddChunk(c *Chunk) error {
	return b.exec(`INSERT INTO chunk (id, start, size, rows, sum, reached, lane, at, digest, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Start, c.Size, c.Rows, c.Sum, c.Reached, c.Lane, c.At, c.Digest, c.Data)
}

// DropChunks deletes the chunks of an operation's file from one number on.
func (b *Batch) DropChunks(operation int64, first int) error {
	return b.exec(`DELETE FROM chunk WHERE id BETWEEN ? AND ?`, NumberChunk(operation, first), NumberChunk(operation, MaxChunks-1))
}
