package txs

import (
	"bytes"
	"testing"

	"github.com/ava-labs/avalanchego/utils/formatting"
)

// addRecorded adds a real node's responses to the corpus.
func addRecorded(f *testing.F, name string) {
	for _, r := range readRecorded(f, name)[:20] {
		raw, err := formatting.Decode(formatting.Hex, r.Hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(r.chain()), raw)
	}
	f.Add(uint8(CChain), []byte{0, 0})
	f.Add(uint8(PChain), []byte{})
}

// FuzzTx parses transactions as clients send them. A parsed one has the same bytes, and can be shown.
func FuzzTx(f *testing.F) {
	addRecorded(f, "transactions.jsonl")
	f.Fuzz(func(t *testing.T, chain uint8, raw []byte) {
		tx, err := ParseTx(Chain(chain%3), raw)
		if err != nil {
			return
		}
		if !bytes.Equal(tx.Bytes(), raw) {
			t.Errorf("%x became %x", raw, tx.Bytes())
		}
		if again, err := ParseTx(Chain(chain%3), tx.Bytes()); err != nil || again.ID() != tx.ID() {
			t.Errorf("%x is not read again: %v", raw, err)
		}
	})
}

// FuzzBlock reads blocks, outputs and atomic transactions.
func FuzzBlock(f *testing.F) {
	addRecorded(f, "blocks.jsonl")
	f.Fuzz(func(t *testing.T, chain uint8, raw []byte) {
		c := Chain(chain % 3)
		if c != CChain {
			if b, err := ParseBlock(c, raw); err == nil && len(b.Txs()) > len(raw) {
				t.Errorf("%d transactions in %d bytes", len(b.Txs()), len(raw))
			}
		}
		if u, err := ParseUTXO(c, raw); err == nil && u == nil {
			t.Error("no output and no error")
		}
		if all, err := ParseAtomicBatch(raw); err == nil && len(all) > len(raw) {
			t.Errorf("%d transactions in %d bytes", len(all), len(raw))
		}
	})
}
