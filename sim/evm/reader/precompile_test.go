package reader_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

const (
	genesisTime = 1_775_000_000
	offAt       = genesisTime + 1_000 // when the permissioned chain's upgrade disables the minter
	mintAmount  = 5
)

// Contracts of the permissioned chain that pass their input on, each in its own way.
var (
	forwarder       = common.HexToAddress("0xf001")
	staticCaller    = common.HexToAddress("0xf002") // by a static call
	delegateCaller  = common.HexToAddress("0xf003") // by a delegate call
	staticForwarder = common.HexToAddress("0xf004") // a static call to the forwarder
	factory         = common.HexToAddress("0xf005") // creates a contract
	clearer         = common.HexToAddress("0xf006") // clears its first slot
)

// permissioned is an L1 whose configuration enables contracts: admin has the highest role, outsider none.
type permissioned struct {
	*reader.Chain
	t               *testing.T
	db              *store.DB
	builder         *evm.Builder
	admin, outsider *ecdsa.PrivateKey
	time            uint64
}

func keyOf(t *testing.T, name string) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func addressOf(key *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(key.PublicKey) }

// forward is code that calls an address with its whole input and returns whether that succeeded.
func forward(op vm.OpCode, to common.Address) []byte {
	value := ""
	if op == vm.CALL {
		value = "6000"
	}
	return common.FromHex(fmt.Sprintf("3660006000376000600036"+"6000%s73%x5a%02x60005260206000f3", value, to, byte(op)))
}

func newPermissioned(t *testing.T) *permissioned {
	c := &permissioned{t: t, admin: keyOf(t, "admin"), outsider: keyOf(t, "outsider"), time: genesisTime}
	zero, off := uint64(0), uint64(offAt)
	setting := precompile.Config{Admins: []common.Address{addressOf(c.admin)}, BlockTimestamp: &zero}
	minter := setting
	minter.Enabled = []common.Address{forwarder}
	rich := types.Account{Balance: new(big.Int).Lsh(big.NewInt(1), 96)}
	genesis := &evm.Genesis{Kind: evm.KindL1, ChainID: 77, Timestamp: genesisTime,
		Alloc: types.GenesisAlloc{
			addressOf(c.admin): rich, addressOf(c.outsider): rich,
			forwarder:       {Code: forward(vm.CALL, precompile.NativeMinter.Address), Nonce: 1},
			staticCaller:    {Code: forward(vm.STATICCALL, precompile.NativeMinter.Address), Nonce: 1},
			delegateCaller:  {Code: forward(vm.DELEGATECALL, precompile.NativeMinter.Address), Nonce: 1},
			staticForwarder: {Code: forward(vm.STATICCALL, forwarder), Nonce: 1},
			factory:         {Code: common.FromHex("600060006000f060005260206000f3"), Nonce: 1},
			clearer:         {Code: common.FromHex("6000600055"), Nonce: 1, Storage: map[common.Hash]common.Hash{{}: {31: 1}}},
		},
		Precompiles: precompile.Upgrades{
			FeeConfig: precompile.NewFeeConfig(15_000_000, 1, 1_000_000),
			Genesis:   precompile.Configs{precompile.DeployerAllowList.Key: setting, precompile.NativeMinter.Key: minter, precompile.FeeManager.Key: setting},
			Upgrades:  []precompile.PrecompileUpgrade{{precompile.NativeMinter.Key: {BlockTimestamp: &off, Disable: true}}},
		},
	}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Create(store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c.db = db
	row := store.Chain{ID: 1, Network: "mainnet", EVMID: 77, BlockchainID: make([]byte, 32), SubnetID: make([]byte, 32), VMID: make([]byte, 32), Kind: string(evm.KindL1), Genesis: raw, Upgrades: upgrades}
	addChain(t, db, row)
	if c.Chain, err = reader.NewChain(db, row); err != nil {
		t.Fatal(err)
	}
	var delta *store.Delta
	if c.builder, delta, err = evm.NewBuilder(1, c.Genesis); err != nil {
		t.Fatal(err)
	}
	publish(c.t, c.db, c.Chain, delta)
	return c
}

// send puts a transaction into its own block.
func (c *permissioned) send(key *ecdsa.PrivateKey, to *common.Address, gas uint64, data []byte) *types.Receipt {
	c.t.Helper()
	c.time += 10
	p, err := c.builder.Open(1000 * c.time)
	if err != nil {
		c.t.Fatal(err)
	}
	tx := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(int64(c.Row.EVMID))), &types.DynamicFeeTx{ChainID: big.NewInt(77), Nonce: p.Nonce(addressOf(key)),
		GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: gas, To: to, Data: data})
	receipt, err := p.Apply(tx, addressOf(key))
	if err != nil {
		c.t.Fatal(err)
	}
	delta, err := p.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	publish(c.t, c.db, c.Chain, delta)
	return receipt
}

