package metric

import (
	"slices"
	"sort"
)

// Presence holds the hours of one month in which an address took part, with chain and roles: entries of three bytes sorted by hour and
// chain, hour of the month << 14 | chain << 3 | roles. The file stores them in this form.
type Presence []byte

const (
	entrySize  = 3
	chainShift = 3
	hourShift  = 14
	chainMask  = 1<<(hourShift-chainShift) - 1
)

func (h Presence) entry(i int) int {
	return int(h[i*entrySize])<<16 | int(h[i*entrySize+1])<<8 | int(h[i*entrySize+2])
}

// from returns the index of the first entry at or above a value.
func (h Presence) from(value int) int {
	return sort.Search(len(h)/entrySize, func(i int) bool { return h.entry(i) >= value })
}

// roles returns an address's roles in an hour on a chain.
func (h Presence) roles(hour, chain int) Roles {
	key := hour<<hourShift | chain<<chainShift
	if i := h.from(key); i < len(h)/entrySize && h.entry(i)&^int(all) == key {
		return Roles(h.entry(i)) & all
	}
	return 0
}

const all Roles = 1<<roles - 1

// with adds roles in an hour on a chain.
func (h Presence) with(hour, chain int, as Roles) Presence {
	key := hour<<hourShift | chain<<chainShift
	i := h.from(key) * entrySize
	if h.roles(hour, chain) != 0 {
		h[i+2] |= byte(as)
		return h
	}
	entry := key | int(as)
	return slices.Insert(h, i, byte(entry>>16), byte(entry>>8), byte(entry))
}

// any reports whether the address took part in a role from one hour up to another on a matching chain.
func (h Presence) any(from, to int, as Role, in func(chain int) bool) bool {
	for i := h.from(from << hourShift); i < len(h)/entrySize && h.entry(i) < to<<hourShift; i++ {
		e := h.entry(i)
		if Roles(e)&as.set() != 0 && in(e>>chainShift&chainMask) {
			return true
		}
	}
	return false
}
