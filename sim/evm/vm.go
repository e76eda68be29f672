package evm

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/cache"
	"snowglobe/sim/evm/precompile"
)

// VMContext holds the inputs of an EVM, so that code runs under the same rules in a block, a call, a trace and verification.
type VMContext struct {
	Kind        Kind
	ChainConfig *params.ChainConfig
	Block       vm.BlockContext
	State       vm.StateDB
	JumpDests   vm.JumpDestCache
	Precompiles Precompiles
	Tracer      *tracing.Hooks // may be nil
	Warp        precompile.WarpInput
	NoBaseFee   bool // allow a gas price of zero
	MinimumGas  bool // charge at least half of the gas limit, as a C-Chain does since Helicon
}

// VM is an EVM with the call frames that its stateful precompiles read.
type VM struct {
	*vm.EVM
	frames     *precompile.Frames // nil without stateful precompiles
	warp       bool               // whether the warp precompile is active
	warm       []common.Address   // warm from the start (EIP-2929), beside go-ethereum's own
	accessList types.AccessList   // complete list of a message with predicates; nil: the message's own
	minimumGas bool
}

func (s VMContext) NewVM() *VM {
	m := &VM{warm: s.Precompiles.Warm, minimumGas: s.MinimumGas}
	contracts, hooks, states := s.Precompiles.stateless, s.Tracer, vm.StateDB(networkState{s.State, m, s.Kind})
	if len(s.Precompiles.stateful) > 0 {
		m.warp = s.Precompiles.HasWarp()
		m.frames = precompile.NewFrames(s.Precompiles.active(), s.Warp)
		contracts = maps.Clone(contracts)
		for address, c := range s.Precompiles.stateful {
			contracts[address] = m.frames.Bind(c)
		}
		hooks, states = m.frames.Hooks(hooks), m.frames.State(states)
	}
	m.EVM = vm.NewEVM(s.Block, states, s.ChainConfig, vm.Config{Tracer: hooks, NoBaseFee: s.NoBaseFee})
	if m.frames != nil {
		m.frames.Attach(m.EVM)
	}
	m.SetJumpDestCache(s.JumpDests)
	m.SetPrecompiles(contracts)
	return m
}

// StateKey returns the key under which a chain stores a slot. A C-Chain clears one bit, which once separated a contract's slots from an
// account's balances of other assets (coreth core/extstate.normalizeStateKey), so two slots that differ only in this bit are one.
func StateKey(kind Kind, key common.Hash) common.Hash {
	if kind == KindC {
		key[0] &^= 1
	}
	return key
}

// networkState adds the rules of these chains to a state: no gas refunds (since Apricot phase 1), though the state counts them for traces, more warm addresses at the beginning of
// every transaction (EIP-2929), and their own slot keys.
type networkState struct {
	vm.StateDB
	vm   *VM
	kind Kind
}

func (n networkState) GetState(address common.Address, key common.Hash) common.Hash {
	return n.StateDB.GetState(address, StateKey(n.kind, key))
}

func (n networkState) GetStateAndCommittedState(address common.Address, key common.Hash) (now, before common.Hash) {
	return n.StateDB.GetStateAndCommittedState(address, StateKey(n.kind, key))
}

func (n networkState) SetState(address common.Address, key, value common.Hash) common.Hash {
	return n.StateDB.SetState(address, StateKey(n.kind, key), value)
}

func (networkState) GetRefund() uint64 { return 0 }

func (n networkState) Prepare(rules params.Rules, sender, coinbase common.Address, to *common.Address, precompiles []common.Address, list types.AccessList) {
	if n.vm.accessList != nil {
		list = n.vm.accessList
	}
	n.StateDB.Prepare(rules, sender, coinbase, to, slices.Concat(precompiles, n.vm.warm), list)
}

// Apply executes a message. failed has a bit for each invalid predicate. It returns an error only if the message could not run; the result
// reports failures of the code, and the gas charged as the gas used.
func (m *VM) Apply(message *core.Message, gas *core.GasPool, failed *big.Int) (result *core.ExecutionResult, err error) {
	result, err = m.apply(message, gas, failed)
	if err == nil && m.minimumGas {
		err = m.chargeMinimum(message, gas, result)
	}
	return result, err
}

// chargeMinimum charges a message for gas that it did not use, up to half of its limit, rounded up (ACP-194; libevm, afterGasRefund).
func (m *VM) chargeMinimum(message *core.Message, gas *core.GasPool, result *core.ExecutionResult) error {
	least := message.GasLimit/minGasDivisor + message.GasLimit%minGasDivisor
	if result.UsedGas >= least {
		return nil
	}
	more := least - result.UsedGas
	result.UsedGas = least
	m.StateDB.SubBalance(message.From, times(more, message.GasPrice), tracing.BalanceDecreaseGasBuy)
	if tip, underflow := new(uint256.Int).SubOverflow(message.GasPrice, uint256.MustFromBig(m.Context.BaseFee)); !underflow {
		m.StateDB.AddBalance(m.Context.Coinbase, times(more, tip), tracing.BalanceIncreaseRewardTransactionFee)
	}
	if gas == nil {
		return nil
	}
	if err := gas.CheckGasLegacy(more); err != nil {
		return err
	}
	return gas.ChargeGasLegacy(0, more)
}

func (m *VM) apply(message *core.Message, gas *core.GasPool, failed *big.Int) (result *core.ExecutionResult, err error) {
	if m.frames == nil {
		return core.ApplyMessage(m.EVM, message, gas)
	}
	predicates, rest := splitPredicates(message.AccessList)
	if len(predicates) == 0 || !m.warp {
		result, err = core.ApplyMessage(m.EVM, message, gas)
	} else {
		m.frames.Warp.Predicates, m.frames.Warp.Failed = predicates, failed
		result, err = m.applyWithPredicates(message, predicates, rest, gas)
		m.frames.Warp.Predicates, m.frames.Warp.Failed = nil, nil
	}
	if err == nil {
		result.Err = m.frames.Explain(result.Err)
	}
	return result, err
}

