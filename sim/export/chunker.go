package export

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// chunkSize ends a chunk with the transaction that reaches it.
const chunkSize = 256 << 10

var errTooLong = errors.New("the file has too many chunks")

// Chunker makes an export's file, chunk by chunk.
type Chunker struct {
	scope     Scope
	operation int64
	walk      *Scanner
	next      *Event // read, but in no chunk yet
	first     int64  // the day of the file's first row
	last      store.ChunkInfo
	number    int // of the next chunk
	deflater  *flate.Writer
}

// NewChunker makes the missing chunks of an operation's file, after the last one there is.
func NewChunker(ctx context.Context, w *sim.World, s Scope, operation int64, last *store.ChunkInfo) (*Chunker, error) {
	c := &Chunker{scope: s, operation: operation}
	var err error
	if c.deflater, err = flate.NewWriter(nil, flate.BestSpeed); err != nil {
		return nil, err
	}
	if c.walk, err = NewScanner(ctx, w, s, nil); err != nil {
		return nil, err
	}
	if c.next, err = c.walk.Next(ctx); err != nil {
		return nil, err
	}
	if c.next != nil {
		c.first = metric.Day.Start(c.next.Time)
	}
	if last == nil {
		return c, nil
	}
	c.last, c.number = *last, int(last.ID-store.NewChunkID(operation, 0))+1
	if c.walk, err = NewScanner(ctx, w, s, &Position{last.Reached, last.ChainIndex, last.At}); err != nil {
		return nil, err
	}
	c.next, err = c.walk.Next(ctx)
	return c, err
}

// Step is the next step of an export: a chunk, perhaps the last, or, when the file would have too many rows, the day before which it must
// end.
type Step struct {
	Chunk *store.Chunk
	Last  bool
	Full  int64 // Unix seconds, the beginning of the day
}

// Next makes the next chunk.
func (c *Chunker) Next(ctx context.Context) (*Step, error) {
	var text []byte
	if c.number == 0 {
		text = c.scope.Type.header()
	}
	piece := store.ChunkInfo{ID: store.NewChunkID(c.operation, c.number), Start: c.last.Start + c.last.Size, Rows: c.last.Rows, Sum: c.last.Sum,
		Reached: c.last.Reached, ChainIndex: c.last.ChainIndex, At: c.last.At}
	for c.next != nil && len(text) < chunkSize {
		e := c.next
		if full := c.full(piece.Rows, e); full {
			return &Step{Full: metric.Day.Start(e.Time)}, nil
		}
		text = append(text, e.Text...)
		piece.Rows += int64(e.Rows)
		piece.Reached, piece.ChainIndex, piece.At = e.Time, e.Chain, e.At
		var err error
		if c.next, err = c.walk.Next(ctx); err != nil {
			return nil, err
		}
	}
	if c.number == store.MaxChunks {
		return nil, errTooLong
	}
	chunk := &store.Chunk{ChunkInfo: piece}
	chunk.Size, chunk.Sum = int64(len(text)), crc32.Update(piece.Sum, crc32.IEEETable, text)
	var err error
	if chunk.Data, err = c.deflate(text); err != nil {
		return nil, err
	}
	chunk.Stored = int64(len(chunk.Data))
	chunk.Seal(c.last.Digest)
	c.last = chunk.ChunkInfo
	c.number++
	return &Step{Chunk: chunk, Last: c.next == nil}, nil
}

// full reports that the file cannot hold a transaction's rows. A day's rows stay together, so the first day's always fit.
func (c *Chunker) full(rows int64, e *Event) bool {
	return c.scope.MaxRows > 0 && rows+int64(e.Rows) > c.scope.MaxRows && metric.Day.Start(e.Time) > c.first
}

// deflate compresses a text into whole, non-final blocks, so that others can follow.
func (c *Chunker) deflate(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	c.deflater.Reset(&packed)
	if _, err := c.deflater.Write(text); err != nil {
		return nil, err
	}
	err := c.deflater.Flush()
	return packed.Bytes(), err
}

// inflate returns a chunk's text.
func inflate(c *store.Chunk) ([]byte, error) {
	text := make([]byte, c.Size)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(c.Data)), text); err != nil {
		return nil, fmt.Errorf("chunk %d: %w", c.ID, err)
	}
	return text, nil
}

var errDifferent = errors.New("its text is not what the export leads to")

// Same compares the contents of two chunks.
func Same(have, want *store.Chunk) error {
	a, err := inflate(have)
	if err != nil {
		return err
	}
	b, err := inflate(want)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return errDifferent
	}
	return nil
}
