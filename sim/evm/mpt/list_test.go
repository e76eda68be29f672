package mpt_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/sim/evm/mpt"
)

type values [][]byte

func (v values) Len() int                           { return len(v) }
func (v values) EncodeIndex(i int, w *bytes.Buffer) { w.Write(v[i]) }

// TestListIsThatOfGoEthereum hashes lists of all lengths whose indexes have one or two bytes, and some whose indexes have three, one after another,
// with values from embedded ones to ones whose length takes three bytes.
func TestListIsThatOfGoEthereum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	lengths := append(r.Perm(300), 0, 1, 1000, 70000, 2, 0)
	ours, theirs := mpt.NewList(), trie.NewStackTrie(nil)
	for _, length := range lengths {
		list := make(values, length)
		longest := []int{2, 60, 140, 800}[r.IntN(4)]
		for i := range list {
			list[i] = make([]byte, 1+r.IntN(longest))
			for at := range list[i] {
				list[i][at] = byte(r.Uint32())
			}
		}
		if length > 0 && length < 20 {
			list[r.IntN(length)] = bytes.Repeat([]byte{1}, r.IntN(1<<17)+1)
		}
		if got, want := types.DeriveSha(list, ours), types.DeriveSha(list, theirs); got != want {
			t.Fatalf("%d values of up to %d bytes: root %s, go-ethereum's is %s", length, longest, got, want)
		}
	}
}
