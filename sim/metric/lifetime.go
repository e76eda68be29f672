package metric

import (
	"encoding/binary"
	"math"
	"slices"
)

// Lifetime records an address's first and last activity on each chain and in each role. Its eleven-byte entries, sorted by chain and role,
// hold the chain (two bytes), the role (one) and two hours of Unix time (four each). The file stores them in this form.
type Lifetime []byte

const lifetimeSize = 11

// with extends the lifetime on a chain and in a role to a time.
func (l Lifetime) with(chain int, role Role, unix int64) Lifetime {
	key := []byte{byte(chain >> 8), byte(chain), byte(role)}
	at := uint32(unix / SecondsPerHour)
	i := 0
	for i < len(l) && slices.Compare(l[i:i+len(key)], key) < 0 {
		i += lifetimeSize
	}
	if i == len(l) || slices.Compare(l[i:i+len(key)], key) != 0 {
		entry := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(key, at), at)
		return slices.Insert(l, i, entry...)
	}
	binary.BigEndian.PutUint32(l[i+3:], min(at, binary.BigEndian.Uint32(l[i+3:])))
	binary.BigEndian.PutUint32(l[i+7:], max(at, binary.BigEndian.Uint32(l[i+7:])))
	return l
}

// span returns the first and the last hour, in Unix seconds, in a role over all matching chains; ok is false if there is none.
func (l Lifetime) span(role Role, in func(chain int) bool) (first, last int64, ok bool) {
	first = math.MaxInt64
	for ; len(l) >= lifetimeSize; l = l[lifetimeSize:] {
		if Role(l[2]) == role && in(int(binary.BigEndian.Uint16(l))) {
			first = min(first, int64(binary.BigEndian.Uint32(l[3:]))*SecondsPerHour)
			last, ok = max(last, int64(binary.BigEndian.Uint32(l[7:]))*SecondsPerHour), true
		}
	}
	return first, last, ok
}
