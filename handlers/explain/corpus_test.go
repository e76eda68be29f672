package explain

import (
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/holiman/uint256"

	"snowglobe/handlers/artifacts"
)

var update = flag.Bool("update", false, "write traces.txt and steps.txt anew")

var (
	alice  = common.HexToAddress("0xa11ce00000000000000000000000000000000001")
	bob    = common.HexToAddress("0xb0b0000000000000000000000000000000000002")
	nobody = common.HexToAddress("0x00000000000000000000000000000000000abcde")
)

// builds are the ways in which testdata/compile.mjs compiles the corpus: without and with the optimizer, and by way of Yul.
var builds = []string{"plain", "optimized", "ir"}

// corpus returns the contracts of a build, from the compiler's own output and the sources as they are.
func corpus(t *testing.T, build string) *artifacts.Registry {
	t.Helper()
	var sources []string
	for _, folder := range []string{"testdata", "../../testdata/tools/traces/src"} {
		files, err := filepath.Glob(folder + "/*.sol")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, fmt.Sprintf(`"src/%s":{"content":%s}`, filepath.Base(file), marshal(t, string(text))))
		}
	}
	output, err := os.ReadFile("testdata/" + build + ".json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := artifacts.ParseStandard([]byte(`{"language":"Solidity","sources":{`+strings.Join(sources, ",")+`}}`), output, "0.8.30", "test")
	if err != nil {
		t.Fatal(err)
	}
	r := artifacts.New()
	r.Add(all...)
	return r
}

// ground is an EVM of its own, on which the contracts of a registry run.
type ground struct {
	*testing.T
	registry *artifacts.Registry
	config   runtime.Config
	made     map[string]common.Address
	from     common.Address
	gas      uint64
}

func newGround(t *testing.T, r *artifacts.Registry) *ground {
	t.Helper()
	g := &ground{T: t, registry: r, made: map[string]common.Address{}, from: alice, gas: 6_000_000}
	if _, _, err := runtime.Execute(nil, nil, &g.config); err != nil { // fills in the rest
		t.Fatal(err)
	}
	for _, a := range []common.Address{alice, bob, {}} {
		g.config.State.AddBalance(a, uint256.NewInt(1e18), tracing.BalanceChangeUnspecified)
	}
	return g
}

func (g *ground) contract(name string) *artifacts.Contract {
	g.Helper()
	for _, c := range g.registry.Contracts() {
		if c.Name == name {
			return c
		}
	}
	g.Fatalf("no contract %s", name)
	return nil
}

// creation returns the code that creates a contract, with its libraries and arguments.
func (g *ground) creation(name string, args ...any) []byte {
	g.Helper()
	c := g.contract(name)
	code := slices.Clone(c.Creation.Bytes)
	for _, l := range c.Creation.Links {
		copy(code[l.Start:], g.made[l.Library].Bytes())
	}
	packed, err := c.Interface().Constructor.Inputs.Pack(args...)
	if err != nil {
		g.Fatal(err)
	}
	return append(code, packed...)
}

// deploy makes a contract at an address that depends on nothing but its name.
func (g *ground) deploy(name string, args ...any) common.Address {
	g.Helper()
	config := g.config
	config.Origin, config.GasLimit = alice, 6_000_000
	code, _, _, err := runtime.Create(g.creation(name, args...), &config)
	if err != nil {
		g.Fatalf("%s: %v", name, err)
	}
	var at common.Address
	copy(at[:], name)
	g.config.State.SetCode(at, code, tracing.CodeChangeUnspecified)
	g.made[name] = at
	return at
}

// deployAll deploys the corpus.
func (g *ground) deployAll() {
	g.Helper()
	g.deploy("Ledger")
	g.deploy("Vault", big.NewInt(100))
	g.deploy("Middle", g.deploy("Bottom"))
	g.deploy("Top", g.made["Middle"])
	for _, name := range []string{"Receiver", "Fallback", "Notes", "Shut", "Clerk", "Open"} {
		g.deploy(name)
	}
	g.deploy("Till", alice)
	proxy := g.deploy("Proxy", g.made["Bottom"])
	g.config.State.SetState(proxy, artifacts.ImplementationSlot, common.BytesToHash(g.made["Bottom"].Bytes()))
	vault := g.made["Vault"]
	g.config.State.SetState(vault, common.Hash{}, common.BytesToHash(alice.Bytes()))
	g.config.State.SetCode(nobody2, slices.Concat(hexutil.MustDecode("0x363d3d373d3d3d363d73"), g.made["Bottom"].Bytes(), hexutil.MustDecode("0x5af43d82803e903d91602b57fd5bf3")), tracing.CodeChangeUnspecified)
	g.made["clone"] = nobody2
}

var nobody2 = common.HexToAddress("0xc1013000000000000000000000000000000000c1")

// input encodes a call: a function by its name, or by its whole signature if there are several.
func (g *ground) input(contract, function string, args ...any) []byte {
	g.Helper()
	for _, m := range g.contract(contract).Interface().Methods {
		if m.RawName == function || m.Sig == function {
			return append(slices.Clone(m.ID), g.packed(m.Inputs, args)...)
		}
	}
	g.Fatalf("%s has no function %s", contract, function)
	return nil
}

func (g *ground) packed(inputs abi.Arguments, args []any) []byte {
	g.Helper()
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			args[i] = big.NewInt(int64(n))
		}
	}
	packed, err := inputs.Pack(args...)
	if err != nil {
		g.Fatal(err)
	}
	return packed
}

// call runs a call, undoes it, and returns the record.
func (g *ground) call(to *common.Address, input []byte, value uint64) *recorder {
	g.Helper()
	r := newRecorder(g.registry)
	config, hooks := g.config, r.hooks()
	config.Origin, config.EVMConfig.Tracer = g.from, hooks
	before := config.State.Snapshot()
	context := runtime.NewEnv(&config)
	rules := context.GetRules()
	config.State.Prepare(rules, g.from, common.Address{}, to, vm.ActivePrecompiles(rules), nil)
	evm := vm.NewEVM(context.Context, state.NewHookedState(config.State, hooks), config.ChainConfig, config.EVMConfig)
	if to == nil {
		evm.Create(g.from, input, vm.NewGasBudget(g.gas, 0), uint256.NewInt(value))
	} else {
		evm.Call(g.from, *to, input, vm.NewGasBudget(g.gas, 0), uint256.NewInt(value))
	}
	config.State.RevertToSnapshot(before)
	return r
}

// strangers puts code without artifacts at two addresses: one that reverts without data, and one that reverts with Error("hm").
func (g *ground) strangers() {
	put := func(at byte, code string) {
		g.config.State.SetCode(common.BytesToAddress([]byte{at}), hexutil.MustDecode(code), tracing.CodeChangeUnspecified)
	}
	put(0xbb, "0x5f5ffd")
	text := "08c379a0" + strings.Repeat("0", 62) + "20" + strings.Repeat("0", 63) + "2" + "686d" + strings.Repeat("0", 60)
	put(0xbc, "0x6064600b5f3960645ffd00"+text)
}
