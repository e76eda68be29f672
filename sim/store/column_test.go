package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestPackedColumnsComeBack packs and unpacks random bytes, some of them repetitive or in the dictionary, and numbers.
func TestPackedColumnsComeBack(t *testing.T) {
	r, known := rand.New(rand.NewPCG(1, 2)), dictionary().Bytes()
	for n := range 2000 {
		p, most := Packed{}, 700
		if n%500 == 0 { // longer than S2's window
			most = 200_000
		}
		for p = append(p, byte(r.Uint32())); len(p) < most && (most > 700 || r.IntN(20) > 0); {
			switch r.IntN(4) {
			case 3:
				at := r.IntN(len(known))
				p = append(p, known[at:min(at+r.IntN(90), len(known))]...)
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

// TestPackingSavesRoom: a header's empty bloom filter takes almost no space.
func TestPackingSavesRoom(t *testing.T) {
	kept, err := Packed(append(bytes.Repeat(hash, 3), make([]byte, 256)...)).Value()
	if size := len(kept.([]byte)); err != nil || size > 60 {
		t.Errorf("kept in %d bytes, %v", size, err)
	}
}

// TestDictionaryGoesWithTheVersion: a file can be read only with the dictionary and the event numbers it was written with. Compressed bytes are the
// same on every processor, because verify compares files.
func TestDictionaryGoesWithTheVersion(t *testing.T) {
	sum := sha256.Sum256(append(dictionary().Bytes(), strings.Join(numberedEvents, " ")...))
	const version, want = 12, "b9b03ae80b5ebb5b08a6a3b7f82579ab8c456a7704a4b75abe9e820da96f2cce"
	if have := hex.EncodeToString(sum[:]); schemaVersion != version || have != want {
		t.Errorf("schema %d with dictionary and events %s, not %d with %s: raise schemaVersion, and change both here", schemaVersion, have, version, want)
	}
	kept := Packed(append(common.FromHex("f90269a0"+strings.Repeat("5c", 32)+"a01dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"), hash...)).kept()
	if have := hex.EncodeToString(kept); have != "016510f90269a05c7a010082eb0100aa6e010008aaaaaa" {
		t.Errorf("a header begins with %s", have)
	}
}

// TestURIsComeBack: for a base64 URI the file keeps the document, unless the encoder would write it differently.
func TestURIsComeBack(t *testing.T) {
	document := `{"name":"Snow Globes #1044","description":"A globe of glass, in which it snows. Ada found it at Pine."}`
	encoded := base64.StdEncoding.EncodeToString([]byte(document))
	for uri, most := range map[URI]int{
		"": 2, "ipfs://1": 10, documentPrefix: 2, URI(documentPrefix + encoded): 70,
		documentPrefix + "e31=": 34, documentPrefix + "e30": 34, documentPrefix + "e3 0=": 36, documentPrefix + "e30=\n": 36, documentPrefix + "\xff": 33,
		URI("data:application/json," + document): 90, URI(strings.ToUpper(documentPrefix)) + "e30=": 36,
	} {
		kept, err := uri.Value()
		if size := len(kept.([]byte)); err != nil || size > most {
			t.Errorf("%s is kept in %d bytes, %v", uri, size, err)
		}
		var back URI
		if err := back.Scan(kept); err != nil || back != uri {
			t.Errorf("%q came back as %q, %v", uri, back, err)
		}
	}
}

// TestTopicsComeBack packs and unpacks topics of events: hashes with any beginning, addresses and numbers.
func TestTopicsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		topics := make(Topics, wordBytes*r.IntN(maxTopics+1))
		for topic := range slices.Chunk(topics, wordBytes) {
			for i := r.IntN(wordBytes + 1); i < wordBytes; i++ {
				topic[i] = byte(r.Uint32())
			}
		}
		kept := topics.kept()
		var back Topics
		if err := back.Scan(kept); err != nil || !bytes.Equal(back, topics) || len(kept) > len(topics)+maxTopics {
			t.Fatalf("%x came back as %x of %x, %v", topics, back, kept, err)
		}
		if len(kept) > 0 { // damage is read as something else, or refused
			kept[r.IntN(len(kept))] = byte(r.Uint32())
			_ = back.Scan(kept[:r.IntN(len(kept)+1)])
		}
	}
	sent := make(Topics, 2*wordBytes)
	copy(sent[12:], address)
	if kept := sent.kept(); !bytes.Equal(kept, append(append([]byte{20}, address...), 0)) {
		t.Errorf("an address and 0 are kept as %x", kept)
	}
	copy(sent[wordBytes+11:], append([]byte{1}, address...)) // a hash that begins with eleven zeros is found by all of its bytes
	if kept := sent.kept(); !bytes.HasSuffix(kept, sent[wordBytes:]) {
		t.Errorf("a hash is kept as %x", kept)
	}
	for i, want := range append(numberedTopics(), Topic{}, hash) {
		kept := want.kept()
		if i < len(numberedTopics()) != (len(kept) == 1) {
			t.Errorf("%x is kept as %x", want, kept)
		}
		var back Topic
		if err := back.Scan(kept); err != nil || !bytes.Equal(back, want) {
			t.Errorf("%x came back as %x, %v", want, back, err)
		}
	}
	if warp := "56600c567728a800c0aa927500f831cb451df66a7af570eb4df4dfbf4674887d"; hex.EncodeToString(numberedTopics()[0]) != warp {
		t.Errorf("SendWarpMessage is %x, not %s", numberedTopics()[0], warp)
	}
}

// TestDamagedBytesAreNoPanic: damaged compressed bytes are read as other data or refused.
func TestDamagedBytesAreNoPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		kept := Packed(bytes.Repeat(append(make([]byte, 40), hash...), 1+r.IntN(4))).kept()
		for range 1 + r.IntN(4) {
			kept[1+r.IntN(len(kept)-1)] = byte(r.Uint32())
		}
		kept = kept[:1+r.IntN(len(kept))]
		var p Packed
		if err := p.Scan(kept); err != nil && err != errPacked {
			t.Fatalf("%x: %v", kept, err)
		}
	}
}

