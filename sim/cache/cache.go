package cache

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
)

// Budget is the most that all caches of a process hold together, in bytes.
const Budget = 6 << 20

// largestShare keeps one entry from taking the place of everything else.
const largestShare = 8

// process is what the caches of this process share: memory belongs to the process, however many worlds it has open.
var process = NewMemory(Budget)

// Memory is a number of bytes that caches share. When they are used up, entries that were not asked for since they were last
// looked at have to go (the clock algorithm), whichever cache they belong to. Of those, some are passed over by chance: else nobody who
// asks for more than there is room for, in turn, would find anything.
type Memory struct {
	limit int

	mu     sync.Mutex
	used   int
	hand   *link      // the entry to be looked at next, in a ring of all; nil when there are none
	chance *rand.Rand // which entries are passed over
}

// NewMemory makes a memory of its own, as tests do; the caches of the program share that of the process.
func NewMemory(limit int) *Memory { return &Memory{limit: limit, chance: rand.New(rand.NewPCG(0, 0))} }

// Used is how many bytes the entries of all caches take.
func (m *Memory) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// InUse is how many bytes the caches of this process hold together, and how many they may.
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

// mostPassed is how many entries at most are passed over after one that has to go.
const mostPassed = 8

// evict makes room until what is used is within the limit.
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

// Cache keeps values of one kind by key. It is safe for concurrent use. Its values are shared: they must never change.
type Cache[K comparable, V any] struct {
	memory *Memory
	group  *Group
	keys   sizer
	values sizer

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

// New makes a cache of a group, within the budget of the process.
func New[K comparable, V any](g *Group) *Cache[K, V] {
	c := NewIn[K, V](process)
	c.group = g
	g.add(c)
	return c
}

// NewCounted makes a cache within the budget of the process whose values count what they refer to themselves, because they
// refer to it more than once.
func NewCounted[K comparable, V any](g *Group, beyond func(V) int) *Cache[K, V] {
	c := New[K, V](g)
	c.values = func(v reflect.Value) int { return beyond(v.Interface().(V)) }
	return c
}

// NewIn makes a cache that shares a memory.
func NewIn[K comparable, V any](m *Memory) *Cache[K, V] {
	return &Cache[K, V]{memory: m, keys: sizerOf(reflect.TypeFor[K]()), values: sizerOf(reflect.TypeFor[V]()), entries: map[K]*entry[K, V]{}}
}

// Get is the value that was added under a key, if it is still there.
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

// Add keeps a value under a key, unless it is too large to be worth it.
func (c *Cache[K, V]) Add(key K, value V) {
	e := &entry[K, V]{cache: c, key: key, value: value}
	e.entry = e
	e.size = int(reflect.TypeFor[entry[K, V]]().Size()) + mapSlot + c.keys.beyond(key) + c.values.beyond(value)
	m := c.memory
	if e.size > m.limit/largestShare || !c.group.keeps() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !c.group.keeps() { // it was cleared meanwhile
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
