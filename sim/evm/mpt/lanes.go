package mpt

import (
	"encoding/binary"

	"github.com/cloudflare/circl/simd/keccakf1600"
	"github.com/ethereum/go-ethereum/common"
)

const (
	laneCount  = 4
	stateWords = 25
	blockBytes = 136 // bytes that Keccak-256 absorbs between two permutations
)

// lanes permutes the states of four Keccak-256 sponges together, which takes little longer than permuting one.
type lanes struct {
	states keccakf1600.StateX4
	words  *[laneCount * stateWords]uint64 // the states: the first word of each, then the second of each
	lanes  [laneCount]lane
	busy   int // lanes with a message
}

// lane hashes one message.
type lane struct {
	job     int // the message's job
	message []byte
	at      int // bytes absorbed so far
	busy    bool
}

func (s *lanes) idle(i int) bool { return !s.lanes[i].busy }

// begin makes an idle lane hash a message. The buffer of the previous message is free again.
func (s *lanes) begin(i, job int, message []byte) (free []byte) {
	l := &s.lanes[i]
	free = l.message
	*l = lane{job, pad(message), 0, true}
	s.busy++
	return free
}

var padding = [blockBytes]byte{1}

// pad appends the end of a message: a bit, and another one at the end of the last block.
func pad(message []byte) []byte {
	end := len(message)/blockBytes*blockBytes + blockBytes
	message = append(message, padding[:end-len(message)]...)
	message[end-1] |= 0x80
	return message
}

// step absorbs a block of every message.
func (s *lanes) step() {
	if s.words == nil {
		s.words = (*[laneCount * stateWords]uint64)(s.states.Initialize(false))
	}
	for i := range s.lanes {
		if l := &s.lanes[i]; l.busy {
			s.absorb(i, (*[blockBytes]byte)(l.message[l.at:]), l.at == 0)
			l.at += blockBytes
		}
	}
	s.states.Permute()
}

func (s *lanes) absorb(lane int, block *[blockBytes]byte, first bool) {
	if first {
		for i := range stateWords {
			s.words[i*laneCount+lane] = 0
		}
	}
	for i := range blockBytes / 8 {
		s.words[i*laneCount+lane] ^= binary.LittleEndian.Uint64(block[i*8:])
	}
}

// finished reports whether a lane has absorbed its whole message, and returns the message's job. The lane is then idle.
func (s *lanes) finished(i int) (job int, finished bool) {
	l := &s.lanes[i]
	if !l.busy || l.at < len(l.message) {
		return 0, false
	}
	l.busy = false
	s.busy--
	return l.job, true
}

// hash returns the hash of the message that a lane finished last.
func (s *lanes) hash(lane int, to *[common.HashLength]byte) {
	for i := range common.HashLength / 8 {
		binary.LittleEndian.PutUint64(to[i*8:], s.words[i*laneCount+lane])
	}
}
