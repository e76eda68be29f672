package evm

import (
	"iter"
	"maps"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

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
	Precompiles *Precompiles
	Tracer      *tracing.Hooks // may be nil
	Warp        precompile.WarpInput
	NoBaseFee   bool // allow a gas price of zero
	MinimumGas  bool // charge at least half of the gas limit, as a C-Chain does since Helicon
}

// VM is an EVM with the call frames that its stateful precompiles read.
type VM struct {
	*vm.EVM
	precompiles *Precompiles
	bound       *bound           // nil without stateful precompiles
	framed      bool             // has call frames
	accessList  types.AccessList // complete list of a message with predicates; nil: the message's own
	minimumGas  bool

	Console bool // whether code has touched ConsoleAddress since this was last set to false
}

// ConsoleAddress is where Hardhat's console.sol and forge-std send what contracts log: "console.log" in ASCII. There is no contract.
var ConsoleAddress = common.HexToAddress("0x000000000000000000636F6e736F6c652e6c6f67")

// NewVM makes an EVM. Its Release returns what it uses.
func (s VMContext) NewVM() *VM {
	m := &VM{precompiles: s.Precompiles, minimumGas: s.MinimumGas, framed: len(s.Precompiles.stateful) > 0}
	if !m.framed {
		m.attach(s, networkState{s.State, m, s.Kind}, s.Tracer, s.Precompiles.stateless)
		return m
	}
	m.bound = s.Precompiles.bind()
	frames := m.bound.frames
	frames.Warp = s.Warp
	m.attach(s, frames.State(networkState{s.State, m, s.Kind}), frames.Hooks(s.Tracer), m.bound.framed)
	frames.Attach(m.EVM)
	return m
}

// NewFrameless makes an EVM for calls without a tracer that is about twice as fast as NewVM's: without hooks go-ethereum runs code in a loop of
// its own. Stateful precompiles need the call frames, so what it did counts only if Entered reports that it called none.
func (s VMContext) NewFrameless() *VM {
	m := &VM{precompiles: s.Precompiles, minimumGas: s.MinimumGas}
	contracts := s.Precompiles.stateless
	if len(s.Precompiles.stateful) > 0 {
		m.bound = s.Precompiles.bind()
		contracts = m.bound.frameless
	}
	m.attach(s, networkState{s.State, m, s.Kind}, nil, contracts)
	return m
}

func (m *VM) attach(s VMContext, states vm.StateDB, hooks *tracing.Hooks, contracts vm.PrecompiledContracts) {
	m.EVM = vm.NewEVM(s.Block, states, s.ChainConfig, vm.Config{Tracer: hooks, NoBaseFee: s.NoBaseFee})
	m.SetJumpDestCache(s.JumpDests)
	m.SetPrecompiles(contracts)
	if m.bound != nil {
		m.bound.state, m.bound.kind = s.State, s.Kind
	}
}

// Entered reports whether a frameless EVM called a stateful precompile, and forgets it.
func (m *VM) Entered() bool {
	if m.bound == nil || m.framed {
		return false
	}
	entered := m.bound.entered
	m.bound.entered = false
	return entered
}

