package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// reportStep is the number of bytes between two reports of a file's progress.
const reportStep = 256 << 10

// Measure makes a scope's file and discards it, to learn its size, rows and digest, and the day before which the row limit ends it. report,
// if any, receives the progress.
func Measure(ctx context.Context, w *sim.World, s Scope, report func(store.ExportFile) error) (file store.ExportFile, err error) {
	scan, err := NewScanner(ctx, w, s)
	if err != nil {
		return file, err
	}
	hash, header := sha256.New(), s.Type.header()
	hash.Write(header)
	file.Size = int64(len(header))
	var earlier store.ExportFile // the file without the day of the current event
	var day, reported int64
	for {
		e, err := scan.Next(ctx)
		if err != nil || e == nil {
			file.Content = hash.Sum(nil)
			return file, err
		}
		if start := metric.Day.Start(e.Time); start != day {
			earlier, day = file, start
			earlier.Content, earlier.Next = hash.Sum(nil), start
		}
		if s.MaxRows > 0 && file.Rows+int64(e.Rows) > s.MaxRows && earlier.Rows > 0 {
			return earlier, nil
		}
		hash.Write(e.Text)
		file.Size, file.Rows, file.Reached = file.Size+int64(len(e.Text)), file.Rows+int64(e.Rows), e.Time
		if report == nil || file.Size < reported+reportStep {
			continue
		}
		reported, file.Content = file.Size, []byte{}
		if err := report(file); err != nil {
			return file, err
		}
	}
}

// Content returns the file of a complete export, which is made as it is read. Reading backwards starts it over.
func (e *Jobs) Content(ctx context.Context, o *store.Operation) (io.ReadSeeker, error) {
	scope, err := ParseScope(o.Request)
	return io.NewSectionReader(&content{ctx: ctx, world: e.world, scope: scope.Before(o.Next)}, 0, o.Size), err
}

// content is a file of which one transaction's rows are in memory.
type content struct {
	ctx   context.Context
	world *sim.World
	scope Scope

	scan  *Scanner // nil before the first read
	text  []byte
	start int64 // of text in the file
}

var errRewound = errors.New("the world was rewound during the download")

// ReadAt makes the file from the last text on, or from the beginning if the offset lies before that.
func (c *content) ReadAt(p []byte, offset int64) (n int, err error) {
	if c.scan == nil || offset < c.start {
		if c.scan, err = NewScanner(c.ctx, c.world, c.scope); err != nil {
			return 0, err
		}
		c.text, c.start = c.scope.Type.header(), 0
	}
	for n < len(p) {
		if at := offset + int64(n) - c.start; at < int64(len(c.text)) {
			n += copy(p[n:], c.text[at:])
			continue
		}
		e, err := c.scan.Next(c.ctx)
		if err != nil {
			return n, err
		}
		if e == nil {
			return n, io.ErrUnexpectedEOF
		}
		c.start, c.text = c.start+int64(len(c.text)), e.Text
	}
	if sim.Overtaken(c.ctx) {
		return 0, errRewound
	}
	return n, nil
}
