package reader_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
	"snowglobe/sim/warp"
)

// The chains of a small network: the L1 under test, an L1 of another subnet, and the C-Chain.
var (
	ownChain, siblingChain, cChain, unknownChain = ids.ID{1}, ids.ID{2}, ids.ID{3}, ids.ID{4}
	ownSubnet, siblingSubnet                     = ids.ID{11}, ids.ID{12}
)

// warpNetwork is a network whose subnets have three validators of equal weight each.
type warpNetwork struct {
	sets map[ids.ID]*warp.CanonicalValidatorSet
}

func secretOf(subnet ids.ID, n int) *warp.SecretKey {
	return warp.NewSecretKey([32]byte(crypto.Keccak256(subnet[:], []byte{byte(n)})))
}

func newWarpNetwork(t *testing.T) *warpNetwork {
	v := &warpNetwork{sets: map[ids.ID]*warp.CanonicalValidatorSet{}}
	for _, subnet := range []ids.ID{ids.Empty, ownSubnet, siblingSubnet} {
		var all []warp.Validator
		for n := range 3 {
			all = append(all, warp.Validator{NodeID: ids.NodeID{byte(n)}, PublicKey: secretOf(subnet, n).PublicKey(), Weight: 100})
		}
		set, err := warp.NewCanonicalValidatorSet(all)
		if err != nil {
			t.Fatal(err)
		}
		v.sets[subnet] = set
	}
	return v
}

func (v *warpNetwork) SubnetOf(chain ids.ID) (ids.ID, error) {
	subnet, known := map[ids.ID]ids.ID{ids.Empty: ids.Empty, cChain: ids.Empty, ownChain: ownSubnet, siblingChain: siblingSubnet}[chain]
	if !known {
		return ids.Empty, errors.New("unknown chain")
	}
	return subnet, nil
}

func (v *warpNetwork) WarpSet(subnet ids.ID, _ uint64) (*warp.CanonicalValidatorSet, error) {
	return v.sets[subnet], nil
}

func (v *warpNetwork) Simulates(chain ids.ID) bool { return chain == cChain }

