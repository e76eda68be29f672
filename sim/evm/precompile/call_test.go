package precompile

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// Accounts, and a contract that passes its input on.
var (
	admin     = common.Address{0xa}
	manager   = common.Address{0xb}
	enabled   = common.Address{0xc}
	nobody    = common.Address{0xd}
	forwarder = common.Address{0xf}
)

// machine is an EVM with stateful precompiles, in block 7.
type machine struct {
	*vm.EVM
	t      *testing.T
	states *state.StateDB
	frames *Frames
}

func newMachine(t *testing.T, tracer *tracing.Hooks, all ...*Contract) *machine {
	t.Helper()
	states, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		t.Fatal(err)
	}
	frames := NewFrames(all)
	block := vm.BlockContext{
		CanTransfer: func(vm.StateDB, common.Address, *uint256.Int) bool { return true },
		Transfer:    func(vm.StateDB, common.Address, common.Address, *uint256.Int, *params.Rules) {},
		BlockNumber: big.NewInt(7), Difficulty: new(big.Int), BaseFee: new(big.Int), Random: &common.Hash{}, GasLimit: 1e9,
	}
	m := &machine{t: t, states: states, frames: frames}
	m.EVM = vm.NewEVM(block, frames.State(states), params.MergedTestChainConfig, vm.Config{Tracer: frames.Hooks(tracer)})
	bound := vm.PrecompiledContracts{}
	for _, c := range all {
		bound[c.Address] = frames.Bind(c)
		for address, role := range map[common.Address]Role{admin: Admin, manager: Manager, enabled: Enabled} {
			setRole(states, c.Address, address, role)
		}
	}
	m.SetPrecompiles(bound)
	frames.Attach(m.EVM)
	return m
}

// forwards puts code at the forwarder that calls a contract with its input, and returns whether that succeeded.
func (m *machine) forwards(to common.Address, op vm.OpCode) {
	value := "5f" // of a call
	if op == vm.STATICCALL || op == vm.DELEGATECALL {
		value = ""
	}
	m.states.SetCode(forwarder, common.FromHex("365f5f375f5f365f"+value+"73"+common.Bytes2Hex(to[:])+"5a"+common.Bytes2Hex([]byte{byte(op)})+"5f5260205ff3"), tracing.CodeChangeUnspecified)
}

// call calls a contract with a million gas, and returns how much it used.
func (m *machine) call(from, to common.Address, input []byte) (out []byte, used uint64, err error) {
	out, left, err := m.Call(from, to, input, vm.NewGasBudget(1_000_000, 0), new(uint256.Int))
	return out, 1_000_000 - left.ExecutionGas, err
}

func (m *machine) budget() vm.GasBudget { return vm.NewGasBudget(1_000_000, 0) }

func wordOf(n uint64) common.Hash { return common.BigToHash(new(big.Int).SetUint64(n)) }

