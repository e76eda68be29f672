package store

import (
	"bytes"
	"database/sql/driver"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/klauspost/compress/s2"
)

// Amount is a number of 64 bits without a sign. The file keeps its bits: above 2^63 they read as negative.
type Amount uint64

// Value is how the file keeps an amount.
func (a Amount) Value() (driver.Value, error) { return int64(a), nil }

// Scan reads what Value wrote.
func (a *Amount) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("amount is %T", value)
	}
	*a = Amount(n)
	return nil
}

// Word is a number of 256 bits, big-endian. The file keeps it without leading zeros.
type Word []byte

const wordBytes = 32

var errWord = errors.New("a number of 256 bits is not as it was written")

// Value is how the file keeps a number.
func (w Word) Value() (driver.Value, error) { return w.kept(), nil }

func (w Word) kept() []byte {
	for len(w) > 0 && w[0] == 0 {
		w = w[1:]
	}
	return w
}

// Scan reads what Value wrote.
func (w *Word) Scan(value any) error {
	kept, ok := value.([]byte)
	if !ok || len(kept) > wordBytes || len(kept) > 0 && kept[0] == 0 {
		return errWord
	}
	*w = make([]byte, wordBytes)
	copy((*w)[wordBytes-len(kept):], kept)
	return nil
}

// Packed are bytes of which others, or the network, know a part: headers, transactions, calls, documents. The file keeps them compressed
// where that is shorter.
type Packed []byte

// The first byte of what the file keeps says how it does.
const (
	plain      = 0
	compressed = 1 // as an S2 block, with the dictionary

	mostUnpacked = 64 << 20 // bytes, far more than a block or a genesis has
)

var errPacked = errors.New("compressed bytes are not as they were written")

//go:embed dictionary.txt
var dictionaryText string

// dictionary is what compressed bytes refer to beside themselves. Most words of calls begin with zeros, and so do blocks for it.
var dictionary = sync.OnceValue(func() *s2.Dict {
	var all []byte
	for line := range strings.Lines(dictionaryText) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '"':
			all = append(all, line[1:len(line)-1]...)
		default:
			all = append(all, common.FromHex(line)...)
		}
	}
	return s2.MakeDict(all, make([]byte, wordBytes))
})

// Value is how the file keeps the bytes.
func (p Packed) Value() (driver.Value, error) { return p.kept(), nil }

func (p Packed) kept() []byte {
	if len(p) <= mostUnpacked {
		kept := make([]byte, 1+s2.MaxEncodedLen(len(p)))
		if n := len(dictionary().Encode(kept[1:], p)); n < len(p) {
			kept[0] = compressed
			return kept[:1+n]
		}
	}
	return append([]byte{plain}, p...)
}

// Scan reads what Value wrote.
func (p *Packed) Scan(value any) error {
	kept, ok := value.([]byte)
	if !ok || len(kept) == 0 {
		return errPacked
	}
	switch rest := kept[1:]; kept[0] {
	case plain:
		*p = bytes.Clone(rest)
		return nil
	case compressed:
		if n, err := s2.DecodedLen(rest); err != nil || n > mostUnpacked {
			return errPacked
		}
		unpacked, err := dictionary().Decode(nil, rest)
		if err != nil {
			return errPacked
		}
		*p = unpacked
		return nil
	}
	return errPacked
}

// URI is that of an item's metadata. Most are whole documents in base64, which hides what they have in common: of those the file keeps the
// documents.
type URI string

const documentPrefix = "data:application/json;base64,"

// The first byte of what the file keeps of a URI says what is packed.
const (
	wholeURI    = 0
	documentURI = 1
)

// Value is how the file keeps a URI.
func (u URI) Value() (driver.Value, error) {
	if encoded, ok := strings.CutPrefix(string(u), documentPrefix); ok {
		if document, err := base64.StdEncoding.DecodeString(encoded); err == nil && base64.StdEncoding.EncodeToString(document) == encoded {
			return append([]byte{documentURI}, Packed(document).kept()...), nil
		}
	}
	return append([]byte{wholeURI}, Packed(u).kept()...), nil
}

// Scan reads what Value wrote.
func (u *URI) Scan(value any) error {
	kept, ok := value.([]byte)
	if !ok || len(kept) == 0 {
		return errPacked
	}
	var unpacked Packed
	if err := unpacked.Scan(kept[1:]); err != nil {
		return err
	}
	switch kept[0] {
	case wholeURI:
		*u = URI(unpacked)
		return nil
	case documentURI:
		*u = URI(documentPrefix + base64.StdEncoding.EncodeToString(unpacked))
		return nil
	}
	return errPacked
}