// Release gives back what the EVM uses. It is not used again.
func (m *VM) Release() {
	m.EVM.Release()
	if m.bound != nil {
		m.bound.entered, m.bound.state = false, nil
		m.bound.frames.Detach()
		m.precompiles.free.Put(m.bound)
	}
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

func (n networkState) Prepare(rules params.Rules, sender, coinbase common.Address, to *common.Address, _ []common.Address, list types.AccessList) {
	if n.vm.accessList != nil {
		list = n.vm.accessList
	}
	for i := range list {
		n.vm.Console = n.vm.Console || list[i].Address == ConsoleAddress
	}
	n.StateDB.Prepare(rules, sender, coinbase, to, nil, list)
}

func (n networkState) AddressInAccessList(address common.Address) bool {
	return n.vm.precompiles.Warm(address) || n.StateDB.AddressInAccessList(address)
}

// AddAddressToAccessList also notices the first touch of the console in a transaction.
func (n networkState) AddAddressToAccessList(address common.Address) {
	if address == ConsoleAddress {
		n.vm.Console = true
	}
	if !n.vm.precompiles.Warm(address) {
		n.StateDB.AddAddressToAccessList(address)
	}
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
	if m.precompiles.OnlyListed() {
		if err := precompile.CheckSender(m.StateDB, message.From); err != nil {
			return nil, err
		}
	}
	if !m.framed {
		return core.ApplyMessage(m.EVM, message, gas)
	}
	frames := m.bound.frames
	predicates, rest := splitPredicates(message.AccessList)
	if len(predicates) == 0 || !m.precompiles.HasWarp() {
		result, err = core.ApplyMessage(m.EVM, message, gas)
	} else {
		frames.Warp.Predicates, frames.Warp.Failed = predicates, failed
		result, err = m.applyWithPredicates(message, predicates, rest, gas)
		frames.Warp.Predicates, frames.Warp.Failed = nil, nil
	}
	if err == nil {
		result.Err = frames.Explain(result.Err)
	}
	return result, err
}

// enteredPrecompile stands in for a stateful precompile where there are no call frames.
type enteredPrecompile struct{ entered *bool }

func (enteredPrecompile) Name() string { return "stateful" }

func (p enteredPrecompile) RequiredGas([]byte) uint64 {
	*p.entered = true
	return 0
}

func (enteredPrecompile) Run([]byte) ([]byte, error) { return nil, nil }

// Precompiles are the precompiled contracts of a chain at a time, by address. EVMs share them: only a Clone may be changed, before its first EVM.
type Precompiles struct {
	stateless vm.PrecompiledContracts
	stateful  map[common.Address]*precompile.Contract
	warm      map[common.Address]struct{} // from the start (EIP-2929)
	free      *sync.Pool                  // of *bound
}

// bound are the precompiles of one EVM, which tells them nothing but their input.
type bound struct {
	frames            *precompile.Frames
	framed, frameless vm.PrecompiledContracts
	entered           bool // code called a stateful one without frames

	state vm.StateDB // of the EVM, for impersonated signatures
	kind  Kind
}

// bind returns precompiles for an EVM that has no other's.
func (b *Precompiles) bind() *bound {
	if free, ok := b.free.Get().(*bound); ok {
		return free
	}
	n := &bound{frames: precompile.NewFrames(slices.Collect(maps.Values(b.stateful))), framed: maps.Clone(b.stateless), frameless: maps.Clone(b.stateless)}
	for address, c := range b.stateless {
		if c.Name() == recoverName {
			n.framed[address] = impersonatingRecover{c, n}
			n.frameless[address] = n.framed[address]
		}
	}
	for address, c := range b.stateful {
		n.framed[address], n.frameless[address] = n.frames.Bind(c), enteredPrecompile{&n.entered}
	}
	return n
}

// Stateful reports whether a stateful precompile has an address.
func (b *Precompiles) Stateful(address common.Address) bool { return b.stateful[address] != nil }

// Has reports whether any precompile has an address.
func (b *Precompiles) Has(address common.Address) bool {
	return b.stateless[address] != nil || b.stateful[address] != nil
}

// HasWarp reports whether the warp precompile is active, so that access lists carry predicates.
func (b *Precompiles) HasWarp() bool { return b.stateful[precompile.WarpAddress] == precompile.Warp }

// Restricted reports whether only some senders may create contracts, which needs call frames.
func (b *Precompiles) Restricted() bool {
	return b.stateful[precompile.DeployerAllowList.Address] == precompile.DeployerAllowList
}

// OnlyListed reports whether only some may send transactions.
func (b *Precompiles) OnlyListed() bool {
	return b.stateful[precompile.TxAllowList.Address] == precompile.TxAllowList
}

// Warm reports whether an address is warm at the beginning of every transaction (EIP-2929), as go-ethereum's precompiles and some of the chain's
// own are. Stateful precompiles are not.
func (b *Precompiles) Warm(address common.Address) bool {
	_, warm := b.warm[address]
	return warm
}

// Names returns the addresses by name: go-ethereum's name (EIP-7910), or a stateful precompile's key in a configuration. The deprecated ones have
// none.
func (b *Precompiles) Names() map[string]common.Address {
	names := map[string]common.Address{}
	for address, c := range b.stateless {
		if c != (deprecatedContract{}) {
			names[c.Name()] = address
		}
	}
	for address, c := range b.stateful {
		names[c.Key] = address
	}
	return names
}

// WarmAddresses lists them.
func (b *Precompiles) WarmAddresses() iter.Seq[common.Address] { return maps.Keys(b.warm) }

// Clone returns a copy that may be changed.
func (b *Precompiles) Clone() *Precompiles {
	return &Precompiles{maps.Clone(b.stateless), maps.Clone(b.stateful), b.warm, new(sync.Pool)}
}

// Move takes the contract away from an address and moves it to the target, if there is one. It reports whether the address had a contract.
func (b *Precompiles) Move(from common.Address, to *common.Address) bool {
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

// ActivePrecompiles finds the precompiles of a chain, and keeps the last ones: only an upgrade changes them.
type ActivePrecompiles struct{ last atomic.Pointer[active] }

type active struct {
	rules       params.Rules
	contracts   []*precompile.Contract
	precompiles *Precompiles
}

// At returns the precompiles at a time.
func (a *ActivePrecompiles) At(kind Kind, rules params.Rules, schedule *precompile.Upgrades, time uint64) *Precompiles {
	contracts := schedule.Active(time)
	if last := a.last.Load(); last != nil && last.rules == rules && slices.Equal(last.contracts, contracts) {
		return last.precompiles
	}
	next := &active{rules, contracts, newPrecompiles(kind, rules, contracts)}
	a.last.Store(next)
	return next.precompiles
}

func newPrecompiles(kind Kind, rules params.Rules, active []*precompile.Contract) *Precompiles {
	all := &Precompiles{
		stateless: vm.ActivePrecompiledContracts(rules), stateful: map[common.Address]*precompile.Contract{}, free: new(sync.Pool),
		warm: map[common.Address]struct{}{},
	}
	if kind == KindC {
		for _, address := range deprecatedAddresses {
			all.stateless[address] = deprecatedContract{}
		}
	}
	maps.Copy(all.stateless, vm.PrecompiledContractsP256Verify)
	for address := range all.stateless {
		all.warm[address] = struct{}{}
	}
	for _, c := range active {
		all.stateful[c.Address] = c
	}
	return all
}

// deprecatedContract reverts every call, without data (coreth nativeasset.DeprecatedContract).
type deprecatedContract struct{}

func (deprecatedContract) RequiredGas([]byte) uint64  { return 0 }
func (deprecatedContract) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecatedContract) Name() string               { return "deprecated" }
