package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"math/big"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// counterCode counts its calls in slot 0, logs the caller and returns 42. If the first byte of the data is 1 it reverts with "nope", with 2 it hits
// an invalid opcode, with 3 it reverts without data.
const counterCode = "60003560001a8060011461005857806002146100ee57806003146100f057602a600052337ffd8d0c1dc3ab254ec49463a1192bb2423b3b851adedec1aa94dcd362dc063c9d60206000a260005460010160005560206000f35b7f08c379a0000000000000000000000000000000000000000000000000000000006000527f00000020000000000000000000000000000000000000000000000000000000006020527f000000046e6f70650000000000000000000000000000000000000000000000006040527f000000000000000000000000000000000000000000000000000000000000000060605260646000fd5bfe5b60006000fd"

// deployCounter is the init code that leaves counterCode behind.
const deployCounter = "6100f68061000d6000396000f3" + counterCode

const genesisTime = 1_775_000_000

// testChain is a chain to which tests can add blocks.
type testChain struct {
	*reader.Chain
	t       testing.TB
	db      *store.DB
	builder *evm.Builder
	key     *ecdsa.PrivateKey
	from    common.Address
	time    uint64
	miner   *miner.Miner
}

// testWorld is three small EVM chains behind a server, the C-Chains of both networks and an L1, with P and X of both.
type testWorld struct {
	db          *store.DB
	c, l1, fuji *testChain
	networks    []*sim.Network
	node        *Node
	server      *httptest.Server
}

func newTestWorld(t testing.TB) *testWorld { return newTestWorldAt(t, store.Memory) }

func newTestWorldAt(t testing.TB, path string) *testWorld {
	db, err := store.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Finish(); err != nil {
		t.Fatal(err)
	}
	l1 := ids.ID(sha256.Sum256([]byte("an L1")))
	w := &testWorld{
		db:   db,
		c:    newTestChain(t, db, 1, evm.KindC, "mainnet", fixtures.Networks[0].CChainEVMID, fixtures.Networks[0].CChainID),
		l1:   newTestChain(t, db, 2, evm.KindL1, "mainnet", 88888, l1),
		fuji: newTestChain(t, db, 3, evm.KindC, "fuji", fixtures.Networks[1].CChainEVMID, fixtures.Networks[1].CChainID),
	}
	for _, chain := range []*testChain{w.c, w.l1, w.fuji} {
		chain.history()
	}
	w.l1.callPrecompiles()
	w.networks = newTestNetworks(t)
	w.node, err = New(Options{
		Miners: []*miner.Miner{w.c.newMiner(), w.l1.newMiner(), w.fuji.newMiner()}, Networks: w.networks, Network: "mainnet",
		Version: fixtures.NodeVersion, MaxBody: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(w.node)
	t.Cleanup(func() {
		w.node.Close()
		w.server.Close()
		db.Close()
	})
	return w
}

func newTestChain(t testing.TB, db *store.DB, id int, kind evm.Kind, network string, evmID uint64, blockchain ids.ID) *testChain {
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		t.Fatal(err)
	}
	c := &testChain{t: t, db: db, key: key, from: crypto.PubkeyToAddress(key.PublicKey), time: genesisTime + uint64(id)}
	genesis := &evm.Genesis{
		Kind: kind, ChainID: evmID, Timestamp: c.time,
		Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(10_000_000, 1_000_000_000, 15_000_000)},
		Alloc:       types.GenesisAlloc{c.from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}, Extra: []byte{0},
	}
	if kind == evm.KindL1 {
		enablePrecompiles(&genesis.Precompiles, c.from, c.time)
	}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var delta *store.Delta
	if c.builder, delta, err = evm.NewBuilder(id, genesis); err != nil {
		t.Fatal(err)
	}
	row := store.Chain{ID: id, Network: network, EVMID: evmID, BlockchainID: blockchain[:], SubnetID: blockchain[:],
		VMID: blockchain[:], Kind: string(kind), Genesis: raw, Upgrades: upgrades}
	if c.Chain, err = reader.NewChain(db, row); err != nil {
		t.Fatal(err)
	}
	of, err := fixtures.NetworkNamed(network)
	if err != nil {
		t.Fatal(err)
	}
	c.Chain.Upgrades = of.Upgrades
	c.write(func(b *store.Batch) error { return b.AddChain(row) })
	c.commit(delta)
	return c
}

// enablePrecompiles enables contracts from the first block, and disables the minter during the history.
func enablePrecompiles(s *precompile.Upgrades, admin common.Address, activated uint64) {
	off, quorum, primary := activated+400, uint64(67), true
	run := precompile.Config{Admins: []common.Address{admin}, BlockTimestamp: &activated}
	minter := run
	minter.InitialMint = map[common.Address]*math.HexOrDecimal256{common.HexToAddress("0x7ea5"): math.NewHexOrDecimal256(16)}
	s.Genesis = precompile.Configs{
		precompile.DeployerAllowList.Key: run, precompile.NativeMinter.Key: minter, precompile.FeeManager.Key: run,
		precompile.Warp.Key: {BlockTimestamp: &activated, Quorum: &quorum, PrimarySigners: &primary},
	}
	s.Upgrades = []precompile.PrecompileUpgrade{{precompile.NativeMinter.Key: {BlockTimestamp: &off, Disable: true}}}
}

