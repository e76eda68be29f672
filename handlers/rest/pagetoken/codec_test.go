package pagetoken

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func testCodec(t *testing.T) *Codec {
	t.Helper()
	s, err := New([]byte(strings.Repeat("k", 32)), func() int64 { return 1782864000 }, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func randomBytes(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestTokensCarryAnyPosition(t *testing.T) {
	s, r := testCodec(t), rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for size := range 200 {
		for range 5 {
			position, fingerprint := randomBytes(r, size), r.Uint32()
			token := s.Encode(position, fingerprint)
			if got, err := s.Decode(token, fingerprint); err != nil || !bytes.Equal(got, position) {
				t.Fatalf("position %x: token %s opens to %x, %v", position, token, got, err)
			}
			if s.Encode(position, fingerprint) != token || seen[token] {
				t.Fatalf("position %x: token %s is not its own", position, token)
			}
			if seen[token] = true; size <= shortPosition && len(token) != uuidText {
				t.Fatalf("position %x: token %s is not one UUID", position, token)
			}
			if _, err := s.Decode(token, fingerprint+1); !errors.Is(err, errTokenForeign) {
				t.Fatalf("another query opens %s: %v", token, err)
			}
		}
	}
}

func TestChangedTokensDoNotOpen(t *testing.T) {
	s, r := testCodec(t), rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{0, 1, 5, 6, 13, 14, 40} {
		token := []byte(s.Encode(randomBytes(r, size), 7))
		for i, c := range token {
			for _, d := range []byte("0123456789abcdef-g") {
				if d == c {
					continue
				}
				token[i] = d
				if position, err := s.Decode(string(token), 7); err == nil {
					t.Errorf("forged token %s opens to %x", token, position)
				}
			}
			token[i] = c
		}
	}
}

func TestGuessedTokensDoNotOpen(t *testing.T) {
	s, r := testCodec(t), rand.New(rand.NewPCG(5, 6))
	for i := range 20000 {
		b := randomBytes(r, longGroup*(1+i%3))
		if position, err := s.Decode(joinUUIDs(b), 7); err == nil {
			t.Fatalf("guess %d opens to %x", i, position)
		}
	}
}

func TestSplicedTokensDoNotOpen(t *testing.T) {
	s := testCodec(t)
	a, b := s.Encode(bytes.Repeat([]byte{1}, 13), 7), s.Encode(bytes.Repeat([]byte{2}, 13), 7)
	for _, forged := range []string{a[:uuidText] + b[uuidText:], a + "-" + b, a[:uuidText], a[uuidText+1:]} {
		if _, err := s.Decode(forged, 7); err == nil {
			t.Errorf("spliced token %s opens", forged)
		}
	}
}

// world holds a test world's commits with their times; a mark is the same number.
type world []int64

func (w world) Last() (int64, uint32, int64) {
	last := len(w) - 1
	return int64(last), uint32(last), w[last]
}

func (w world) At(sequence int64) (uint32, int64, error) {
	if sequence < 0 || sequence >= int64(len(w)) {
		return 0, 0, errors.New("none")
	}
	return uint32(sequence), w[sequence], nil
}

// TestTokensCarryTheTime: a token expires after its life, to the second, even if no commit was made when it was issued.
func TestTokensCarryTheTime(t *testing.T) {
	const first = 1782864000
	for _, position := range [][]byte{{1}, bytes.Repeat([]byte{1}, 40)} {
		for later := range int64(maxLater + 1) {
			now := first + 100 + later
			commits := world{first, first + 100}
			s, err := New([]byte(strings.Repeat("k", 32)), func() int64 { return now }, &commits, first)
			if err != nil {
				t.Fatal(err)
			}
			token := s.Encode(position, 7)
			commits = append(commits, now+1)
			for more, want := range []error{nil, ErrExpired} {
				now = first + 100 + later + int64(Life/time.Second) - 1 + int64(more)
				if _, err := s.Decode(token, 7); !errors.Is(err, want) {
					t.Errorf("issued %d seconds after the commit, asked after %d: %v, want %v", later, now-first-100-later, err, want)
				}
			}
			commits = commits[:1]
			if _, err := s.Decode(token, 7); !errors.Is(err, errTokenUndone) {
				t.Errorf("a token of a commit that is undone: %v", err)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, err := New([]byte(strings.Repeat("k", 32)), func() int64 { return 1782864000 }, nil, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("9f9e1d25-14a9-49f4-8742-fd4bf12f7cd8")
	f.Add("9f9e1d25-14a9-49f4-8742-fd4bf12f7cd8-9f9e1d25-14a9-49f4-8742-fd4bf12f7cd8")
	f.Fuzz(func(t *testing.T, token string) {
		if position, err := s.Decode(token, 7); err == nil && s.Encode(position, 7) != token {
			t.Errorf("forged token %q opens to %x", token, position)
		}
	})
}
