package marshal

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strconv"
	"sync"
)

// Writer writes JSON sequentially and without reflection, for the most frequent responses.
type Writer struct{ JSON []byte }

// scratch holds writers with room for a block, whose size is hard to tell in advance.
var scratch = sync.Pool{New: func() any { return &Writer{make([]byte, 0, 4*HeaderBytes)} }}

const largestScratch = 1 << 20

// done returns what a writer of scratch wrote.
func (w *Writer) done() []byte {
	written := bytes.Clone(w.JSON)
	if cap(w.JSON) <= largestScratch {
		w.JSON = w.JSON[:0]
		scratch.Put(w)
	}
	return written
}

// Open begins an object or an array.
func (w *Writer) Open(bracket byte) *Writer {
	w.Separate()
	w.JSON = append(w.JSON, bracket)
	return w
}

// Close ends an object or an array.
func (w *Writer) Close(bracket byte) { w.JSON = append(w.JSON, bracket) }

// Separate writes a comma where one belongs.
func (w *Writer) Separate() {
	if n := len(w.JSON); n > 0 && w.JSON[n-1] != '{' && w.JSON[n-1] != '[' && w.JSON[n-1] != ':' {
		w.JSON = append(w.JSON, ',')
	}
}

// Key writes the name of a member.
func (w *Writer) Key(name string) *Writer {
	w.Separate()
	w.JSON = append(w.JSON, '"')
	w.JSON = append(w.JSON, name...)
	w.JSON = append(w.JSON, '"', ':')
	return w
}

// Bytes writes data in hexadecimal, including leading zeros.
func (w *Writer) Bytes(data []byte) {
	w.Separate()
	w.JSON = append(w.JSON, '"', '0', 'x')
	w.JSON = hex.AppendEncode(w.JSON, data)
	w.JSON = append(w.JSON, '"')
}

// Uint writes a quantity: hexadecimal without leading zeros.
func (w *Writer) Uint(n uint64) {
	w.Separate()
	w.JSON = append(w.JSON, '"', '0', 'x')
	w.JSON = strconv.AppendUint(w.JSON, n, 16)
	w.JSON = append(w.JSON, '"')
}

// Big writes a quantity of any size.
func (w *Writer) Big(n *big.Int) {
	w.Separate()
	w.JSON = append(w.JSON, '"', '0', 'x')
	w.JSON = n.Append(w.JSON, 16)
	w.JSON = append(w.JSON, '"')
}

// Raw writes JSON as it is.
func (w *Writer) Raw(json string) {
	w.Separate()
	w.JSON = append(w.JSON, json...)
}

// BytesOrNull writes data, or null for nil.
func (w *Writer) BytesOrNull(data []byte) {
	if data == nil {
		w.Raw("null")
		return
	}
	w.Bytes(data)
}
