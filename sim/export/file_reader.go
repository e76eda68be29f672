package export

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"snowglobe/sim/store"
)

// FileReader reads an export's file from its chunks, holding one at a time.
type FileReader struct {
	parts  []part
	size   int64
	offset int64

	current int // the last part read, -1 for none
	data    []byte
}

// part is a run of bytes of a file, fetched on demand.
type part struct {
	start int64
	fetch func() ([]byte, error)
}

var errSeek = errors.New("there is no such place in the file")

// Bytes around the chunks of a gzip file: a header without name and time, and an empty last block.
var (
	gzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	gzipEnd  = []byte{0x03, 0x00}
)

const gzipTail = 2 + 4 + 4

// OpenFile opens an operation's file, plain or gzipped.
func OpenFile(ctx context.Context, db *store.DB, o *store.Operation, zipped bool) (*FileReader, error) {
	pieces, err := db.ChunkInfos(ctx, o.ID, 0, o.Chunks-1)
	if err != nil {
		return nil, err
	}
	if len(pieces) != o.Chunks || len(pieces) == 0 {
		return nil, fmt.Errorf("operation %d: it has %d chunks of %d: %w", o.ID, len(pieces), o.Chunks, store.ErrNotFound)
	}
	c := &FileReader{current: -1}
	if zipped {
		c.add(int64(len(gzipHead)), func() ([]byte, error) { return gzipHead, nil })
	}
	for n := range pieces {
		size := pieces[n].Size
		if zipped {
			size = pieces[n].Stored
		}
		c.add(size, func() ([]byte, error) {
			chunk, err := db.Chunk(ctx, o.ID, n)
			if err != nil || zipped {
				return chunk.Data, err
			}
			return inflate(chunk)
		})
	}
	if zipped {
		last := pieces[len(pieces)-1]
		c.add(gzipTail, func() ([]byte, error) {
			tail := binary.LittleEndian.AppendUint32(append([]byte{}, gzipEnd...), last.Sum)
			return binary.LittleEndian.AppendUint32(tail, uint32(last.Start+last.Size)), nil
		})
	}
	return c, nil
}

func (c *FileReader) add(size int64, fetch func() ([]byte, error)) {
	c.parts = append(c.parts, part{c.size, fetch})
	c.size += size
}

// Size returns the length of the file in bytes.
func (c *FileReader) Size() int64 { return c.size }

// Read continues where the last Read or Seek ended.
func (c *FileReader) Read(p []byte) (int, error) {
	if c.offset >= c.size {
		return 0, io.EOF
	}
	n := sort.Search(len(c.parts), func(i int) bool { return c.parts[i].start > c.offset }) - 1
	if n != c.current {
		data, err := c.parts[n].fetch()
		if err != nil {
			return 0, err
		}
		c.current, c.data = n, data
	}
	from := c.offset - c.parts[n].start
	if from >= int64(len(c.data)) {
		return 0, io.ErrUnexpectedEOF
	}
	copied := copy(p, c.data[from:])
	c.offset += int64(copied)
	return copied, nil
}

// Seek sets the start of the next Read.
func (c *FileReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errSeek
	}
	c.offset = offset
	return offset, nil
}
