package reader_test

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// emitters lists contracts with an index. Each logs the first word of its data with as many of the next words as topics as its index, and stores the
// first word in the slot named by the second.
var emitters = func() (all []common.Address) {
	for i := range 5 {
		all = append(all, common.BigToAddress(big.NewInt(int64(0xe000+i))))
	}
	return all
}()

func emitterCode(topics int) []byte {
	code := "60003560203555" + "60206000600037" // sstore(word 1, word 0), calldatacopy(0, 0, 32)
	for i := topics; i > 0; i-- {
		code += "60" + common.Bytes2Hex([]byte{byte(32 * i)}) + "35"
	}
	return common.FromHex(code + "60206000" + common.Bytes2Hex([]byte{0xa0 + byte(topics)}) + "00")
}

// randomChain is a chain of emitters' logs, made from a seed.
type randomChain struct {
	*reader.Chain
	t       testing.TB
	db      *store.DB
	builder *evm.Builder
	key     *ecdsa.PrivateKey
	from    common.Address
	random  *rand.Rand
}

func newRandomChain(t testing.TB, kind evm.Kind, seed uint64, blocks int) *randomChain {
	return newRandomChainWith(t, kind, seed, blocks, nil)
}

// newRandomChainWith makes a random chain with storage of some emitters.
func newRandomChainWith(t testing.TB, kind evm.Kind, seed uint64, blocks int, storage map[int]map[common.Hash]common.Hash) *randomChain {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("sender")))
	if err != nil {
		t.Fatal(err)
	}
	c := &randomChain{t: t, key: key, from: crypto.PubkeyToAddress(key.PublicKey), random: rand.New(rand.NewPCG(seed, 0))}
	genesis := &evm.Genesis{Kind: kind, ChainID: 43114, Timestamp: 1_775_000_000,
		Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(15_000_000, 1, 1_000_000)},
		Alloc:       types.GenesisAlloc{c.from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}}
	for topics, address := range emitters {
		genesis.Alloc[address] = types.Account{Code: emitterCode(topics), Nonce: 1, Storage: storage[topics]}
	}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if c.db, err = store.Create(store.Memory); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.db.Close() })
	var delta *store.Delta
	if c.builder, delta, err = evm.NewBuilder(1, genesis); err != nil {
		t.Fatal(err)
	}
	row := store.Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: make([]byte, 32), SubnetID: make([]byte, 32), VMID: make([]byte, 32),
		Kind: string(kind), Genesis: raw, Upgrades: upgrades}
	addChain(t, c.db, row)
	if c.Chain, err = reader.NewChain(c.db, row); err != nil {
		t.Fatal(err)
	}
	publish(c.t, c.db, c.Chain, delta)
	for number := range blocks {
		c.block(1_775_000_010 + uint64(10*number))
	}
	return c
}

// tracerNames lists a node's tracers.
var tracerNames = []string{"4byteTracer", "callTracer", "flatCallTracer", "noopTracer", "prestateTracer"}

// feeWindowBytes is the length of the fee window at the beginning of an L1 header's extra data.
const feeWindowBytes = 80

func selector(signature string) []byte { return precompile.PackInput(signature) }

// addChain adds a chain's row to the file, which must come before its blocks.
func addChain(t testing.TB, db *store.DB, row store.Chain) {
	t.Helper()
	batch, err := db.Begin()
	if err == nil {
		err = batch.End(batch.AddChain(row))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// publish writes a block and makes it the chain's head.
func publish(t testing.TB, db *store.DB, c *reader.Chain, d *store.Delta) {
	t.Helper()
	batch, err := db.Begin()
	if err == nil {
		err = batch.End(batch.AddBlock(d))
	}
	if err == nil {
		err = c.Publish(d)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// word returns one of a few words, so that filters match and slots are overwritten and cleared.
func (c *randomChain) word() common.Hash { return common.BigToHash(big.NewInt(c.random.Int64N(4))) }

func (c *randomChain) block(time uint64) {
	c.t.Helper()
	publish(c.t, c.db, c.Chain, c.sealed(time))
}

// sealed returns the next block, which is in the file once it is published.
func (c *randomChain) sealed(time uint64) *store.Delta {
	c.t.Helper()
	p, err := c.builder.Open(1000 * time)
	if err != nil {
		c.t.Fatal(err)
	}
	for range c.random.IntN(6) {
		var data []byte
		for range 5 {
			word := c.word()
			data = append(data, word[:]...)
		}
		to := emitters[c.random.IntN(len(emitters))]
		tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(big.NewInt(int64(c.Row.EVMID))), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: p.Nonce(c.from),
			GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 100_000, To: &to, Data: data})
		if r, err := p.Apply(tx, c.from); err != nil || r.Status != 1 {
			c.t.Fatal(err, r)
		}
	}
	delta, err := p.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	return delta
}

// change changes the state after the newest block without a block.
func (c *randomChain) change(change store.StateChange) {
	c.t.Helper()
	head, err := c.Head(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	made, err := c.builder.Changes([]store.StateChange{change}, &index.LaterHoldings{Before: c.Holdings(c.t.Context(), head.Number)})
	if err != nil {
		c.t.Fatal(err)
	}
	batch, err := c.db.Begin()
	if err == nil {
		err = batch.End(batch.AddStateChange(made[0]))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.Changes.Add(1)
}
