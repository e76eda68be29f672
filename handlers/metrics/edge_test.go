package metrics_test

import (
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// small is a chain whose blocks a test makes at chosen times.
type small struct {
	t       *testing.T
	row     store.Chain
	builder *evm.Builder
	first   *store.Delta
	keys    []*ecdsa.PrivateKey
}

func newSmall(t *testing.T, id int, network string, start time.Time) *small {
	t.Helper()
	c := &small{t: t}
	alloc := types.GenesisAlloc{}
	for i := range 3 {
		key, err := crypto.ToECDSA(crypto.Keccak256([]byte{byte(i)}))
		if err != nil {
			t.Fatal(err)
		}
		c.keys = append(c.keys, key)
		alloc[c.account(i)] = types.Account{Balance: new(big.Int).Lsh(big.NewInt(1), 96)}
	}
	genesis := &evm.Genesis{Kind: evm.KindL1, ChainID: uint64(1000 + id), Timestamp: uint64(start.Unix()), Alloc: alloc,
		Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(20_000_000, 25e9, 1_000_000)}}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name := crypto.Keccak256([]byte{byte(id)})
	c.row = store.Chain{ID: id, Network: network, EVMID: genesis.ChainID, BlockchainID: name, SubnetID: name, VMID: name,
		Kind: string(evm.KindL1), Name: fmt.Sprint("Small ", id), Genesis: raw, Upgrades: upgrades}
	if c.builder, c.first, err = evm.NewBuilder(id, genesis); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *small) account(i int) common.Address { return crypto.PubkeyToAddress(c.keys[i].PublicKey) }

// deed is a transaction: a payment from one account to another, or a creation if there is code.
type deed struct {
	from, to int
	code     string
}

// block makes a block of deeds.
func (c *small) block(at time.Time, deeds ...deed) *store.Delta {
	c.t.Helper()
	p, err := c.builder.Open(uint64(at.UnixMilli()))
	if err != nil {
		c.t.Fatal(err)
	}
	id := new(big.Int).SetUint64(c.row.EVMID)
	for _, d := range deeds {
		tx := &types.DynamicFeeTx{ChainID: id, Nonce: p.Nonce(c.account(d.from)), GasTipCap: big.NewInt(1e9),
			GasFeeCap: big.NewInt(900e9), Gas: 200_000, Data: common.FromHex(d.code)}
		if d.code == "" {
			to := c.account(d.to)
			tx.To = &to
		}
		signed := types.MustSignNewTx(c.keys[d.from], types.LatestSignerForChainID(id), tx)
		if _, err := p.Apply(signed, c.account(d.from)); err != nil {
			c.t.Fatal(err)
		}
	}
	delta, err := p.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	return delta
}