// callHead calls a contract on top of the newest block.
func (c *permissioned) callHead(from *ecdsa.PrivateKey, to *common.Address, data []byte) ([]byte, error) {
	c.t.Helper()
	head, err := c.Head(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	caller, input := addressOf(from), hexutil.Bytes(data)
	result, err := c.Call(context.Background(), head, &reader.Call{From: &caller, To: to, Input: &input}, reader.Overrides{})
	if err != nil {
		c.t.Fatal(err)
	}
	return result.ReturnData, result.Err
}

func (c *permissioned) balance(of common.Address) uint64 {
	c.t.Helper()
	head, err := c.Head(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	states, err := c.State(context.Background(), head)
	if err != nil {
		c.t.Fatal(err)
	}
	return states.GetBalance(of).Uint64()
}

// input returns a selector and words.
func input(signature string, words ...any) []byte {
	data := selector(signature)
	for _, w := range words {
		switch w := w.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(w[:], 32)...)
		case int:
			data = append(data, common.LeftPadBytes(big.NewInt(int64(w)).Bytes(), 32)...)
		case int64:
			data = append(data, common.LeftPadBytes(big.NewInt(w).Bytes(), 32)...)
		}
	}
	return data
}

var (
	receiver = common.HexToAddress("0xabcd")
	minting  = input("mintNativeCoin(address,uint256)", receiver, mintAmount)
)

func TestMinterMints(t *testing.T) {
	c := newPermissioned(t)
	minter := &precompile.NativeMinter.Address
	receipt := c.send(c.admin, minter, 100_000, minting)
	if receipt.Status != types.ReceiptStatusSuccessful || c.balance(receiver) != mintAmount {
		t.Fatalf("status %d, the receiver has %d", receipt.Status, c.balance(receiver))
	}
	intrinsic := uint64(21_000)
	for _, b := range minting {
		if intrinsic += 16; b == 0 {
			intrinsic -= 12
		}
	}
	if want := intrinsic + 30_000 + 375 + 3*375 + 8*32; receipt.GasUsed != want {
		t.Errorf("minting used %d gas, want %d", receipt.GasUsed, want)
	}
	if len(receipt.Logs) != 1 || receipt.Logs[0].Address != *minter || len(receipt.Logs[0].Topics) != 3 ||
		receipt.Logs[0].Topics[0] != crypto.Keccak256Hash([]byte("NativeCoinMinted(address,address,uint256)")) ||
		receipt.Logs[0].Topics[1] != common.BytesToHash(addressOf(c.admin).Bytes()) ||
		!bytes.Equal(receipt.Logs[0].Data, common.LeftPadBytes([]byte{mintAmount}, 32)) {
		t.Errorf("logs %v", receipt.Logs)
	}
	refused := c.send(c.outsider, minter, 100_000, minting)
	if refused.Status != types.ReceiptStatusFailed || refused.GasUsed != 100_000 || len(refused.Logs) != 0 || c.balance(receiver) != mintAmount {
		t.Errorf("an outsider's minting: %+v", refused)
	}
	if _, err := c.callHead(c.outsider, minter, minting); err == nil || !strings.HasPrefix(err.Error(), "non-enabled cannot mint: 0x") {
		t.Errorf("an outsider's call: %v", err)
	}
}

// TestMinterKnowsItsCaller calls through contracts: the contract's role counts, and a static call writes nothing at any depth.
func TestMinterKnowsItsCaller(t *testing.T) {
	c := newPermissioned(t)
	for _, test := range []struct {
		through common.Address
		minted  uint64
	}{{forwarder, mintAmount}, {staticCaller, 0}, {delegateCaller, 0}, {staticForwarder, 0}} {
		before := c.balance(receiver)
		if receipt := c.send(c.outsider, &test.through, 200_000, minting); receipt.Status != types.ReceiptStatusSuccessful {
			t.Errorf("%s failed", test.through)
		}
		if got := c.balance(receiver) - before; got != test.minted {
			t.Errorf("through %s %d was minted, want %d", test.through, got, test.minted)
		}
	}
	if _, err := c.callHead(c.admin, &staticCaller, input("readAllowList(address)", addressOf(c.admin))); err != nil {
		t.Errorf("reading by a static call: %v", err)
	}
}

