package evm

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// described holds contracts in the genesis, two of a kind with the same name, owned by the test chain's account, and its actions with their items:
// mint, send, burn, and set every attribute.
var described = []struct {
	artifact    string
	name, owner byte // the variables
	actions     func(r *rand.Rand, from, to common.Address) (method string, args []any)
}{
	{"Collection", 0, 7, func(r *rand.Rand, from, to common.Address) (string, []any) {
		id := big.NewInt(r.Int64N(20))
		switch r.IntN(12) {
		case 0:
			return "mint", []any{from, id, "ipfs://own"}
		case 1:
			return "burn", []any{id}
		case 2:
			return "conceal", []any{id}
		case 3:
			return "withdraw", []any{id}
		case 4:
			return "setTokenURI", []any{id, [...]string{"", "ipfs://new"}[r.IntN(2)]}
		case 5, 6, 7:
			return "transferFrom", []any{from, to, id}
		}
		return "mint", []any{from, id, ""}
	}},
	{"Items", 6, 5, func(r *rand.Rand, from, to common.Address) (string, []any) {
		id := big.NewInt(r.Int64N(20))
		switch r.IntN(12) {
		case 0:
			return "burn", []any{id, big.NewInt(1)}
		case 1:
			return "conceal", []any{id}
		case 2:
			return "withdraw", []any{id}
		case 3:
			return "setURI", []any{id, [...]string{"", "ipfs://new"}[r.IntN(2)]}
		case 4, 5, 6:
			return "safeTransferFrom", []any{from, to, id, big.NewInt(1), []byte{}}
		}
		return "mint", []any{from, id, big.NewInt(2)}
	}},
	{"Drop", 0, 7, func(r *rand.Rand, from, to common.Address) (string, []any) {
		if r.IntN(3) > 0 {
			return "mint", []any{big.NewInt(1)}
		}
		return "transferFrom", []any{from, to, big.NewInt(r.Int64N(5))}
	}},
}

// TestDocumentsAreWhatTheContractsSay makes random blocks of transactions with items whose documents come from a cache, and compares with a chain
// that calls the contracts.
func TestDocumentsAreWhatTheContractsSay(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(2, seed))
		c, _ := newTestChain(t, []Kind{KindC, KindL1}[seed%2])
		name, owner := common.Hash{0: 'S', 1: 'n', 2: 'o', 3: 'w', 31: 8}, common.BytesToHash(c.from[:])
		for kind, d := range described {
			a, err := contracts.Load(d.artifact)
			if err != nil {
				t.Fatal(err)
			}
			for n := range byte(2) {
				c.genesis.Alloc[common.Address{byte(kind) + 1, 19: n}] = types.Account{Code: a.Runtime, Balance: new(big.Int),
					Storage: map[common.Hash]common.Hash{{31: d.name}: name, {31: d.owner}: owner}}
			}
		}
		documents, err := index.NewDocuments()
		if err != nil {
			t.Fatal(err)
		}
		asking, remembering := c.begin(), c.begin()
		remembering.Remember(documents)
		remembered, all, sent := 0, 0, uint64(0)
		for time := c.genesis.Timestamp + 10; time < c.genesis.Timestamp+10*100; time += 10 {
			var txs []*types.Transaction
			for nonce := range uint64(1 + r.IntN(6)) {
				kind := r.IntN(len(described))
				contract := common.Address{byte(kind) + 1, 19: byte(r.IntN(2))}
				method, args := described[kind].actions(r, c.from, common.Address{9, 19: byte(r.IntN(2))})
				a, _ := contracts.Load(described[kind].artifact)
				data, err := a.ABI.Pack(method, args...)
				if err != nil {
					t.Fatal(err)
				}
				txs = append(txs, c.sign(&types.DynamicFeeTx{Nonce: sent + nonce, To: &contract, Data: data}))
			}
			sent += uint64(len(txs))
			want, have := c.seal(asking, time, txs), c.seal(remembering, time, txs)
			c.same("the chain that remembers", want, have)
			if len(want.NFTStates) != len(have.NFTStates) {
				t.Fatalf("seed %d: %d items, want %d", seed, len(have.NFTStates), len(want.NFTStates))
			}
			for i := range want.NFTStates {
				all++
				if have.NFTStates[i].Known != nil {
					remembered++
				}
				if w, h := uriOf(&want.NFTStates[i]), uriOf(&have.NFTStates[i]); w != h {
					t.Fatalf("seed %d: item %x has %x, want %x", seed, want.NFTStates[i].Asset, h, w)
				}
			}
		}
		if remembered == 0 || remembered == all {
			t.Errorf("seed %d: %d of %d URIs were known", seed, remembered, all)
		}
	}
}

// seal lets a builder make a block of transactions, which may fail.
func (c *testChain) seal(b *Builder, time uint64, txs []*types.Transaction) *store.Delta {
	c.Helper()
	p, err := b.Open(1000 * time)
	if err != nil {
		c.Fatal(err)
	}
	for _, tx := range txs {
		if _, err := p.Apply(tx, c.from); err != nil {
			c.Fatal(err)
		}
	}
	d, err := p.Seal()
	if err != nil {
		c.Fatal(err)
	}
	return d
}

// uriOf returns the hash of an item's URI, zero for none.
func uriOf(s *store.NFTState) (hash store.URIHash) {
	switch {
	case s.Known != nil:
		return *s.Known
	case s.URI != nil:
		return s.URI.Hash()
	}
	return hash
}
