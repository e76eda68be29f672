package data

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/sim/store"
)

// kept is how many decoded rows of each kind stay in memory: they never change.
const kept = 4096

// memory holds what was decoded lately. Lists find the positions of their rows first, which an index alone answers, and
// read the rows only when one of them is not in memory.
type memory struct {
	headers      *lru.Cache[store.Position, *blockFacts]
	blocks       *lru.Cache[store.Position, *blockFact]
	transactions *lru.Cache[store.Position, *nativeFacts]
	calls        *lru.Cache[store.Position, *callFacts]
	transfers    *lru.Cache[store.Position, *transferFacts]
	whole        *lru.Cache[name, *wholeFacts]
	metadata     *lru.Cache[string, *metadata]         // by URI
	atomic       *lru.Cache[store.Position, written]   // blocks of C-Chains
	primary      *lru.Cache[store.Position, written]   // blocks of P- and X-Chains
	moments      *lru.Cache[store.Position, *moment]   // of blocks of primary chains
	witnesses    *lru.Cache[store.Position, witnesses] // of transactions of primary chains
	outputs      *lru.Cache[outputKey, []byte]
	purses       *lru.Cache[purseKey, *purse]
	settled      *lru.Cache[store.Position, *stamped] // transactions of primary chains
}

// name is a hash on a chain.
type name struct {
	chain int
	hash  common.Hash
}

func newMemory() memory {
	return memory{
		headers:      lru.NewCache[store.Position, *blockFacts](kept),
		blocks:       lru.NewCache[store.Position, *blockFact](kept),
		transactions: lru.NewCache[store.Position, *nativeFacts](kept),
		calls:        lru.NewCache[store.Position, *callFacts](kept),
		transfers:    lru.NewCache[store.Position, *transferFacts](kept),
		whole:        lru.NewCache[name, *wholeFacts](kept / 4),
		metadata:     lru.NewCache[string, *metadata](kept / 4),
		atomic:       lru.NewCache[store.Position, written](kept / 4),
		primary:      lru.NewCache[store.Position, written](kept / 4),
		moments:      lru.NewCache[store.Position, *moment](4 * kept),
		witnesses:    lru.NewCache[store.Position, witnesses](kept / 16),
		outputs:      lru.NewCache[outputKey, []byte](kept),
		purses:       lru.NewCache[purseKey, *purse](kept / 256),
		settled:      lru.NewCache[store.Position, *stamped](kept / 4),
	}
}

// remember answers the rows at positions, which come newest first. read reads those from the first position down to the
// last: rows between them never change.
func remember[R, F any](at []store.Position, cache *lru.Cache[store.Position, *F],
	read func(high, low store.Position, limit int) ([]R, error), decode func(*R) (store.Position, *F, error)) ([]*F, error) {
	facts := make([]*F, len(at))
	known := true
	for i, p := range at {
		facts[i], known = get(cache, p, known)
	}
	if known {
		return facts, nil
	}
	rows, err := read(at[0], at[len(at)-1], len(at))
	if err != nil {
		return nil, err
	}
	facts = facts[:0]
	for i := range rows {
		p, f, err := decode(&rows[i])
		if err != nil {
			return nil, err
		}
		cache.Add(p, f)
		facts = append(facts, f)
	}
	return facts, nil
}

func get[F any](cache *lru.Cache[store.Position, *F], at store.Position, known bool) (*F, bool) {
	f, ok := cache.Get(at)
	return f, known && ok
}

// party is an address that was written once.
type party struct {
	address common.Address
	hex     string
}

func partyOf(address []byte) party {
	a := common.BytesToAddress(address)
	return party{a, a.Hex()}
}

func position(p *store.Position) []byte { return within(*p) }
