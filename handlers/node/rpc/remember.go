package rpc

import (
	"bytes"
	"context"
	"hash/maphash"
	"sync/atomic"

	"snowglobe/sim/cache"
)

// Memory remembers recent results for clients that repeat a call, as polling pages do: of calls that depend only on a revision.
type Memory struct {
	Methods  map[string]bool // methods whose results depend only on accepted blocks and the states after them, unless a call names the pending block
	Revision func(ctx context.Context) (Revision, error)

	results *cache.Cache[memoryKey, []byte]
	seed    maphash.Seed
	asked   [lastAsked]atomic.Uint32 // parts of call hashes, each in its slot
	again   atomic.Uint64
}

// Revision identifies everything that results depend on.
type Revision struct {
	Commits int64    // of the world
	Changes uint64   // of the chain's state without a block
	Head    [32]byte // of the chain, as readers see it
	Unix    int64    // the world's clock
}

// Limits on a call's remembered result.
const (
	longestParams = 2 << 10
	longestResult = 64 << 10
)

// lastAsked is roughly the number of calls whose first occurrence is remembered. Storing a result that is never used again would cost a tenth
// of the call.
const lastAsked = 1 << 10

type memoryKey struct {
	method, params string
	Revision
}

// NewMemory makes a memory for results within a group of caches.
func NewMemory(g *cache.Group, methods map[string]bool, revision func(context.Context) (Revision, error)) *Memory {
	return &Memory{Methods: methods, Revision: revision, results: cache.New[memoryKey, []byte](g), seed: maphash.MakeSeed()}
}

// recall returns a call's result if it is remembered. Otherwise, if the call was made before, it returns where to store the result.
func (m *Memory) recall(ctx context.Context, c *Call) (known []byte, key memoryKey, keep bool) {
	if c.method == nil || !c.method.remembered || !keepable(c.Params) {
		return nil, key, false
	}
	at, err := m.Revision(ctx)
	if err != nil {
		return nil, key, false
	}
	key = memoryKey{c.method.name, string(c.Params), at}
	if known, found := m.results.Get(key); found {
		m.again.Add(1)
		return known, key, false
	}
	return nil, key, m.askedBefore(&key)
}

// keep stores a result, unless the world changed meanwhile: then the result may belong to either state.
func (m *Memory) keep(ctx context.Context, key *memoryKey, r *Result) {
	whole := r.whole()
	if whole == nil || len(whole) > longestResult {
		return
	}
	if now, err := m.Revision(ctx); err == nil && now == key.Revision {
		m.results.Add(*key, bytes.Clone(whole))
	}
}

// keepable reports whether a call nowhere names the pending block.
func keepable(params []byte) bool {
	return len(params) <= longestParams && !bytes.Contains(params, []byte("pending")) && bytes.IndexByte(params, '\\') < 0
}

// askedBefore reports whether the same call was made recently, at any revision.
func (m *Memory) askedBefore(key *memoryKey) bool {
	hash := maphash.String(m.seed, key.method) ^ maphash.String(m.seed, key.params)
	return m.asked[hash%lastAsked].Swap(uint32(hash>>32)) == uint32(hash>>32)
}

// given returns how often results were repeated.
func (m *Memory) given() uint64 {
	if m == nil {
		return 0
	}
	return m.again.Load()
}