// callPrecompiles mints coins, changes the fee configuration, and continues past the upgrade that disables the minter.
func (c *testChain) callPrecompiles() {
	fees := precompile.NewFeeConfig(12_000_000, 2_000_000_000, 9_000_000)
	c.block(&types.DynamicFeeTx{To: &precompile.NativeMinter.Address, Data: precompile.PackInput("mintNativeCoin(address,uint256)",
		common.HexToHash("0xabcd"), common.BigToHash(big.NewInt(5)))})
	c.block(&types.DynamicFeeTx{To: &precompile.FeeManager.Address, Data: precompile.PackInput(precompile.SetFeeConfig, fees.Words()...)})
	c.block(&types.DynamicFeeTx{To: c.counter(), Data: []byte{0}})
}

func (c *testChain) commit(d *store.Delta) {
	c.t.Helper()
	c.write(func(b *store.Batch) error { return b.AddBlock(d) })
	if err := c.Publish(d); err != nil {
		c.t.Fatal(err)
	}
}

// newMiner makes blocks in a world of this chain alone, whose clock follows the head.
func (c *testChain) newMiner() *miner.Miner {
	commit := func(_ *reader.Chain, d *store.Delta, _ uint64, _ bool) error {
		c.commit(d)
		return nil
	}
	commitChanges := func(_ *reader.Chain, all []*store.StateDelta) error {
		for _, d := range all {
			c.write(func(b *store.Batch) error { return b.AddStateChange(d) })
		}
		c.Changes.Add(1)
		return nil
	}
	var writer sync.Mutex
	lock := func(context.Context) func() { writer.Lock(); return writer.Unlock }
	c.miner = miner.New(c.Chain, miner.World{
		Lock: lock, Wait: lock, Turn: func(context.Context) {}, Outside: func(_ context.Context, wait func()) { wait() },
		Gather: func() func() error { return func() error { return nil } }, Now: func() int64 { return 0 }, Moved: func() <-chan struct{} { return nil }, Advance: func(uint64) error { return nil },
		CanStand: func(int64) error { return nil },
		Mined:    func(context.Context) {}, Commit: commit, CommitChanges: commitChanges,
	})
	return c.miner
}

// send puts transactions through the pool into one block, as clients do. No block can be made by hand afterwards.
func (c *testChain) send(transactions ...types.TxData) []*types.Transaction {
	c.t.Helper()
	c.miner.SetAutomine(false)
	var signed []*types.Transaction
	for _, data := range transactions {
		nonce, err := c.miner.Nonce(c.t.Context(), c.from)
		if err != nil {
			c.t.Fatal(err)
		}
		tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(c.id()), c.complete(data, nonce))
		if err := c.miner.Send(c.t.Context(), tx); err != nil {
			c.t.Fatal(err)
		}
		signed = append(signed, tx)
	}
	if err := c.miner.Mine(c.t.Context(), 1, 0); err != nil {
		c.t.Fatal(err)
	}
	return signed
}

func (c *testChain) write(add func(*store.Batch) error) {
	c.t.Helper()
	batch, err := c.db.Begin()
	if err == nil {
		err = batch.End(add(batch))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// block makes, commits and publishes a block of transactions, completing each like a sender would.
func (c *testChain) block(transactions ...types.TxData) []*types.Transaction {
	c.t.Helper()
	c.time += 60
	pending, err := c.builder.Open(1000 * c.time)
	if err != nil {
		c.t.Fatal(err)
	}
	var signed []*types.Transaction
	for _, data := range transactions {
		tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(c.id()), c.complete(data, pending.Nonce(c.from)))
		if _, err := pending.Apply(tx, c.from); err != nil {
			c.t.Fatal(err)
		}
		signed = append(signed, tx)
	}
	delta, err := pending.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	c.commit(delta)
	return signed
}

func (c *testChain) id() *big.Int { return new(big.Int).SetUint64(c.Genesis.ChainID) }

func (c *testChain) complete(data types.TxData, nonce uint64) types.TxData {
	tip, most := big.NewInt(1_000_000_000), big.NewInt(100_000_000_000)
	switch tx := data.(type) {
	case *types.LegacyTx:
		tx.Nonce, tx.GasPrice, tx.Gas = nonce, most, 300_000
	case *types.AccessListTx:
		tx.ChainID, tx.Nonce, tx.GasPrice, tx.Gas = c.id(), nonce, most, 300_000
	case *types.DynamicFeeTx:
		tx.ChainID, tx.Nonce, tx.GasFeeCap, tx.Gas = c.id(), nonce, most, 300_000
		if tx.GasTipCap == nil {
			tx.GasTipCap = tip
		}
	}
	return data
}

// counter returns the counter's address: the account's first contract.
func (c *testChain) counter() *common.Address {
	address := crypto.CreateAddress(c.from, 0)
	return &address
}

// history deploys, makes a block of two transactions, uses an access list, and fails three times.
func (c *testChain) history() {
	bob := common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	slots := types.AccessList{{Address: *c.counter(), StorageKeys: []common.Hash{{}}}}
	c.block(&types.LegacyTx{Data: common.FromHex(deployCounter)})
	c.block(&types.LegacyTx{To: &bob, Value: big.NewInt(1e18)}, &types.DynamicFeeTx{To: c.counter(), Data: []byte{0}})
	c.block(&types.AccessListTx{To: c.counter(), Data: []byte{0}, AccessList: slots})
	c.block(&types.DynamicFeeTx{To: c.counter(), Data: []byte{1}}, &types.DynamicFeeTx{To: c.counter(), Data: []byte{2}})
	c.block(&types.DynamicFeeTx{To: c.counter(), Data: []byte{3}}, &types.DynamicFeeTx{To: c.counter(), Data: []byte{0}, Value: big.NewInt(7)})
}
