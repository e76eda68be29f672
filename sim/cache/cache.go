package cache

import (
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
)

// Budget bounds the bytes that all caches of a process hold together.
const Budget = 6 << 20

// largestShare keeps one entry from displacing everything else.
const largestShare = 8

// Largest bounds the bytes of one entry.
const Largest = Budget / largestShare

// process is shared by all caches of this process, however many worlds it has open.
var process = NewMemory(Budget)

// Memory is a number of bytes that caches share. When it is full, it evicts entries of any cache that were not used since its last look (the
// clock algorithm). It spares some of them at random: otherwise a client that cycles through more entries than fit would never hit one.
type Memory struct {
	limit int

	mu     sync.Mutex
	used   int
	hand   *link      // the next entry to look at, in a ring of all; nil when there are none
	chance *rand.Rand // picks the spared entries

	added [lastAdded]atomic.Uint32 // parts of the hashes of keys, each in its slot
}

// lastAdded is roughly the number of keys that NewRepeated's caches recognise.
const lastAdded = 1 << 12

// NewMemory makes a separate memory, as tests do; the program's caches share the process's.
func NewMemory(limit int) *Memory { return &Memory{limit: limit, chance: rand.New(rand.NewPCG(0, 0))} }

// Used returns the bytes that the entries of all caches take.
func (m *Memory) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// InUse returns the bytes that this process's caches hold together, and their limit.
func InUse() (used, limit int) { return process.Used(), process.limit }

// link is an entry's place in the ring.
type link struct {
	next, prev *link
	asked      atomic.Bool // since the hand passed
	size       int
	entry      interface{ remove() }
}

// insert puts an entry where the hand comes last.
func (m *Memory) insert(l *link) {
	m.used += l.size
	if m.hand == nil {
		l.next, l.prev, m.hand = l, l, l
		return
	}
	l.next, l.prev = m.hand, m.hand.prev
	l.prev.next, l.next.prev = l, l
}

func (m *Memory) unlink(l *link) {
	m.used -= l.size
	if m.hand == l {
		m.hand = l.next
	}
	if l.next == l {
		m.hand = nil
		return
	}
	l.prev.next, l.next.prev = l.next, l.prev
}

// mostPassed bounds the entries spared in a row.
const mostPassed = 8

// evict removes entries until the rest fit the limit.
func (m *Memory) evict() {
	for m.used > m.limit {
		l := m.hand
		if l.asked.Swap(false) {
			m.hand = l.next
			continue
		}
		l.entry.remove()
		m.unlink(l)
		for range m.chance.IntN(mostPassed + 1) {
			if m.hand != nil {
				m.hand = m.hand.next
			}
		}
	}
}

// Cache keeps values of one kind by key, and is safe for concurrent use. Callers share its values, so they must never change.
type Cache[K comparable, V any] struct {
	memory *Memory
	group  *Group
	keys   sizer
	values sizer

	repeated bool // store only what is added again
	seed     maphash.Seed

	mu      sync.RWMutex
	entries map[K]*entry[K, V]
}

type entry[K comparable, V any] struct {
	link
	cache *Cache[K, V]
	key   K
	value V
}

func (e *entry[K, V]) remove() {
	e.cache.mu.Lock()
	defer e.cache.mu.Unlock()
	delete(e.cache.entries, e.key)
}

// New makes a cache in a group, within the process's budget.
func New[K comparable, V any](g *Group) *Cache[K, V] {
	c := NewIn[K, V](process)
	c.group = g
	g.add(c)
	return c
}

// NewCounted makes a cache within the process's budget whose values report their own size, because they refer to some memory more than
// once.
func NewCounted[K comparable, V any](g *Group, beyond func(V) int) *Cache[K, V] {
	c := New[K, V](g)
	c.values = func(v reflect.Value) int { return beyond(v.Interface().(V)) }
	return c
}

// NewRepeated makes a cache in a group, within the process's budget, that stores a value once its key is added again: storing what is never asked
// for again costs as much as a read.
func NewRepeated[K comparable, V any](g *Group) *Cache[K, V] {
	c := New[K, V](g)
	c.repeated = true
	return c
}

// NewIn makes a cache that shares a memory.
func NewIn[K comparable, V any](m *Memory) *Cache[K, V] {
	return &Cache[K, V]{memory: m, keys: sizerOf(reflect.TypeFor[K]()), values: sizerOf(reflect.TypeFor[V]()), seed: maphash.MakeSeed(), entries: map[K]*entry[K, V]{}}
}

// addedBefore reports whether the same key was added recently.
func (c *Cache[K, V]) addedBefore(key K) bool {
	hash := maphash.Comparable(c.seed, key)
	part := uint32(hash >> 32)
	return c.memory.added[hash%lastAdded].Swap(part) == part
}

// Get returns the value added under a key, if it is still there.
func (c *Cache[K, V]) Get(key K) (value V, found bool) {
	c.mu.RLock()
	e := c.entries[key]
	c.mu.RUnlock()
	if e == nil {
		return value, false
	}
	if !e.asked.Load() {
		e.asked.Store(true)
	}
	return e.value, true
}

// Add stores a value under a key, unless it is too large.
func (c *Cache[K, V]) Add(key K, value V) {
	if c.repeated && !c.addedBefore(key) {
		return
	}
	e := &entry[K, V]{cache: c, key: key, value: value}
	e.entry = e
	e.size = int(reflect.TypeFor[entry[K, V]]().Size()) + mapSlot + c.keys.beyond(key) + c.values.beyond(value)
	m := c.memory
	if e.size > m.limit/largestShare || !c.group.keeps() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !c.group.keeps() { // cleared meanwhile
		return
	}
	c.mu.Lock()
	old := c.entries[key]
	c.entries[key] = e
	c.mu.Unlock()
	if old != nil {
		m.unlink(&old.link)
	}
	m.insert(&e.link)
	m.evict()
}