// TestWhatIsNotPackedIsRefused: a value that no Value produces is damage, and takes no memory.
func TestWhatIsNotPackedIsRefused(t *testing.T) {
	for _, kept := range []any{nil, int64(1), "text", []byte{}, []byte{2, 1}, []byte{compressed}, []byte{compressed, 5, 0}, []byte{compressed, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}} {
		if err := new(Packed).Scan(kept); err == nil {
			t.Errorf("bytes: %v was read", kept)
		}
	}
	for _, kept := range []any{nil, int64(1), "text", []byte{}, []byte{0}, []byte{2, plain, 1}, []byte{documentURI, 2, 1}, []byte{wholeURI, compressed}} {
		if err := new(URI).Scan(kept); err == nil {
			t.Errorf("a URI: %v was read", kept)
		}
	}
	for _, kept := range []any{nil, int64(1), "text", []byte{0}, []byte{255}, []byte{0, 0}, make([]byte, 33)} {
		if err := new(Topic).Scan(kept); err == nil {
			t.Errorf("a topic: %v was read", kept)
		}
	}
	for _, kept := range []any{nil, int64(1), "text", []byte{1}, append([]byte{21}, make([]byte, 21)...), append([]byte{31}, make([]byte, 31)...), []byte{0, 0, 0, 0}} {
		if err := new(Topics).Scan(kept); err == nil {
			t.Errorf("topics: %v were read", kept)
		}
	}
	for _, kept := range []any{nil, int64(1), []byte{0, 1}, make([]byte, 33)} {
		if err := new(Word).Scan(kept); err == nil {
			t.Errorf("a number: %v was read", kept)
		}
	}
}
