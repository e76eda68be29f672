package node

import (
	"encoding/hex"
	"math/big"
	"strconv"
)

// object writes JSON in the order in which it is told to. The answers that are asked for most are written this way,
// without reflection.
type object struct{ json []byte }

func (o *object) open(bracket byte) *object {
	o.separate()
	o.json = append(o.json, bracket)
	return o
}

func (o *object) close(bracket byte) { o.json = append(o.json, bracket) }

func (o *object) separate() {
	if n := len(o.json); n > 0 && o.json[n-1] != '{' && o.json[n-1] != '[' && o.json[n-1] != ':' {
		o.json = append(o.json, ',')
	}
}

func (o *object) key(name string) *object {
	o.separate()
	o.json = append(o.json, '"')
	o.json = append(o.json, name...)
	o.json = append(o.json, '"', ':')
	return o
}

// bytes writes data as hex, every digit of it.
func (o *object) bytes(data []byte) {
	o.separate()
	o.json = append(o.json, '"', '0', 'x')
	o.json = hex.AppendEncode(o.json, data)
	o.json = append(o.json, '"')
}

// uint writes a quantity: hex without leading zeros.
func (o *object) uint(n uint64) {
	o.separate()
	o.json = append(o.json, '"', '0', 'x')
	o.json = strconv.AppendUint(o.json, n, 16)
	o.json = append(o.json, '"')
}

func (o *object) big(n *big.Int) {
	o.separate()
	o.json = append(o.json, '"', '0', 'x')
	o.json = n.Append(o.json, 16)
	o.json = append(o.json, '"')
}

func (o *object) raw(json string) {
	o.separate()
	o.json = append(o.json, json...)
}

// bytesOrNull writes null for what is not there.
func (o *object) bytesOrNull(data []byte) {
	if data == nil {
		o.raw("null")
		return
	}
	o.bytes(data)
}
