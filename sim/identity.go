package sim

import (
	"sync"

	"snowglobe/sim/store"
)

// identity is what the world's file says that it is, for readers beside a writer.
type identity struct {
	mu      sync.Mutex // guards these two for readers; only who holds the writer's lock changes meta
	meta    store.Meta // as it is in the file
	damaged bool       // the file, as was found out
}

// become tells readers what the file says now.
func (i *identity) become(m store.Meta) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.meta = m
}

// Digest tells what the world is now: its chains and its clock.
func (i *identity) Digest() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.meta.Digest
}

// Operations is how many operations clients have started, deleted ones included.
func (i *identity) Operations() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.meta.Started
}

// ReportDamage says that the file was found to be damaged, for Health.
func (i *identity) ReportDamage() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.damaged = true
}

func (i *identity) knownDamaged() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.damaged
}