func TestRolesAreGivenAndTaken(t *testing.T) {
	c := newPermissioned(t)
	minter, outsider := &precompile.NativeMinter.Address, addressOf(c.outsider)
	role := func() byte {
		answer, err := c.callHead(c.outsider, minter, input("readAllowList(address)", outsider))
		if err != nil || len(answer) != 32 {
			t.Fatalf("readAllowList: %x, %v", answer, err)
		}
		return answer[31]
	}
	for _, step := range []struct {
		by     *ecdsa.PrivateKey
		method string
		status uint64
		role   byte
	}{
		{c.outsider, "setEnabled(address)", 0, 0}, {c.admin, "setEnabled(address)", 1, 1}, {c.outsider, "setNone(address)", 0, 1},
		{c.admin, "setManager(address)", 1, 3}, {c.outsider, "setAdmin(address)", 0, 3}, {c.outsider, "setNone(address)", 0, 3},
		{c.admin, "setAdmin(address)", 1, 2}, {c.outsider, "setNone(address)", 1, 0},
	} {
		receipt := c.send(step.by, minter, 100_000, input(step.method, outsider))
		if receipt.Status != step.status || role() != step.role || len(receipt.Logs) != int(step.status) {
			t.Errorf("%s: status %d, role %d, %d logs", step.method, receipt.Status, role(), len(receipt.Logs))
		}
	}
}

func TestDeployersAreChecked(t *testing.T) {
	c := newPermissioned(t)
	initCode := common.FromHex("60016000f3")
	if receipt := c.send(c.admin, nil, 100_000, initCode); receipt.Status != types.ReceiptStatusSuccessful {
		t.Error("an admin cannot deploy")
	}
	receipt := c.send(c.outsider, nil, 100_000, initCode)
	if receipt.Status != types.ReceiptStatusFailed || receipt.GasUsed != 100_000 {
		t.Errorf("an outsider's deployment: %+v", receipt)
	}
	want := fmt.Sprintf("tx.origin %s is not authorized to deploy a contract", addressOf(c.outsider))
	if _, err := c.callHead(c.outsider, nil, initCode); err == nil || err.Error() != want {
		t.Errorf("an outsider's call: %v, want %s", err, want)
	}
	for key, made := range map[*ecdsa.PrivateKey]bool{c.outsider: false, c.admin: true} {
		answer, err := c.callHead(key, &factory, nil)
		if err != nil || (common.BytesToHash(answer) != common.Hash{}) != made {
			t.Errorf("the factory answers %x, %v to an origin that may: %t", answer, err, made)
		}
	}
	tracer := "callTracer"
	block, err := c.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	traces, err := c.TraceBlock(context.Background(), block, &reader.TraceConfig{Tracer: &tracer})
	if err != nil || len(traces) != 1 || !strings.Contains(string(traces[0].Trace.JSON()), want) {
		t.Errorf("trace %v, %v", traces, err)
	}
}

