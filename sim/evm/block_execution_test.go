package evm

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/precompile"
)

// callingCodes lists codes with calls that a tracer reports, and some without calls.
var callingCodes = []struct {
	name, code string
	calls      int // calls that the index lists, the first time
}{
	{"stores", "600160015500", 0},
	{"logs", "60006000a000", 0},
	{"reverts", "60006000fd", 0},
	{"loops without end", "5b600056", 0},
	{"calls", "6000600060006000600073000000000000000000000000000000000000dead61ffff f100", 0},
	{"calls with value", "6000600060006000600173000000000000000000000000000000000000dead61ffff f100", 1},
	{"calls with more than it has", "60006000600060006bffffffffffffffffffffffff73000000000000000000000000000000000000dead61ffff f100", 1},
	{"calls and reverts", "6000600060006000600173000000000000000000000000000000000000dead61ffff f160006000fd", 1},
	{"calls a precompile", "6000600060006000600060045af100", 0},
	{"calls a stateful precompile", "634213cf7860e01b60005260206000600460006000730200000000000000000000000000000000000005620ffffff1 00", 0},
	{"reads a stateful precompile", "634213cf7860e01b6000526020600060046000730200000000000000000000000000000000000005620ffffffa 00", 0},
	{"delegates", "600060006000600073000000000000000000000000000000000000dead61fffff400", 0},
	{"calls as another's code", "6000600060006000600173000000000000000000000000000000000000dead61ffff f200", 1},
	{"creates", "600060006000f000", 1},
	{"creates with more than it has", "600060006bfffffffffffffffffffffffff000", 1},
	{"creates at a salt", "6000600060006000f500", 1},
	{"creates at a salt that is taken", "6000600060006000f56000600060006000f500", 2},
	{"destroys itself", "73000000000000000000000000000000000000deadff", 1},
	{"creates where somebody is", "6000600060006000f500", 1},
	{"creates what destroys itself", "626000ff600052 6003601d6001f000", 2},
}

// TestCallsOfEveryKind executes codes that call in every way, and counts the calls that the index lists.
func TestCallsOfEveryKind(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		c, _ := newTestChain(t, kind)
		begin, quorum := c.genesis.Timestamp, uint64(67)
		c.genesis.Precompiles.Genesis = precompile.Configs{precompile.Warp.Key: {BlockTimestamp: &begin, Quorum: &quorum}}
		codes := map[string]common.Address{"a precompile": common.HexToAddress("0x04"), "a stateful precompile": common.HexToAddress("0x0200000000000000000000000000000000000005")}
		for i, code := range callingCodes {
			at := common.Address{1, 19: byte(i)}
			codes[code.name] = at
			c.genesis.Alloc[at] = types.Account{Code: common.FromHex(strings.ReplaceAll(code.code, " ", "")), Balance: big.NewInt(1000)}
			if code.name == "creates where somebody is" {
				c.genesis.Alloc[crypto.CreateAddress2(at, [32]byte{}, crypto.Keccak256())] = types.Account{Nonce: 1, Balance: new(big.Int)}
			}
		}
		c.callAll(c.begin(), codes)
	}
}

// TestRefusedCreationIsTraced lets a contract with the highest nonce try to create another.
func TestRefusedCreationIsTraced(t *testing.T) {
	c, _ := newTestChain(t, KindC)
	at := common.Address{9}
	c.genesis.Alloc[at] = types.Account{Code: common.FromHex("600060006000f000"), Balance: new(big.Int).Lsh(big.NewInt(1), 90), Nonce: math.MaxUint64 - 1}
	b, _, err := NewBuilder(1, c.genesis)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Open(1_700_000_100_000)
	if err != nil {
		t.Fatal(err)
	}
	tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(43114), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(500e9), Gas: 300_000, Nonce: math.MaxUint64 - 1, To: &at, Value: new(big.Int)})
	if tx, err = Impersonate(tx, big.NewInt(43114), at); err != nil {
		t.Fatal(err)
	}
	if _, err = p.Apply(tx, at); err != nil {
		t.Fatal(err)
	}
	if calls := p.recorder.Calls(); len(calls) != 1 || !calls[0].Reverted {
		t.Errorf("calls are %+v, want the creation that failed", calls)
	}
}

// callAll lets a block call every code, in the order of their addresses.
func (c *testChain) callAll(b *Builder, codes map[string]common.Address) {
	c.Helper()
	p, err := b.Open(1_700_000_100_000)
	if err != nil {
		c.Fatal(err)
	}
	calls := map[string]int{}
	for _, name := range slices.SortedFunc(maps.Keys(codes), func(a, b string) int { return codes[a].Cmp(codes[b]) }) {
		to, before := codes[name], len(p.recorder.Calls())
		if _, err := p.Apply(c.sign(&types.DynamicFeeTx{Nonce: p.Nonce(c.from), To: &to}), c.from); err != nil {
			c.Fatal(name, err)
		}
		calls[name] = len(p.recorder.Calls()) - before
	}
	for _, code := range callingCodes {
		if calls[code.name] != code.calls {
			c.Errorf("a code that %s made %d calls, want %d", code.name, calls[code.name], code.calls)
		}
	}
	if _, err := p.Seal(); err != nil {
		c.Fatal(err)
	}
}