func addressWord(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

// TestRoles tries all changes of roles. An admin may make any, a manager only those between none and enabled, as in subnet-evm's allowlist.Role.
func TestRoles(t *testing.T) {
	setters := []string{"setNone(address)", "setEnabled(address)", "setAdmin(address)", "setManager(address)"} // by role
	names := []string{"NoRole", "EnabledRole", "AdminRole", "ManagerRole"}
	for caller, may := range map[common.Address]func(from, to Role) bool{
		admin:   func(Role, Role) bool { return true },
		manager: func(from, to Role) bool { return from < 2 && to < 2 },
		enabled: func(Role, Role) bool { return false },
		nobody:  func(Role, Role) bool { return false },
	} {
		for from := range Role(4) {
			for to := range Role(4) {
				m := newMachine(t, nil, TxAllowList)
				setRole(m.states, TxAllowList.Address, common.Address{1}, from)
				out, used, err := m.call(caller, TxAllowList.Address, PackInput(setters[to], addressWord(common.Address{1})))
				if !may(from, to) {
					want := "cannot modify allow list: modify address: " + caller.String() + ", from role: " + names[from] + ", to role: " + names[to]
					if err == nil || err.Error() != want || used != 1_000_000 || RoleOf(m.states, TxAllowList.Address, common.Address{1}) != from {
						t.Errorf("%s from %s to %s: %d gas, %v", caller, from, to, used, err)
					}
					continue
				}
				wantLog := &types.Log{
					Address: TxAllowList.Address, Data: wordOf(uint64(from)).Bytes(), BlockNumber: 7,
					Topics: []common.Hash{crypto.Keccak256Hash([]byte("RoleSet(uint256,address,address,uint256)")), wordOf(uint64(to)), addressWord(common.Address{1}), addressWord(caller)},
				}
				logs := m.states.Logs()
				if err != nil || len(out) != 0 || used != 22_131 || len(logs) != 1 || !sameLog(logs[0], wantLog) {
					t.Errorf("%s from %s to %s: %d gas, %x, %v, %+v", caller, from, to, used, out, err, logs)
				}
				out, used, err = m.call(nobody, TxAllowList.Address, PackInput("readAllowList(address)", addressWord(common.Address{1})))
				if err != nil || used != 5_000 || !bytes.Equal(out, wordOf(uint64(to)).Bytes()) {
					t.Errorf("after %s the role is read as %x for %d gas, %v", to, out, used, err)
				}
			}
		}
	}
	m := newMachine(t, nil)
	for word, want := range map[common.Hash]Role{{31: 3}: Manager, {31: 4}: None, {0: 1, 31: 2}: None, {}: None} {
		m.states.SetState(common.Address{2}, addressWord(nobody), word)
		if got := RoleOf(m.states, common.Address{2}, nobody); got != want {
			t.Errorf("%s is %s", word, got)
		}
	}
	for role, want := range []bool{false, true, true, true} {
		if Role(role).Enabled() != want {
			t.Errorf("%s is enabled: %v", Role(role), !want)
		}
	}
	setRole(m.states, TxAllowList.Address, enabled, Enabled)
	if err := CheckSender(m.states, enabled); err != nil {
		t.Error(err)
	}
	if err := CheckSender(m.states, nobody); !errors.Is(err, ErrSender) || err.Error() != "cannot issue transaction from non-allow listed address: "+nobody.String() {
		t.Errorf("a sender that is not listed: %v", err)
	}
}

func sameLog(got, want *types.Log) bool {
	return got.Address == want.Address && bytes.Equal(got.Data, want.Data) && got.BlockNumber == want.BlockNumber && slices.Equal(got.Topics, want.Topics)
}

// TestCallFrames: who calls, whether the call may write, and what a failure costs.
func TestCallFrames(t *testing.T) {
	mint := PackInput("mintNativeCoin(address,uint256)", addressWord(common.Address{1}), wordOf(5))
	read := PackInput("readAllowList(address)", addressWord(admin))
	budget := vm.NewGasBudget(1_000_000, 0)
	type outcome struct {
		ok    bool
		used  uint64
		words string
	}
	static := func(m *machine, to common.Address, input []byte) ([]byte, uint64, error) {
		out, left, err := m.StaticCall(admin, to, input, budget)
		return out, 1_000_000 - left.ExecutionGas, err
	}
	call := func(m *machine, to common.Address, input []byte) ([]byte, uint64, error) {
		return m.call(admin, to, input)
	}
	for _, c := range []struct {
		name  string
		how   func(*machine, common.Address, []byte) ([]byte, uint64, error)
		input []byte
		want  outcome
	}{
		{"a call", call, mint, outcome{true, 31_756, ""}},
		{"a static call that writes", static, mint, outcome{false, 1_000_000, "write protection"}},
		{"a static call that reads", static, read, outcome{true, 5_000, ""}},
		{"an unknown function", call, []byte{1, 2, 3, 4}, outcome{false, 1_000_000, "invalid function selector: 0x01020304"}},
		{"half a selector", call, []byte{1, 2}, outcome{false, 1_000_000, "missing function selector to precompile - input length (2)"}},
		{"a missing argument", call, mint[:40], outcome{false, 1_000_000, "failed to unpack input: abi: cannot marshal in to go type: length insufficient 36 require 64"}},
		{"a delegated call", func(m *machine, to common.Address, input []byte) ([]byte, uint64, error) {
			out, left, err := m.DelegateCall(admin, admin, to, input, budget, new(uint256.Int))
			return out, 1_000_000 - left.ExecutionGas, err
		}, read, outcome{false, 1_000_000, "execution reverted"}},
		{"code that is called", func(m *machine, to common.Address, input []byte) ([]byte, uint64, error) {
			out, left, err := m.CallCode(admin, to, input, budget, new(uint256.Int))
			return out, 1_000_000 - left.ExecutionGas, err
		}, read, outcome{false, 1_000_000, "execution reverted"}},
	} {
		m := newMachine(t, nil, NativeMinter)
		_, used, err := c.how(m, NativeMinter.Address, c.input)
		if (err == nil) != c.want.ok || used != c.want.used || err != nil && err.Error() != c.want.words {
			t.Errorf("%s: %d gas, %v", c.name, used, err)
		}
		if len(m.frames.open) != 0 {
			t.Errorf("%s: %d frames remain open", c.name, len(m.frames.open))
		}
	}
	for _, c := range []struct {
		name    string
		op      vm.OpCode
		static  bool
		input   []byte
		enabled bool // whether the forwarder is
		ok      byte
	}{
		{"a contract without a role mints for an admin", vm.CALL, false, mint, false, 0},
		{"a contract with a role mints", vm.CALL, false, mint, true, 1},
		{"within a static call", vm.CALL, true, mint, true, 0},
		{"by a static call", vm.STATICCALL, false, mint, true, 0},
		{"a read within a static call", vm.CALL, true, read, true, 1},
		{"a read by a static call", vm.STATICCALL, false, read, true, 1},
		{"a delegated read", vm.DELEGATECALL, false, read, true, 0},
	} {
		m := newMachine(t, nil, NativeMinter)
		m.forwards(NativeMinter.Address, c.op)
		if c.enabled {
			setRole(m.states, NativeMinter.Address, forwarder, Enabled)
		}
		how := call
		if c.static {
			how = static
		}
		out, _, err := how(m, forwarder, c.input)
		if err != nil || !bytes.Equal(out, wordOf(uint64(c.ok)).Bytes()) {
			t.Errorf("%s: %x, %v", c.name, out, err)
		}
		minted := m.states.GetBalance(common.Address{1}).Uint64()
		if want := map[bool]uint64{true: 5}[c.ok == 1 && len(c.input) == len(mint)]; minted != want {
			t.Errorf("%s: minted %d, want %d", c.name, minted, want)
		}
	}
}

// TestMinting: holders of a role mint, and the event names them.
func TestMinting(t *testing.T) {
	traced := 0
	m := newMachine(t, &tracing.Hooks{OnGasChange: func(uint64, uint64, tracing.GasChangeReason) { traced++ }}, NativeMinter)
	mint := PackInput("mintNativeCoin(address,uint256)", addressWord(common.Address{1}), wordOf(5))
	for i, caller := range []common.Address{admin, manager, enabled} {
		out, used, err := m.call(caller, NativeMinter.Address, mint)
		want := &types.Log{
			Address: NativeMinter.Address, Data: wordOf(5).Bytes(), BlockNumber: 7,
			Topics: []common.Hash{crypto.Keccak256Hash([]byte("NativeCoinMinted(address,address,uint256)")), addressWord(caller), addressWord(common.Address{1})},
		}
		if logs := m.states.Logs(); err != nil || len(out) != 0 || used != 31_756 || len(logs) != i+1 || !sameLog(logs[i], want) {
			t.Errorf("%s: %x for %d gas, %v, %+v", caller, out, used, err, logs)
		}
		if got := m.states.GetBalance(common.Address{1}).Uint64(); got != uint64(5*(i+1)) {
			t.Errorf("the balance is %d", got)
		}
	}
	if traced == 0 {
		t.Error("a tracer did not see the gas")
	}
	if _, used, err := m.call(nobody, NativeMinter.Address, mint); err == nil || err.Error() != "non-enabled cannot mint: "+nobody.String() || used != 1_000_000 {
		t.Errorf("nobody mints: %d gas, %v", used, err)
	}
	empty := PackInput("mintNativeCoin(address,uint256)", addressWord(common.Address{2}), common.Hash{})
	if _, _, err := m.call(admin, NativeMinter.Address, empty); err != nil || !m.states.Exist(common.Address{2}) {
		t.Errorf("nothing is minted for a new account: %v", err)
	}
}

// TestFeeManager reads and changes the fees.
func TestFeeManager(t *testing.T) {
	m := newMachine(t, nil, FeeManager)
	words := []common.Hash{wordOf(8_000_000), wordOf(2), wordOf(25), wordOf(15_000_000), wordOf(36), wordOf(0), wordOf(1_000_000), wordOf(200_000)}
	var encoded []byte
	for _, w := range words {
		encoded = append(encoded, w[:]...)
	}
	set := PackInput("setFeeConfig(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)", words...)
	for _, input := range []string{"getFeeConfig()", "getFeeConfigLastChangedAt()"} {
		if out, _, err := m.call(nobody, FeeManager.Address, PackInput(input)); err != nil || len(bytes.Trim(out, "\x00")) != 0 {
			t.Errorf("before, %s is %x, %v", input, out, err)
		}
	}
	if _, used, err := m.call(nobody, FeeManager.Address, set); err == nil || err.Error() != "non-enabled cannot change fee config: "+nobody.String() || used != 1_000_000 {
		t.Errorf("nobody changes the fees: %d gas, %v", used, err)
	}
	before := make([]byte, 8*32)
	for range 2 {
		out, used, err := m.call(enabled, FeeManager.Address, set)
		if err != nil || len(out) != 0 || used != 225_221 {
			t.Errorf("%x for %d gas, %v", out, used, err)
		}
		logs := m.states.Logs()
		want := &types.Log{Address: FeeManager.Address, Data: slices.Concat(before, encoded), BlockNumber: 7, Topics: []common.Hash{eventFeeConfigChanged, addressWord(enabled)}}
		if !sameLog(logs[len(logs)-1], want) {
			t.Errorf("the event is %+v", logs[len(logs)-1])
		}
		before = encoded
	}
	for _, c := range []struct {
		signature string
		gas       uint64
		want      []byte
	}{{"getFeeConfig()", 40_000, encoded}, {"getFeeConfigLastChangedAt()", 5_000, wordOf(7).Bytes()}} {
		if out, used, err := m.call(nobody, FeeManager.Address, PackInput(c.signature)); err != nil || used != c.gas || !bytes.Equal(out, c.want) {
			t.Errorf("%s is %x for %d gas, %v", c.signature, out, used, err)
		}
	}
	words[0] = common.Hash{}
	bad := PackInput(SetFeeConfig, words...)
	if _, _, err := m.call(admin, FeeManager.Address, bad); err == nil || err.Error() != "cannot verify fee config: gasLimit cannot be less than or equal to 0: gasLimit = 0" {
		t.Errorf("no gas limit: %v", err)
	}
	if got := m.states.GetState(FeeManager.Address, common.Hash{1}); got != wordOf(8_000_000) { // as subnet-evm stores it
		t.Errorf("the first slot has %s", got)
	}
	stored, changed := StoredFeeConfig(m.states.GetState)
	want := NewFeeConfig(8_000_000, 25, 15_000_000)
	if !reflect.DeepEqual(stored.Words(), want.Words()) || changed.Uint64() != 7 || stored.TargetBlockRate != 2 {
		t.Errorf("stored are %+v, from block %s", stored, changed)
	}
}

// TestDeployers: transactions of others create no contracts, by themselves or in calls, and a tracer shows why.
func TestDeployers(t *testing.T) {
	creator := common.Address{0xe}
	for _, c := range []struct {
		name      string
		origin    common.Address
		contracts []*Contract
		mayCreate bool
	}{
		{"an enabled one", enabled, []*Contract{DeployerAllowList}, true},
		{"another", nobody, []*Contract{DeployerAllowList}, false},
		{"another without the list", nobody, []*Contract{NativeMinter}, true},
	} {
		var errs []string
		entered := 0
		m := newMachine(t, &tracing.Hooks{
			OnEnterV2: func(int, byte, common.Address, common.Address, []byte, tracing.Gas, *big.Int) { entered++ },
			OnExitV2: func(_ int, _ []byte, _ tracing.Gas, err error, _ bool) {
				if err != nil {
					errs = append(errs, err.Error())
				}
			},
		}, c.contracts...)
		m.SetTxContext(vm.TxContext{Origin: c.origin, GasPrice: new(uint256.Int)})
		words := "tx.origin " + c.origin.String() + " is not authorized to deploy a contract"
		nonce := m.states.GetNonce(c.origin)
		_, address, left, err := m.Create(c.origin, common.FromHex("5f5ff3"), vm.NewGasBudget(100_000, 0), new(uint256.Int))
		err = m.frames.Explain(err)
		if c.mayCreate && (err != nil || left.ExecutionGas == 0) || !c.mayCreate && (err == nil || err.Error() != words || left.ExecutionGas != 0 || m.states.GetNonce(address) != 0) {
			t.Errorf("%s creates with %d gas left: %v", c.name, left.ExecutionGas, err)
		}
		if m.states.GetNonce(c.origin) != nonce+1 {
			t.Errorf("%s: the nonce is %d", c.name, m.states.GetNonce(c.origin))
		}
		for _, code := range []string{"5f5f5ff0" + "5f5260205ff3", "5f5f5f5ff5" + "5f5260205ff3"} { // create, create2; and return the address
			m.states.SetCode(creator, common.FromHex(code), tracing.CodeChangeUnspecified)
			out, _, err := m.call(c.origin, creator, nil)
			if created := len(bytes.Trim(out, "\x00")) > 0; err != nil || created != c.mayCreate {
				t.Errorf("%s calls a contract that creates %x, %v", c.name, out, err)
			}
			if m.frames.Explain(vm.ErrContractAddressCollision) != vm.ErrContractAddressCollision {
				t.Errorf("%s: a call is refused", c.name)
			}
		}
		want := map[bool][]string{false: {words, words, words}}[c.mayCreate]
		if !slices.Equal(errs, want) || entered != 5 {
			t.Errorf("%s: the tracer saw %d frames and %q", c.name, entered, errs)
		}
		if c.mayCreate { // at an address that is taken
			m.states.SetNonce(crypto.CreateAddress(c.origin, m.states.GetNonce(c.origin)), 1, tracing.NonceChangeUnspecified)
			errs = nil
			_, _, _, err := m.Create(c.origin, nil, m.budget(), new(uint256.Int))
			if err = m.frames.Explain(err); err != vm.ErrContractAddressCollision || !slices.Equal(errs, []string{"contract address collision"}) {
				t.Errorf("%s creates a contract twice: %v, the tracer saw %q", c.name, err, errs)
			}
		}
		if other := errors.New("other"); m.frames.Explain(other) != other {
			t.Errorf("%s: another error is explained", c.name)
		}
	}
}

// TestDetachedFramesForget: an EVM that is used again has nothing of the transaction before.
func TestDetachedFramesForget(t *testing.T) {
	m := newMachine(t, nil, DeployerAllowList)
	m.SetTxContext(vm.TxContext{Origin: nobody, GasPrice: new(uint256.Int)})
	if _, _, _, err := m.Create(nobody, nil, vm.NewGasBudget(100_000, 0), new(uint256.Int)); m.frames.Explain(err) == err {
		t.Errorf("nothing explains %v", err)
	}
	m.frames.Warp.NetworkID = 5
	m.frames.Detach()
	if m.frames.Explain(vm.ErrContractAddressCollision) != vm.ErrContractAddressCollision || m.frames.Warp.NetworkID != 0 || m.frames.evm != nil || len(m.frames.contracts) != 1 {
		t.Errorf("what remains is %+v", m.frames)
	}
	if name := m.frames.Bind(Warp).Name(); !strings.HasPrefix(name, "warp") {
		t.Errorf("the warp precompile is called %s", name)
	}
}