// smallWorld returns a world of such chains; its clock stands at until.
func smallWorld(t *testing.T, until time.Time, chains []*small, deltas ...*store.Delta) *sim.World {
	t.Helper()
	creation, err := sim.Create(store.Memory, sim.Identity{Profile: "small", Until: until})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chains {
		creation.AddChain(c.row)
		creation.AddBlock(c.first)
	}
	for _, d := range deltas {
		creation.AddBlock(d)
	}
	w, err := creation.Finish(t.Context(), sim.Participants{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

const (
	creates  = "60016000526001601ff3" // leaves one byte of code behind
	reverts  = "60006000fd"           // reverts
	midnight = "2026-06-01 00:00:00"  // a Monday and the first of a month
)

// TestBlocksAtTheEdgesOfIntervals makes blocks in the last two seconds of an hour, day, week and month, and in the first second of the next ones, on
// two chains of one network, with the later one written first.
func TestBlocksAtTheEdgesOfIntervals(t *testing.T) {
	a, b := newSmall(t, 1, "mainnet", at("2026-05-29 12:00:00")), newSmall(t, 2, "mainnet", at("2026-05-31 23:00:00"))
	lone := newSmall(t, 3, "fuji", at("2026-06-02 00:00:00")) // a chain with one block, which is empty
	w := smallWorld(t, at("2026-06-03 00:00:00"), []*small{a, b, lone},
		b.block(at(midnight), deed{from: 0, to: 2}),
		b.block(at("2026-06-02 00:00:00"), deed{from: 2, to: 0}),
		a.block(at("2026-05-30 00:00:00"), deed{from: 0, to: 1}, deed{from: 0, code: creates}),
		a.block(at("2026-05-31 23:59:58"), deed{from: 0, to: 1}, deed{from: 1, code: creates}, deed{from: 2, code: reverts}),
		a.block(at(midnight), deed{from: 0, to: 1}),
		a.block(at("2026-06-01 01:00:00"), deed{from: 1, to: 2}))
	compareAll(t, w)

	s := serve(t, w)
	for _, c := range []struct{ scope, metric, interval, want string }{
		{"total", "txCount", "month", "4 5"},
		{"total", "txCount", "week", "4 5"},
		{"total", "txCount", "day", "1 3 3 2 0"},
		{"1001", "activeAddresses", "month", "3 3"},
		{"mainnet", "activeAddresses", "day", "2 3 3 2 0"},
		{"mainnet", "activeSenders", "day", "1 2 3 1 0"},
		{"mainnet", "cumulativeAddresses", "day", "3 3 3 2 0"},
		{"mainnet", "contracts", "day", "0 0 1 1 0"},
		{"mainnet", "cumulativeContracts", "day", "2 2 1 0 0"},
		{"mainnet", "cumulativeDeployers", "day", "2 2 2 1 0"},
		{"mainnet", "maxTps", "day", "0.000011574074074074073 0.5 0.000017361312052222826 0.000046296296296296294 0"},
		{"1003", "txCount", "day", "0"},
		{"1003", "avgTps", "day", "0"},
	} {
		var have string
		for _, p := range everyPoint(t, s, c.scope, c.metric, c.interval, 100) {
			have += " " + p.Value.String()
		}
		if have != " "+c.want {
			t.Errorf("%s %s by %s: %s, want %s", c.scope, c.metric, c.interval, have, c.want)
		}
	}
}

// TestBlocksThatComeLater adds blocks to a finished world one by one, on two chains alternately, one of them ahead of the clock and of the other, and
// compares with the rows after each; a server with earlier responses in its cache agrees.
func TestBlocksThatComeLater(t *testing.T) {
	a, b := newSmall(t, 1, "mainnet", at("2026-05-31 22:00:00")), newSmall(t, 2, "mainnet", at("2026-05-31 22:00:00"))
	w := smallWorld(t, at("2026-05-31 23:59:00"), []*small{a, b})
	old, targets := serve(t, w), aboutChains(w)
	for _, d := range []*store.Delta{
		a.block(at("2026-06-08 00:00:01"), deed{from: 0, to: 1}),
		b.block(at("2026-05-31 23:59:00"), deed{from: 0, to: 1}),
		b.block(at(midnight), deed{from: 1, to: 2}, deed{from: 2, code: creates}),
		b.block(at("2026-06-07 23:59:58"), deed{from: 0, to: 2}),
		a.block(at("2026-06-08 00:00:03"), deed{from: 2, to: 1}),
		b.block(at("2026-06-08 00:00:00"), deed{from: 0, to: 2}),
	} {
		answers(t, old, targets)
		write(t, w, func(b *store.Batch) error { return b.AddBlock(d) })
		compareWithNew(t, old, w, targets)
		compareAll(t, w)
	}
}

// TestNetworkWithoutChains has no points, because there is no first block.
func TestNetworkWithoutChains(t *testing.T) {
	w := smallWorld(t, at(midnight), []*small{newSmall(t, 1, "mainnet", at("2026-05-31 22:00:00"))})
	compareAll(t, w)
	if points := everyPoint(t, serve(t, w), "testnet", "txCount", "day", 100); len(points) != 0 {
		t.Errorf("points are %v", points)
	}
}

// TestCreationsThatAreUndoneDoNotCount creates by transaction and from within a contract, and fails at both.
func TestCreationsThatAreUndoneDoNotCount(t *testing.T) {
	a := newSmall(t, 1, "mainnet", at("2026-05-31 22:00:00"))
	inner := "600060006000f0" // CREATE with empty init code
	w := smallWorld(t, at(midnight), []*small{a},
		a.block(at("2026-05-31 22:30:00"), deed{from: 0, code: creates}, deed{from: 1, code: reverts}),
		a.block(at("2026-05-31 22:40:00"), deed{from: 0, code: inner + "00"}, deed{from: 1, code: inner + reverts}))
	s := serve(t, w)
	for metric, want := range map[string]string{"contracts": "3", "deployers": "2", "txCount": "4"} {
		if points := everyPoint(t, s, "1001", metric, "day", 100); points[0].Value.String() != want {
			t.Errorf("%s is %s, want %s", metric, points[0].Value, want)
		}
	}
	compareAll(t, w)
}
