package dbfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ErrForeignLog means that the log beside a file, which has the file's name, belongs to another file.
var ErrForeignLog = errors.New("is not the log of this file")

// SQLite takes whatever is called FILE-wal for the write-ahead log of FILE: it would write the log of an earlier or replaced file over
// pages that do not belong to it. So every commit gives the file a new state, in the table lineage, and keeps the previous one: a log
// belongs to a file that has one of the log's states, or the state that the log's first commit followed. The table occupies the second page
// of the file alone. This package reads it from the bytes, because the engine would begin to recover. See
// https://sqlite.org/fileformat2.html, sections 1.6 and 4.

// LineagePage is the page of the table lineage.
const LineagePage = 2

// State identifies one of the states that a file goes through.
type State [sha256.Size]byte

func (s State) Next(digest []byte) State { return sha256.Sum256(slices.Concat(s[:], digest)) }

// Layout of a log and a page, by SQLite's file format.
const (
	logHeaderLength   = 32
	frameHeaderLength = 24
	logMagic          = 0x377f0682 // the lowest bit gives the byte order of checksums
	tableLeaf         = 0x0d       // type of a page with rows
)

// cellStart is the beginning of the lineage table's only row in its page: 68 bytes with the rowid 1, made of a header of four bytes, NULL
// for the rowid, and two blobs of 32 bytes.
var cellStart = []byte{68, 1, 4, 0, 2*32 + 12, 2*32 + 12}

// lineageOf parses the states on the page of the table lineage.
func lineageOf(page []byte) (parent, now State, ok bool) {
	if len(page) < 10 || page[0] != tableLeaf || binary.BigEndian.Uint16(page[3:]) != 1 {
		return parent, now, false
	}
	cell := page[min(int(binary.BigEndian.Uint16(page[8:])), len(page)):]
	if len(cell) < len(cellStart)+2*len(parent) || !bytes.HasPrefix(cell, cellStart) {
		return parent, now, false
	}
	cell = cell[len(cellStart):]
	return State(cell[:32]), State(cell[32:64]), true
}

// CheckLogs refuses a file if the engine would apply a foreign log that lies beside it.
func CheckLogs(path string) error {
	if err := checkJournal(path + "-journal"); err != nil {
		return err
	}
	log, err := os.Open(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	// A process that serves the world may restart its log meanwhile.
	for range 100 {
		before, own, err := ownLog(path, log)
		if own || err != nil {
			return err
		}
		after := make([]byte, logHeaderLength)
		if _, err := log.ReadAt(after, 0); err == nil && bytes.Equal(before, after) {
			break
		}
	}
	return foreign(path + "-wal")
}

func foreign(path string) error {
	return fmt.Errorf("%s %w; move it away to open the file as it is, or put back the file that it belongs to", path, ErrForeignLog)
}

// checkJournal refuses a rollback journal that the engine would play back. A world never has one.
func checkJournal(path string) error {
	first := make([]byte, 1)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if n, err := file.Read(first); n == 0 || first[0] == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
	return foreign(path)
}

// ownLog reports whether the log belongs to the file or has nothing to recover, and returns the header it read.
func ownLog(path string, log *os.File) (header []byte, own bool, err error) {
	header = make([]byte, logHeaderLength)
	switch _, err := log.ReadAt(header, 0); {
	case errors.Is(err, io.EOF): // the engine treats it as empty
		return header, true, nil
	case err != nil:
		return nil, false, err
	}
	now, err := stateOf(path)
	if err != nil {
		return nil, false, err
	}
	states, commits, err := readLog(log, header)
	return header, commits == 0 || now != nil && slices.Contains(states, *now), err
}

// stateOf reads the state of a file without its log, nil if it has none.
func stateOf(path string) (*State, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	header := make([]byte, headerLength)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(header[headerPageSize:]))
	if size == 1 {
		size = 1 << 16
	}
	page := make([]byte, size)
	if _, err := file.ReadAt(page, int64(len(page))*(LineagePage-1)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, now, ok := lineageOf(page); ok {
		return &now, nil
	}
	return nil, nil
}

// readLog counts the commits in a log as the engine would, up to the first incomplete frame, and lists the states that the log's file can
// have.
func readLog(log io.ReaderAt, header []byte) (states []State, commits int, err error) {
	magic, pageSize := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum{order: order}
	sum.add(header[:24])
	if magic&^1 != logMagic || pageSize < 1<<9 || pageSize > 1<<16 || pageSize&(pageSize-1) != 0 || !sum.is(header[24:]) {
		return nil, 0, nil // the engine ignores such a log
	}
	frame := make([]byte, frameHeaderLength+pageSize)
	var open []State // of the transaction being read
	for at := int64(logHeaderLength); ; at += int64(len(frame)) {
		if _, err := log.ReadAt(frame, at); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return states, commits, err
		}
		page := frame[frameHeaderLength:]
		sum.add(frame[:8])
		sum.add(page)
		if !bytes.Equal(frame[8:16], header[16:24]) || !sum.is(frame[16:24]) {
			return states, commits, nil
		}
		if binary.BigEndian.Uint32(frame) == LineagePage {
			if parent, now, ok := lineageOf(page); ok {
				open = append(open, parent, now)
			}
		}
		if binary.BigEndian.Uint32(frame[4:]) > 0 { // the last frame of a transaction
			states, open = append(states, open...), nil
			commits++
		}
	}
}

// checksum computes the running checksum of a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.s0 += c.order.Uint32(data) + c.s1
		c.s1 += c.order.Uint32(data[4:]) + c.s0
	}
}

func (c *checksum) is(sum []byte) bool {
	return binary.BigEndian.Uint32(sum) == c.s0 && binary.BigEndian.Uint32(sum[4:]) == c.s1
}