// sign lets some of a subnet's validators sign a message.
func (v *warpNetwork) sign(t *testing.T, m *warp.UnsignedMessage, subnet ids.ID, count int) []byte {
	t.Helper()
	set := v.sets[subnet]
	indices := make([]int, count)
	for i := range indices {
		indices[i] = i
	}
	signed, err := warp.Aggregate(m, set, indices, func(m *warp.CanonicalValidator) (*warp.SecretKey, error) {
		return secretOf(subnet, int(m.NodeIDs[0][0])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

var messageSender = common.HexToAddress("0x5555")

func unsignedMessage(t *testing.T, source ids.ID, text string) *warp.UnsignedMessage {
	t.Helper()
	payload, err := warp.AddressedCall(messageSender[:], []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &warp.UnsignedMessage{NetworkID: 1, SourceChainID: source, Payload: payload}
}

// newWarpChain returns a chain of a warpNetwork; primary is its requirePrimaryNetworkSigners.
func newWarpChain(t *testing.T, primary bool) (*permissioned, *warpNetwork) {
	c, v, zero := newPermissioned(t), newWarpNetwork(t), uint64(0)
	setting := precompile.Config{BlockTimestamp: &zero, PrimarySigners: &primary}
	genesis := *c.Chain.Genesis
	var err error
	if genesis.Alloc, err = genesis.Allocation(); err != nil {
		t.Fatal(err)
	}
	genesis.Precompiles.Genesis = precompile.Configs{precompile.Warp.Key: setting}
	genesis.Precompiles.Upgrades = nil
	genesis.Alloc[forwarder] = types.Account{Balance: new(big.Int), Code: forward(vm.CALL, precompile.WarpAddress), Nonce: 1}
	genesis.Alloc[staticCaller] = types.Account{Balance: new(big.Int), Code: forward(vm.STATICCALL, precompile.WarpAddress), Nonce: 1}
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
	row := store.Chain{ID: 1, Network: "mainnet", EVMID: 77, BlockchainID: ownChain[:], SubnetID: ownSubnet[:], VMID: ownSubnet[:], Kind: string(evm.KindL1), Genesis: raw, Upgrades: upgrades}
	addChain(t, db, row)
	if c.Chain, err = reader.NewChain(db, row); err != nil {
		t.Fatal(err)
	}
	c.NetworkContext = evm.NetworkContext{NetworkID: 1, ChainID: ownChain, SubnetID: ownSubnet, Network: v}
	builder, delta, err := evm.NewBuilder(1, c.Genesis)
	if err != nil {
		t.Fatal(err)
	}
	c.builder = builder
	c.builder.SetNetworkContext(c.NetworkContext)
	publish(c.t, c.db, c.Chain, delta)
	return c, v
}

// sendWithPredicates puts a transaction with an access list into its own block.
func (c *permissioned) sendWithPredicates(to common.Address, gas uint64, data []byte, list types.AccessList) (*types.Receipt, *types.Transaction, error) {
	c.t.Helper()
	c.time += 10
	p, err := c.builder.Open(1000 * c.time)
	if err != nil {
		c.t.Fatal(err)
	}
	before := p.Balance(addressOf(c.outsider)).ToBig()
	coinbase := p.Balance(evm.Blackhole).ToBig()
	tx := types.MustSignNewTx(c.outsider, types.LatestSignerForChainID(big.NewInt(int64(c.Row.EVMID))), &types.DynamicFeeTx{ChainID: big.NewInt(77), Nonce: p.Nonce(addressOf(c.outsider)),
		GasTipCap: big.NewInt(3), GasFeeCap: big.NewInt(1e12), Gas: gas, To: &to, Data: data, AccessList: list})
	receipt, err := p.Apply(tx, addressOf(c.outsider))
	if err != nil {
		return nil, tx, err
	}
	paid := new(big.Int).Mul(new(big.Int).SetUint64(receipt.GasUsed), receipt.EffectiveGasPrice)
	if spent := before.Sub(before, p.Balance(addressOf(c.outsider)).ToBig()); spent.Cmp(paid) != 0 {
		c.t.Errorf("the sender paid %v for %v", spent, paid)
	}
	if burned := new(big.Int).Sub(p.Balance(evm.Blackhole).ToBig(), coinbase); burned.Cmp(paid) != 0 {
		c.t.Errorf("%v was burned of %v", burned, paid)
	}
	delta, err := p.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	publish(c.t, c.db, c.Chain, delta)
	return receipt, tx, nil
}

func entry(message []byte) types.AccessTuple {
	return types.AccessTuple{Address: precompile.WarpAddress, StorageKeys: precompile.NewPredicate(message)}
}

func TestWarpSends(t *testing.T) {
	c, _ := newWarpChain(t, false)
	body := []byte("hello over there, this is longer than one word")
	data := append(selector("sendWarpMessage(bytes)"), common.LeftPadBytes([]byte{32}, 32)...)
	data = append(append(data, common.BigToHash(big.NewInt(int64(len(body)))).Bytes()...), common.RightPadBytes(body, 64)...)
	receipt := c.send(c.outsider, &precompile.WarpAddress, 200_000, data)
	payload, err := warp.AddressedCall(addressOf(c.outsider).Bytes(), body)
	if err != nil {
		t.Fatal(err)
	}
	m := &warp.UnsignedMessage{NetworkID: 1, SourceChainID: ownChain, Payload: payload}
	id, err := m.ID()
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Status != 1 || len(receipt.Logs) != 1 {
		t.Fatalf("%+v", receipt)
	}
	log := receipt.Logs[0]
	sent, err := warp.ParseSent(log.Data)
	if err != nil || !bytes.Equal(sent.Payload, m.Payload) || log.Topics[2] != common.Hash(id) ||
		log.Topics[1] != common.BytesToHash(addressOf(c.outsider).Bytes()) || log.Address != precompile.WarpAddress {
		t.Errorf("%+v, %v", log, err)
	}
	intrinsic := uint64(21_000)
	for _, b := range data {
		intrinsic += map[bool]uint64{true: 4, false: 16}[b == 0]
	}
	if want := intrinsic + 375 + 3*375 + 20_000 + 20_000 + 8*uint64(len(data)-4); receipt.GasUsed != want {
		t.Errorf("used %d gas: want %d", receipt.GasUsed, want)
	}
	if _, err := c.db.SentWarpMessage(context.Background(), 1, id[:]); err != nil {
		t.Error(err)
	}
	answer, err := c.callHead(c.outsider, &precompile.WarpAddress, selector("getBlockchainID()"))
	if err != nil || !bytes.Equal(answer, ownChain[:]) {
		t.Errorf("the chain is %x, %v", answer, err)
	}
	if answer, err = c.callHead(c.outsider, &precompile.WarpAddress, data); err != nil || !bytes.Equal(answer, id[:]) {
		t.Errorf("a call answers %x, %v", answer, err)
	}
	for _, bad := range [][]byte{data[:4], data[:36], append(selector("sendWarpMessage(bytes)"), bytes.Repeat([]byte{0xff}, 64)...), data[:80]} {
		if receipt := c.send(c.outsider, &precompile.WarpAddress, 200_000, bad); receipt.Status != 0 || receipt.GasUsed != 200_000 {
			t.Errorf("%x: status %d, %d gas", bad, receipt.Status, receipt.GasUsed)
		}
	}
	if answer, _ := c.callHead(c.outsider, &staticCaller, data); new(big.Int).SetBytes(answer).Sign() != 0 {
		t.Error("a static call sent a message")
	}
}

// TestWarpReceives sends transactions with valid and invalid messages and reads each of them.
func TestWarpReceives(t *testing.T) {
	for _, primary := range []bool{false, true} {
		c, v := newWarpChain(t, primary)
		signer := map[bool]ids.ID{false: ownSubnet, true: ids.Empty}[primary] // for the C-Chain's messages
		wrongNetwork := unsignedMessage(t, siblingChain, "elsewhere")
		wrongNetwork.NetworkID = 5
		tampered := v.sign(t, unsignedMessage(t, siblingChain, "tampered"), siblingSubnet, 3)
		tampered[len(tampered)-1] ^= 1
		for _, m := range []struct {
			name  string
			raw   []byte
			valid bool
		}{
			{"of the other L1", v.sign(t, unsignedMessage(t, siblingChain, "hello"), siblingSubnet, 3), true},
			{"just enough", v.sign(t, unsignedMessage(t, siblingChain, strings.Repeat("long ", 100)), siblingSubnet, 3), true},
			{"too few", v.sign(t, unsignedMessage(t, siblingChain, "few"), siblingSubnet, 2), false},
			{"another's validators", v.sign(t, unsignedMessage(t, siblingChain, "others"), ownSubnet, 3), false},
			{"the C-Chain's", v.sign(t, unsignedMessage(t, cChain, "c"), signer, 3), true},
			{"the C-Chain's, by others", v.sign(t, unsignedMessage(t, cChain, "c"), map[bool]ids.ID{true: ownSubnet, false: ids.Empty}[primary], 3), false},
			{"the P-Chain's", v.sign(t, unsignedMessage(t, ids.Empty, "p"), ownSubnet, 3), true},
			{"the P-Chain's, by the primary network", v.sign(t, unsignedMessage(t, ids.Empty, "p"), ids.Empty, 3), false},
			{"of an unknown chain", v.sign(t, unsignedMessage(t, unknownChain, "hi"), siblingSubnet, 3), false},
			{"of another network", v.sign(t, wrongNetwork, siblingSubnet, 3), false},
			{"tampered", tampered, false},
		} {
			testPredicate(t, c, fmt.Sprintf("primary %v, %s", primary, m.name), m.raw, m.valid)
		}
		if err := verify.VerifyChain(context.Background(), c.db, c.Chain, func(*store.Delta) {}); err != nil {
			t.Errorf("primary %v: %v", primary, err)
		}
		c.NetworkContext.Network = nil // without a network every message must be refused
		if err := verify.VerifyChain(context.Background(), c.db, c.Chain, func(*store.Delta) {}); err == nil {
			t.Error("verify takes the predicate results from the header")
		}
	}
}

// testPredicate sends a message and checks the gas, the header and the contract's result in the block, in a trace of it, and in a call, which accepts
// every message.
func testPredicate(t *testing.T, c *permissioned, name string, raw []byte, valid bool) {
	t.Helper()
	read := input("getVerifiedWarpMessage(uint32)", 0)
	receipt, tx, err := c.sendWithPredicates(forwarder, 500_000, read, types.AccessList{entry(raw), {Address: receiver, StorageKeys: []common.Hash{{1}}}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	bare, _, err := c.sendWithPredicates(forwarder, 500_000, read, types.AccessList{{Address: receiver, StorageKeys: []common.Hash{{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := warp.ParseMessage(raw)
	if err != nil {
		t.Fatal(err)
	}
	signers, err := warp.SignerIndices(m.Signature.Signers)
	if err != nil {
		t.Fatal(err)
	}
	chunks := uint64(len(raw)/32 + 1)
	want := 125_000 + 512*chunks + 250*uint64(len(signers)) - 2_500 // the list warms the contract
	if valid {
		want += 512 * chunks // for reading it
	}
	if have := receipt.GasUsed - bare.GasUsed; have != want {
		t.Errorf("%s: carrying and reading cost %d gas, want %d", name, have, want)
	}
	header := c.headerOf(t, receipt)
	bits := "00000000"
	if !valid {
		bits = "0000000101"
	}
	end := "0000" + "00000001" + hex.EncodeToString(tx.Hash().Bytes()) + "00000001" + hex.EncodeToString(precompile.WarpAddress[:]) + bits
	if extra := hex.EncodeToString(header.Extra[feeWindowBytes:]); extra != end {
		t.Errorf("%s: the header ends with %s, want %s", name, extra, end)
	}
	trace, err := c.TraceTransaction(context.Background(), c.transaction(t, tx.Hash()), &reader.TraceConfig{Tracer: ptr("callTracer")})
	if err != nil || strings.Contains(string(trace.JSON()), hex.EncodeToString(messageSender[:])) != valid {
		t.Errorf("%s: the trace is %s, %v", name, trace.JSON(), err)
	}
	head, err := c.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	from, data, list := addressOf(c.outsider), hexutil.Bytes(read), types.AccessList{entry(raw)}
	called, err := c.Call(context.Background(), head, &reader.Call{From: &from, To: &precompile.WarpAddress, Input: &data, AccessList: &list}, reader.Overrides{})
	if err != nil || called.Err != nil || !bytes.Contains(called.ReturnData, messageSender[:]) || called.ReturnData[63] != 1 {
		t.Errorf("%s: a call answers %+v, %v", name, called, err)
	}
	if limit, _, err := c.Estimate(context.Background(), head, &reader.Call{From: &from, To: &precompile.WarpAddress, Input: &data, AccessList: &list}, reader.Overrides{}); err != nil || limit < called.UsedGas {
		t.Errorf("%s: estimated %d for %d, %v", name, limit, called.UsedGas, err)
	}
}

func ptr[T any](v T) *T { return &v }

func (c *permissioned) headerOf(t *testing.T, r *types.Receipt) *evm.Header {
	t.Helper()
	b, err := c.Block(context.Background(), r.BlockNumber.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	return b.Header
}

func (c *permissioned) transaction(t *testing.T, hash common.Hash) *reader.Transaction {
	t.Helper()
	tx, err := c.Transaction(context.Background(), hash)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestWarpReadsBlockHashes, and an addressed call is no block hash.
func TestWarpReadsBlockHashes(t *testing.T) {
	c, v := newWarpChain(t, false)
	payload, err := warp.HashPayload(ids.ID{0xbe, 0xef})
	if err != nil {
		t.Fatal(err)
	}
	hash := v.sign(t, &warp.UnsignedMessage{NetworkID: 1, SourceChainID: siblingChain, Payload: payload}, siblingSubnet, 3)
	call := v.sign(t, unsignedMessage(t, siblingChain, "text"), siblingSubnet, 3)
	from, list := addressOf(c.outsider), types.AccessList{entry(call), entry(hash)}
	head, err := c.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		method string
		index  int64
		want   string
		fails  bool
	}{
		{"getVerifiedWarpBlockHash(uint32)", 1, hex.EncodeToString(siblingChain[:]) + "beef" + strings.Repeat("0", 60) + fmt.Sprintf("%064x", 1), false},
		{"getVerifiedWarpBlockHash(uint32)", 2, strings.Repeat("0", 192), false},
		{"getVerifiedWarpBlockHash(uint32)", 0, "", true},
		{"getVerifiedWarpMessage(uint32)", 1, "", true},
		{"getVerifiedWarpMessage(uint32)", 7, fmt.Sprintf("%064x%064x%064x%064x%064x%064x", 64, 0, 0, 0, 96, 0), false},
		{"getVerifiedWarpMessage(uint32)", 0, fmt.Sprintf("%064x%064x%s%064x%064x%064x", 64, 1, hex.EncodeToString(siblingChain[:]), messageSender.Big(), 96, 4) +
			hex.EncodeToString([]byte("text")) + strings.Repeat("0", 56), false},
		{"getVerifiedWarpMessage(uint32)", 1 << 31, "", true},
		{"getVerifiedWarpMessage(uint32)", 1 << 32, "", true},
	} {
		data := hexutil.Bytes(input(q.method, q.index))
		r, err := c.Call(context.Background(), head, &reader.Call{From: &from, To: &precompile.WarpAddress, Input: &data, AccessList: &list}, reader.Overrides{})
		if err != nil || (r.Err != nil) != q.fails || hex.EncodeToString(r.ReturnData) != q.want {
			t.Errorf("%s %d: %+v, %v", q.method, q.index, r, err)
		}
	}
}

// TestMalformedMessagesMakeTransactionsInvalid, as on the network.
func TestMalformedMessagesMakeTransactionsInvalid(t *testing.T) {
	c, v := newWarpChain(t, false)
	good := v.sign(t, unsignedMessage(t, siblingChain, "x"), siblingSubnet, 3)
	none := &warp.UnsignedMessage{NetworkID: 1, SourceChainID: siblingChain, Payload: []byte("no payload")}
	padded := append(precompile.NewPredicate(good), common.Hash{})
	cut := precompile.NewPredicate(good)
	read := input("getVerifiedWarpMessage(uint32)", 0)
	for name, bad := range map[string]struct {
		keys []common.Hash
		says string
	}{
		"empty":     {nil, "no delimiter"},
		"zeros":     {[]common.Hash{{}}, "padding"},
		"padded":    {padded, "padding"},
		"delimiter": {[]common.Hash{{1, 2, 3}}, "wrong delimiter"},
		"cut":       {cut[:len(cut)-1], "delimiter"},
		"nonsense":  {precompile.NewPredicate([]byte("nonsense")), "cannot unpack warp message"},
		"payload":   {precompile.NewPredicate(v.sign(t, none, siblingSubnet, 3)), "cannot unpack warp message payload"},
	} {
		list := types.AccessList{{Address: precompile.WarpAddress, StorageKeys: bad.keys}}
		if _, _, err := c.sendWithPredicates(forwarder, 500_000, read, list); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s: %v, want %q", name, err, bad.says)
		}
	}
	if _, _, err := c.sendWithPredicates(forwarder, 60_000, read, types.AccessList{entry(good)}); !errors.Is(err, core.ErrIntrinsicGas) {
		t.Errorf("too little gas: %v", err)
	}
	if receipt, _, err := c.sendWithPredicates(forwarder, 500_000, read, types.AccessList{entry(good)}); err != nil || receipt.Status != 1 {
		t.Errorf("after all that: %+v, %v", receipt, err)
	}
}