// newUntracedVM makes an EVM for view functions that is about twice as fast as NewVM's: without a tracer go-ethereum runs code without
// hooks. Stateful precompiles need the tracer's call frames, so the outcome counts only if the code entered none of them; contracts come
// from Precompiles.untraced.
func (s VMContext) newUntracedVM(contracts vm.PrecompiledContracts) *vm.EVM {
	m := vm.NewEVM(s.Block, networkState{s.State, &VM{}, s.Kind}, s.ChainConfig, vm.Config{NoBaseFee: s.NoBaseFee})
	m.SetJumpDestCache(s.JumpDests)
	m.SetPrecompiles(contracts)
	return m
}

// enteredPrecompile stands in for a stateful precompile where there are no call frames.
type enteredPrecompile struct{ entered *bool }

func (enteredPrecompile) Name() string { return "stateful" }

func (p enteredPrecompile) RequiredGas([]byte) uint64 {
	*p.entered = true
	return 0
}

func (enteredPrecompile) Run([]byte) ([]byte, error) { return nil, nil }

// Precompiles are the precompiled contracts of a chain at a time, by address.
type Precompiles struct {
	stateless vm.PrecompiledContracts // shared unless overridden: do not change
	stateful  map[common.Address]*precompile.Contract
	Warm      []common.Address // warm from the start (EIP-2929), beside go-ethereum's own
}

// active lists the stateful precompiles.
func (b Precompiles) active() []*precompile.Contract {
	var all []*precompile.Contract
	for _, c := range b.stateful {
		all = append(all, c)
	}
	return all
}

// Stateful reports whether a stateful precompile has an address.
func (b Precompiles) Stateful(address common.Address) bool { return b.stateful[address] != nil }

// HasWarp reports whether the warp precompile is active, so that access lists carry predicates.
func (b Precompiles) HasWarp() bool { return b.stateful[precompile.WarpAddress] == precompile.Warp }

// untraced returns the contracts of an EVM without call frames: entering a stateful one sets a flag.
func (b Precompiles) untraced(entered *bool) vm.PrecompiledContracts {
	contracts := maps.Clone(b.stateless)
	for address := range b.stateful {
		contracts[address] = enteredPrecompile{entered}
	}
	return contracts
}

// Clone returns a copy that may be changed.
func (b Precompiles) Clone() Precompiles {
	return Precompiles{maps.Clone(b.stateless), maps.Clone(b.stateful), b.Warm}
}

// Move takes the contract away from an address and moves it to the target, if there is one. It reports whether the address had a contract.
func (b Precompiles) Move(from common.Address, to *common.Address) bool {
	pure, isPure := b.stateless[from]
	stateful, isStateful := b.stateful[from]
	if to != nil && isPure {
		b.stateless[*to] = pure
	}
	if to != nil && isStateful {
		b.stateful[*to] = stateful
	}
	delete(b.stateless, from)
	delete(b.stateful, from)
	return isPure || isStateful
}

// JumpDestCache keeps the jump destination analysis of hot code.
type JumpDestCache struct {
	*cache.Cache[common.Hash, vm.BitVec]
}

func NewJumpDestCache() JumpDestCache {
	return JumpDestCache{cache.New[common.Hash, vm.BitVec](nil)}
}

// Load implements vm.JumpDestCache.
func (j JumpDestCache) Load(hash common.Hash) (vm.BitVec, bool) { return j.Get(hash) }

// Store implements vm.JumpDestCache.
func (j JumpDestCache) Store(hash common.Hash, vector vm.BitVec) { j.Add(hash, vector) }

// deprecatedAddresses lists the addresses of the C-Chain's deprecated precompiles: genesis, native asset balance and native asset call (coreth
// params/hooks_libevm.go). A call to one of them reverts.
var deprecatedAddresses = []common.Address{
	Blackhole,
	common.HexToAddress("0x0100000000000000000000000000000000000001"),
	common.HexToAddress("0x0100000000000000000000000000000000000002"),
}

// warmAddresses returns a chain kind's precompiles that are warm at the beginning of a transaction (EIP-2929), beside go-ethereum's own.
// Stateful precompiles are not.
func warmAddresses(kind Kind) []common.Address {
	all := slices.Collect(maps.Keys(vm.PrecompiledContractsP256Verify))
	if kind == KindC {
		all = append(all, deprecatedAddresses...)
	}
	return all
}

// PrecompilesAt returns the precompiles of a chain at a time.
func PrecompilesAt(kind Kind, rules params.Rules, schedule *precompile.Upgrades, time uint64) Precompiles {
	all := Precompiles{stateless: vm.ActivePrecompiledContracts(rules), stateful: map[common.Address]*precompile.Contract{}, Warm: warmAddresses(kind)}
	if kind == KindC {
		for _, address := range deprecatedAddresses {
			all.stateless[address] = deprecatedContract{}
		}
	}
	maps.Copy(all.stateless, vm.PrecompiledContractsP256Verify)
	for _, c := range schedule.Active(time) {
		all.stateful[c.Address] = c
	}
	return all
}

// deprecatedContract reverts every call, without data (coreth nativeasset.DeprecatedContract).
type deprecatedContract struct{}

func (deprecatedContract) RequiredGas([]byte) uint64  { return 0 }
func (deprecatedContract) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecatedContract) Name() string               { return "deprecated" }
