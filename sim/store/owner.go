package store

import "encoding/binary"

// Owners is a control group: threshold of the addresses, from locktime on.
type Owners struct {
	Threshold uint32
	Locktime  uint64
	Addresses [][]byte // 20 bytes each, ascending
}

const (
	ownersHead   = 4 + 8
	addressBytes = 20
)

// Bytes is the control group as rows keep it.
func (o Owners) Bytes() []byte {
	raw := binary.BigEndian.AppendUint32(nil, o.Threshold)
	raw = binary.BigEndian.AppendUint64(raw, o.Locktime)
	for _, address := range o.Addresses {
		raw = append(raw, address...)
	}
	return raw
}

// ParseOwners reads what Bytes wrote; no bytes are no owners.
func ParseOwners(raw []byte) (o Owners) {
	if len(raw) < ownersHead {
		return o
	}
	o.Threshold, o.Locktime = binary.BigEndian.Uint32(raw), binary.BigEndian.Uint64(raw[4:])
	for rest := raw[ownersHead:]; len(rest) >= addressBytes; rest = rest[addressBytes:] {
		o.Addresses = append(o.Addresses, rest[:addressBytes])
	}
	return o
}
