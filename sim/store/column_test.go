package store

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPackedColumnsComeBack keeps random bytes, some of which repeat themselves, and numbers.
func TestPackedColumnsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := Packed{}
		for p = append(p, byte(r.Uint32())); len(p) < 700 && r.IntN(20) > 0; {
			switch r.IntN(3) {
			case 0:
				p = append(p, make([]byte, r.IntN(40))...)
			case 1:
				p = append(p, byte(r.Uint32()))
			case 2:
				p = append(p, p[max(len(p)-60, 0):len(p)-r.IntN(min(len(p), 60))]...)
			}
		}
		kept, err := p.Value()
		if err != nil {
			t.Fatal(err)
		}
		if size := len(kept.([]byte)); size > len(p)+1 {
			t.Errorf("%d bytes are kept in %d", len(p), size)
		}
		var back Packed
		if err := back.Scan(kept); err != nil || !bytes.Equal(back, p) {
			t.Fatalf("%.99x came back as %.99x, %v", p, back, err)
		}
		w, number := make(Word, wordBytes), Word(nil)
		for i := r.IntN(wordBytes + 1); i < wordBytes; i++ {
			w[i] = byte(r.Uint32())
		}
		if kept, err = w.Value(); err != nil {
			t.Fatal(err)
		}
		if err := number.Scan(kept); err != nil || !bytes.Equal(number, w) {
			t.Fatalf("%x came back as %x, %v", w, number, err)
		}
	}
}

// TestPackingSavesRoom: a header's bloom filter of zeros takes next to nothing.
func TestPackingSavesRoom(t *testing.T) {
	kept, err := Packed(append(bytes.Repeat(hash, 3), make([]byte, 256)...)).Value()
	if size := len(kept.([]byte)); err != nil || size > 60 {
		t.Errorf("kept in %d bytes, %v", size, err)
	}
}

// TestWhatIsNotPackedIsRefused: what no Value gives is damage, and takes no memory.
func TestWhatIsNotPackedIsRefused(t *testing.T) {
	for _, kept := range []any{nil, int64(1), "text", []byte{}, []byte{2, 1}, []byte{compressed}, []byte{compressed, 5, 0}, []byte{compressed, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}} {
		if err := new(Packed).Scan(kept); err == nil {
			t.Errorf("bytes: %v was read", kept)
		}
	}
	for _, kept := range []any{nil, int64(1), []byte{0, 1}, make([]byte, 33)} {
		if err := new(Word).Scan(kept); err == nil {
			t.Errorf("a number: %v was read", kept)
		}
	}
}