// TestCallsReachTheMinter calls the minter in every way in which code runs without a block.
func TestCallsReachTheMinter(t *testing.T) {
	c := newPermissioned(t)
	ctx := context.Background()
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	from, data := addressOf(c.admin), hexutil.Bytes(minting)
	call := func() *reader.Call {
		return &reader.Call{From: &from, To: &precompile.NativeMinter.Address, Input: &data}
	}
	gas, failed, err := c.Estimate(ctx, head, call(), reader.Overrides{})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if receipt := c.send(c.admin, &precompile.NativeMinter.Address, gas, minting); receipt.Status != types.ReceiptStatusSuccessful {
		t.Errorf("the estimate of %d is too low", gas)
	}
	list, result, err := c.AccessList(ctx, head, call(), reader.Overrides{})
	if err != nil || result.Err != nil || len(list) != 0 {
		t.Errorf("access list %v, %v, %v", list, result, err)
	}
	for _, name := range tracerNames {
		if _, err := c.TraceCall(ctx, head, call(), reader.Overrides{}, &reader.TraceConfig{Tracer: &name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	away := common.HexToAddress("0xaaaa")
	moved := reader.Overrides{State: reader.StateOverrides{precompile.NativeMinter.Address: {MovePrecompileTo: &away}}}
	if result, err := c.Call(ctx, head, &reader.Call{From: &from, To: &away, Input: &data}, moved); err != nil || result.Err != nil {
		t.Errorf("moved: %v, %v", result, err)
	}
}

// TestUpgradeTurnsTheMinterOff: from its time on, the contract is gone, and a later builder finds the same state.
func TestUpgradeTurnsTheMinterOff(t *testing.T) {
	c := newPermissioned(t)
	ctx, minter := context.Background(), precompile.NativeMinter.Address
	c.send(c.admin, &minter, 100_000, minting)
	c.send(c.admin, &minter, 100_000, input("setManager(address)", addressOf(c.outsider)))
	restored, err := reader.Restore(ctx, c.Chain, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.time = offAt - 10
	first, again := c.builder, restored
	dropped, err := first.Open(1000 * (offAt + 5))
	if err != nil || dropped.Nonce(minter) != 0 {
		t.Fatalf("a block that is not made: %v", err)
	}
	receipt := c.send(c.admin, &minter, 100_000, minting)
	if receipt.Status != types.ReceiptStatusSuccessful || len(receipt.Logs) != 0 || c.balance(receiver) != mintAmount {
		t.Errorf("minting when it is off: %+v", receipt)
	}
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := again.Open(1000 * offAt)
	if err != nil {
		t.Fatal(err)
	}
	transactions, err := c.Transactions(ctx, head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(transactions[0].Transaction, transactions[0].Sender); err != nil {
		t.Fatal(err)
	}
	delta, err := p.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if common.BytesToHash(delta.Block.Hash) != head.Hash || len(delta.Slots) == 0 || len(delta.Accounts) == 0 {
		t.Errorf("a restored builder makes %x with %d slots, the other %s", delta.Block.Hash, len(delta.Slots), head.Hash)
	}
	states, err := c.State(ctx, head)
	if err != nil {
		t.Fatal(err)
	}
	slot := common.BytesToHash(addressOf(c.admin).Bytes())
	if states.Exist(minter) || states.GetState(minter, slot) != (common.Hash{}) || states.GetCodeSize(minter) != 0 {
		t.Error("something of the minter is left")
	}
	c.send(c.admin, &minter, 100_000, minting)
	if err := verify.VerifyChain(ctx, c.db, c.Chain, func(*store.Delta) {}); err != nil {
		t.Errorf("verify: %v", err)
	}
	if _, err := c.TraceBlock(ctx, head, nil); err != nil {
		t.Errorf("trace: %v", err)
	}
}

// TestNothingIsRefunded clears a slot, which refunds no gas.
func TestNothingIsRefunded(t *testing.T) {
	c := newPermissioned(t)
	receipt := c.send(c.outsider, &clearer, 100_000, nil)
	const intrinsic, pushes, cold, reset = 21_000, 6, 2_100, 2_900
	if receipt.GasUsed != intrinsic+pushes+cold+reset {
		t.Errorf("clearing a slot used %d gas", receipt.GasUsed)
	}
}

// TestReachingContracts: a stateful precompile is cold at first, like a deployed contract; P256VERIFY is warm, like the other precompiles (EIP-2929).
func TestReachingContracts(t *testing.T) {
	c := newPermissioned(t)
	p256 := common.BytesToAddress([]byte{1, 0})
	input := hexutil.Bytes(make([]byte, 160))
	direct := c.send(c.outsider, &p256, 100_000, input)
	const intrinsic, zeros, check = 21_000, 160 * 4, 6_900
	if direct.GasUsed != intrinsic+zeros+check {
		t.Errorf("checking a signature used %d gas", direct.GasUsed)
	}
	ctx := context.Background()
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	outsider := addressOf(c.outsider)
	used := func(to common.Address) uint64 {
		code := hexutil.Bytes(forward(vm.STATICCALL, to))
		caller := common.HexToAddress("0xcafe")
		result, err := c.Call(ctx, head, &reader.Call{From: &outsider, To: &caller}, reader.Overrides{State: reader.StateOverrides{caller: {Code: &code}}})
		if err != nil || result.Err != nil {
			t.Fatal(err, result)
		}
		return result.UsedGas
	}
	const cold, warm = 2_600, 100
	identity := common.BytesToAddress([]byte{4}) // 15 gas
	if near, far := used(identity), used(common.HexToAddress("0xdddd")); far-near != cold-warm-15 {
		t.Errorf("reaching what is built in costs %d, another address %d", near, far)
	}
	if near, far := used(identity), used(p256); far-near != check-15 {
		t.Errorf("reaching the check of signatures costs %d, the identity %d", far, near)
	}
	list, _, err := c.AccessList(ctx, head, &reader.Call{From: &outsider, To: &forwarder, Input: &input}, reader.Overrides{})
	if err != nil || len(list) != 1 || list[0].Address != precompile.NativeMinter.Address {
		t.Errorf("access list %v, %v", list, err)
	}
}
