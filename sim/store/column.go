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

// Amount is an unsigned 64-bit number. The file stores its bits: amounts above 2^63 read as negative.
type Amount uint64

// Value encodes the amount for the file.
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

// Word is a 256-bit number, big-endian. The file stores it without leading zeros.
type Word []byte

const wordBytes = 32

var errWord = errors.New("malformed 256-bit number")

// Value encodes the number for the file.
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

// Packed holds bytes that resemble others, or that the network defines: headers, transactions, calls, documents. The file compresses them
// if that is shorter.
type Packed []byte

// The first byte in the file gives the encoding.
const (
	plain      = 0
	compressed = 1 // as an S2 block, with the dictionary

	mostUnpacked = 64 << 20 // bytes, far more than a block or a genesis has
)

var errPacked = errors.New("malformed compressed bytes")

//go:embed dictionary.txt
var dictionaryText string

// dictionary is the S2 dictionary for compressed bytes. Most words of calls begin with zeros, so it does too.
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

// Value encodes the bytes for the file.
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

// URI is an item's metadata URI. Most are whole documents in base64, which hides how alike they are, so the file stores the decoded
// documents.
type URI string

const documentPrefix = "data:application/json;base64,"

// The first byte of a stored URI is the format.
const (
	wholeURI    = 0
	documentURI = 1
)

// Value encodes a URI for the file.
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
