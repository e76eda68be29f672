package rpc

import (
	"bytes"
	"context"
	"hash/maphash"
	"sync/atomic"

	"snowglobe/sim/cache"
)

// Memory keeps the results that were given lately to who asks again, as pages do that poll: of calls that depend on nothing but a revision.
type Memory struct {
	Methods  map[string]bool // whose results depend on accepted blocks and the states after them alone, unless a call names the pending block
	Revision func(ctx context.Context) (Revision, error)

	results *cache.Cache[memoryKey, []byte]
	seed    maphash.Seed
	asked   [lastAsked]atomic.Uint32 // parts of hashes of calls, each in its place
	again   atomic.Uint64
}

// Revision is what results depend on: while it is the same, so are they.
type Revision struct {
	Commits int64    // of the world
	Changes uint64   // of the chain's state without a block
	Head    [32]byte // of the chain, as readers see it
	Unix    int64    // the world's clock
}

// Bounds of what is kept of one call.
const (
	longestParams = 2 << 10
	longestResult = 64 << 10
)

// lastAsked is about how many calls are remembered as asked before. To keep the result of one that nobody asks again is a tenth of its work.
const lastAsked = 1 << 10

type memoryKey struct {
	method, params string
	Revision
}

// NewMemory makes room for results among the caches of a group.
func NewMemory(g *cache.Group, methods map[string]bool, revision func(context.Context) (Revision, error)) *Memory {
	return &Memory{Methods: methods, Revision: revision, results: cache.New[memoryKey, []byte](g), seed: maphash.MakeSeed()}
}

// recall is the result of a call if it is known, else where to keep it if it is one to be kept: that of a call which was asked before.
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

// keep keeps a result, unless the world has changed meanwhile: what was read then may be of before or after.
func (m *Memory) keep(ctx context.Context, key *memoryKey, r *Result) {
	whole := r.whole()
	if whole == nil || len(whole) > longestResult {
		return
	}
	if now, err := m.Revision(ctx); err == nil && now == key.Revision {
		m.results.Add(*key, bytes.Clone(whole))
	}
}

// keepable says whether the pending block is not named in any way.
func keepable(params []byte) bool {
	return len(params) <= longestParams && !bytes.Contains(params, []byte("pending")) && bytes.IndexByte(params, '\\') < 0
}

// askedBefore says whether a call was asked before, lately and at any revision.
func (m *Memory) askedBefore(key *memoryKey) bool {
	hash := maphash.String(m.seed, key.method) ^ maphash.String(m.seed, key.params)
	return m.asked[hash%lastAsked].Swap(uint32(hash>>32)) == uint32(hash>>32)
}

// given is how often results were given again.
func (m *Memory) given() uint64 {
	if m == nil {
		return 0
	}
	return m.again.Load()
}
