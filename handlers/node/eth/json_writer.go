package eth

import (
	"encoding/hex"
	"math/big"
	"strconv"
)

// jsonWriter writes JSON in the order in which it is told to. The answers that are asked for most are written this way,
// without reflection.
type jsonWriter struct{ json []byte }

func (w *jsonWriter) open(bracket byte) *jsonWriter {
	w.separate()
	w.json = append(w.json, bracket)
	return w
}

func (w *jsonWriter) close(bracket byte) { w.json = append(w.json, bracket) }

func (w *jsonWriter) separate() {
	if n := len(w.json); n > 0 && w.json[n-1] != '{' && w.json[n-1] != '[' && w.json[n-1] != ':' {
		w.json = append(w.json, ',')
	}
}

func (w *jsonWriter) key(name string) *jsonWriter {
	w.separate()
	w.json = append(w.json, '"')
	w.json = append(w.json, name...)
	w.json = append(w.json, '"', ':')
	return w
}

// bytes writes data as hex, every digit of it.
func (w *jsonWriter) bytes(data []byte) {
	w.separate()
	w.json = append(w.json, '"', '0', 'x')
	w.json = hex.AppendEncode(w.json, data)
	w.json = append(w.json, '"')
}

// uint writes a quantity: hex without leading zeros.
func (w *jsonWriter) uint(n uint64) {
	w.separate()
	w.json = append(w.json, '"', '0', 'x')
	w.json = strconv.AppendUint(w.json, n, 16)
	w.json = append(w.json, '"')
}

func (w *jsonWriter) big(n *big.Int) {
	w.separate()
	w.json = append(w.json, '"', '0', 'x')
	w.json = n.Append(w.json, 16)
	w.json = append(w.json, '"')
}

func (w *jsonWriter) raw(json string) {
	w.separate()
	w.json = append(w.json, json...)
}

// bytesOrNull writes null for what is not there.
func (w *jsonWriter) bytesOrNull(data []byte) {
	if data == nil {
		w.raw("null")
		return
	}
	w.bytes(data)
}
