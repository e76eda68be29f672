package evm

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// oneSigner is a network where one validator with weight 3 of 4 signs for every subnet except an unknown one.
type oneSigner struct {
	key   *warp.SecretKey
	asked ids.ID // the subnet whose validators were asked for
}

var errUnknown = errors.New("unknown")

func (n *oneSigner) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	switch blockchain {
	case ids.ID{9}:
		return ids.Empty, errUnknown
	case ids.ID{1}:
		return ids.ID{5}, nil
	}
	return ids.Empty, nil
}

func (n *oneSigner) WarpSet(subnet ids.ID, _ uint64) (*warp.CanonicalValidatorSet, error) {
	n.asked = subnet
	if subnet == (ids.ID{6}) {
		return nil, errUnknown
	}
	return warp.NewCanonicalValidatorSet([]warp.Validator{{NodeID: ids.NodeID{1}, PublicKey: n.key.PublicKey(), Weight: 3}, {NodeID: ids.NodeID{2}, Weight: 1}})
}

func (*oneSigner) Simulates(ids.ID) bool { return false }

// message signs a blockchain's message, or leaves it without signers.
func (n *oneSigner) message(t *testing.T, source ids.ID, signed bool, size int) precompile.Predicate {
	t.Helper()
	payload, err := warp.AddressedCall([]byte{1}, bytes.Repeat([]byte{7}, size))
	if err != nil {
		t.Fatal(err)
	}
	m := &warp.Message{UnsignedMessage: warp.UnsignedMessage{NetworkID: 5, SourceChainID: source, Payload: payload}}
	raw, err := m.UnsignedMessage.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	sig, err := n.key.Sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	m.Signature.Signature = sig.Bytes()
	if signed {
		m.Signature.Signers = warp.SignerBits([]int{0})
	}
	if raw, err = m.Bytes(); err != nil {
		t.Fatal(err)
	}
	return precompile.NewPredicate(raw)
}

// TestSigners: the source subnet's validators must sign a message; for a message from the primary network, the receiving chain's own, unless
// configured otherwise.
func TestSigners(t *testing.T) {
	yes, no, quorum, zero := true, false, uint64(80), uint64(0)
	h := NetworkContext{SubnetID: ids.ID{7}, Network: &oneSigner{}}
	for _, c := range []struct {
		source ids.ID
		config precompile.Config
		subnet ids.ID
		quorum uint64
	}{
		{ids.ID{1}, precompile.Config{}, ids.ID{5}, 67},
		{ids.ID{1}, precompile.Config{PrimarySigners: &yes, Quorum: &quorum}, ids.ID{5}, 80},
		{ids.ID{2}, precompile.Config{Quorum: &zero}, ids.ID{7}, 67},
		{ids.ID{2}, precompile.Config{PrimarySigners: &no}, ids.ID{7}, 67},
		{ids.ID{2}, precompile.Config{PrimarySigners: &yes}, ids.Empty, 67},
		{ids.Empty, precompile.Config{PrimarySigners: &yes}, ids.ID{7}, 67},
	} {
		if subnet, quorum, err := h.Signers(c.source, c.config); err != nil || subnet != c.subnet || quorum != c.quorum {
			t.Errorf("a message of %s needs %d of %s, want %d of %s: %v", c.source, quorum, subnet, c.quorum, c.subnet, err)
		}
	}
	if _, _, err := h.Signers(ids.ID{9}, precompile.Config{}); !errors.Is(err, errUnknown) {
		t.Errorf("an unknown blockchain: %v", err)
	}
	if err := (&NetworkContext{}).verifyPredicate(&warp.Message{}, precompile.Config{}, 0); !errors.Is(err, errNoNetwork) {
		t.Errorf("without a network: %v", err)
	}
	for _, subnet := range []ids.ID{{6}, {7}} { // nobody has the first one's validators
		lost := NetworkContext{SubnetID: subnet, Network: &oneSigner{key: warp.NewSecretKey([32]byte{1})}}
		for _, source := range []ids.ID{{9}, {2}} {
			m := &warp.Message{UnsignedMessage: warp.UnsignedMessage{SourceChainID: source}}
			if err := lost.verifyPredicate(m, precompile.Config{}, 0); err == nil || errors.Is(err, errUnknown) != (subnet == (ids.ID{6}) || source == (ids.ID{9})) {
				t.Errorf("%s for %s: %v", source, subnet, err)
			}
		}
	}
}

// TestEpochs counts epochs second by second.
func TestEpochs(t *testing.T) {
	start, begun := uint64(0), uint64(0)
	const first = 1000
	for at := uint64(0); at < 3000; at++ {
		if at%300 == 0 {
			start = at
			if at > first {
				begun++
			}
		}
		if EpochStart(at) != start || at >= first && EpochsBetween(first, at) != begun {
			t.Fatalf("at %d the epoch began at %d, %d since; want %d, %d", at, EpochStart(at), EpochsBetween(first, at), start, begun)
		}
	}
}

// warpChain returns an L1 whose contract asks the warp precompile for the message with an index, and logs the answer.
func warpChain(t *testing.T) (*testChain, *Builder, *oneSigner, common.Address) {
	c, _ := newTestChain(t, KindL1)
	begin := c.genesis.Timestamp
	c.genesis.Precompiles.Genesis = precompile.Configs{precompile.Warp.Key: {BlockTimestamp: &begin}}
	asker := common.Address{2}
	// getVerifiedWarpMessage(uint32) with the input as the index.
	c.genesis.Alloc[asker] = types.Account{Balance: new(big.Int), Code: common.FromHex("636f82535060e01b5f525f356004525f5f60245f73" + precompile.WarpAddress.Hex()[2:] + "5afa50" + "3d5f5f3e3d5fa000")}
	c.genesis.Alloc[common.Address{2, 2}] = types.Account{Balance: new(big.Int)}
	b := c.begin()
	n := &oneSigner{key: warp.NewSecretKey([32]byte{1})}
	b.SetNetworkContext(NetworkContext{NetworkID: 5, ChainID: ids.ID{3}, SubnetID: ids.ID{7}, Network: n})
	return c, b, n, asker
}

// TestMessagesInAccessLists sends transactions with valid and invalid messages, and checks the contracts' answers and the headers.
func TestMessagesInAccessLists(t *testing.T) {
	c, b, n, asker := warpChain(t)
	good, bad, foreign := n.message(t, ids.ID{2}, true, 40), n.message(t, ids.ID{2}, false, 10), n.message(t, ids.ID{9}, true, 5)
	other := types.AccessTuple{Address: common.Address{2, 2}, StorageKeys: []common.Hash{{1}, {2}}}
	carry := func(all ...precompile.Predicate) (list types.AccessList) {
		for _, p := range all {
			list = append(list, types.AccessTuple{Address: precompile.WarpAddress, StorageKeys: p}, other)
		}
		return list
	}
	want := map[common.Hash]*big.Int{}
	p, err := b.Open(b.head.EarliestChild())
	if err != nil {
		t.Fatal(err)
	}
	send := func(tx *types.DynamicFeeTx) (*types.Receipt, error) {
		tx.Nonce, tx.To = p.Nonce(c.from), &asker
		signed := c.sign(tx)
		left, size, have := p.GasLeft(), p.Size(), p.Balance(c.from).Clone()
		coinbase := p.Balance(Blackhole).Clone()
		r, err := p.Apply(signed, c.from)
		if err != nil {
			if p.GasLeft() != left || p.Size() != size || !p.Balance(c.from).Eq(have) || p.Nonce(c.from) != tx.Nonce {
				t.Fatalf("a transaction that is not valid changed something: %v", err)
			}
			return nil, err
		}
		paid, got := have.Sub(have, p.Balance(c.from)), new(big.Int).Mul(r.EffectiveGasPrice, new(big.Int).SetUint64(r.GasUsed))
		if paid.ToBig().Cmp(got) != 0 || coinbase.Sub(p.Balance(Blackhole), coinbase).ToBig().Cmp(got) != 0 || left-p.GasLeft() != r.GasUsed {
			t.Fatalf("%d gas at %s: the sender paid %s, %s was burned", r.GasUsed, r.EffectiveGasPrice, paid, coinbase)
		}
		return r, nil
	}
	list := types.AccessList{other}
	plain, err := send(&types.DynamicFeeTx{AccessList: list})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []struct {
		all    []precompile.Predicate
		failed int64
	}{{[]precompile.Predicate{good}, 0}, {[]precompile.Predicate{bad}, 1}, {[]precompile.Predicate{good, bad, foreign, good}, 6}} {
		for index := range v.all {
			tx := &types.DynamicFeeTx{Gas: 1_000_000, AccessList: carry(v.all...), Data: common.BigToHash(big.NewInt(int64(index))).Bytes()}
			r, err := send(tx)
			if err != nil {
				t.Fatal(err)
			}
			var extra, signers uint64
			for _, p := range v.all {
				gas, err := p.Gas()
				if err != nil {
					t.Fatal(err)
				}
				extra += gas
				signers++
			}
			valid := r.Logs[0].Data[63] == 1
			if valid != (v.failed>>index&1 == 0) || r.Status != 1 {
				t.Errorf("case %d, message %d: valid %t", i, index, valid)
			}
			want[r.TxHash] = big.NewInt(v.failed)
			intrinsic, err := IntrinsicGas(c.sign(&types.DynamicFeeTx{To: &asker, AccessList: carry(v.all...)}), true, c.genesis.ChainConfig().Rules(big.NewInt(1), true, b.head.Time))
			base, _ := core.IntrinsicGas(nil, slices.Repeat(list, len(v.all)), nil, common.Address{}, &asker, nil, c.genesis.ChainConfig().Rules(big.NewInt(1), true, b.head.Time))
			if err != nil || intrinsic != base+extra || r.GasUsed < intrinsic || r.GasUsed > intrinsic+plain.GasUsed+10_000*signers {
				t.Errorf("%d gas, of which %d are intrinsic, want %d: %v", r.GasUsed, intrinsic, base+extra, err)
			}
		}
	}
	p.gas = core.NewGasPool(100_000)
	if _, err := send(&types.DynamicFeeTx{AccessList: carry(good)}); !errors.Is(err, core.ErrGasLimitReached) {
		t.Errorf("a block without room: %v", err)
	}
	p.gas = core.NewGasPool(10_000_000)
	if _, err := send(&types.DynamicFeeTx{AccessList: carry(precompile.Predicate{{1}})}); err == nil {
		t.Error("a message without an end is carried")
	}
	if _, err := send(&types.DynamicFeeTx{AccessList: carry(good, good, good)}); !errors.Is(err, core.ErrIntrinsicGas) {
		t.Errorf("more messages than gas: %v", err)
	}
	tooMuch := new(big.Int).Lsh(big.NewInt(1), 96)
	if _, err := send(&types.DynamicFeeTx{AccessList: carry(good), Value: tooMuch}); !errors.Is(err, core.ErrInsufficientFunds) {
		t.Errorf("more than the sender has: %v", err)
	}
	p.gas = core.NewGasPool(10_000_000)
	d, err := p.Seal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := PredicateResults(KindL1, b.head)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d results, want %d: %v", len(got), len(want), err)
	}
	for tx, failed := range want {
		if got[tx] == nil || got[tx].Cmp(failed) != 0 {
			t.Errorf("the messages that failed are %s, want %s", got[tx], failed)
		}
	}
	c.write(d)
	again := c.restore(nil)
	again.SetNetworkContext(b.networkContext)
	if restored, err := RestoreBuilder(t.Context(), c.db, 1, c.genesis, b.networkContext, nil); err != nil || restored.networkContext != b.networkContext {
		t.Errorf("a restored builder has no network: %v", err)
	}
}

// TestPredicateResults reads back random results, and refuses them when any byte is missing.
func TestPredicateResults(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, kind := range []Kind{KindC, KindL1} {
		fees := map[Kind]int{KindC: 24, KindL1: 80}[kind]
		for range 50 {
			var all predicateResults
			for range random.IntN(4) {
				all = append(all, predicateResult{common.Hash{byte(random.IntN(256)), byte(random.IntN(256))}, new(big.Int).SetUint64(random.Uint64() >> random.IntN(64))})
			}
			raw := all.encode()
			h := &Header{Number: big.NewInt(1), Extra: append(make([]byte, fees), raw...)}
			got, err := PredicateResults(kind, h)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if got[r.tx] == nil || got[r.tx].Cmp(r.failed) != 0 {
					t.Fatalf("%s comes back as %s", r.failed, got[r.tx])
				}
			}
			slices.Reverse(all)
			if !bytes.Equal(all.encode(), raw) {
				t.Fatal("the order matters")
			}
			for cut := 2; cut < len(raw); cut++ {
				h.Extra = append(make([]byte, fees), raw[:cut]...)
				if _, err := PredicateResults(kind, h); !errors.Is(err, errPredicateResults) {
					t.Fatalf("of %d bytes %d are enough: %v", len(raw), cut, err)
				}
			}
			h.Extra = h.Extra[:fees+1]
			if got, err := PredicateResults(kind, h); got != nil || err != nil {
				t.Fatalf("without results: %v, %v", got, err)
			}
			h.Extra, h.Number = append(make([]byte, fees), raw...), new(big.Int)
			if got, err := PredicateResults(kind, h); got != nil || err != nil {
				t.Fatalf("a genesis has results: %v, %v", got, err)
			}
		}
	}
	other := Header{Number: big.NewInt(1), Extra: make([]byte, 24, 200)}
	tx := common.Hash{4}
	other.Extra = append(append(append(other.Extra, 0, 0, 0, 0, 0, 1), tx[:]...), 0, 0, 0, 1)
	other.Extra = append(append(other.Extra, make([]byte, 20)...), 0, 0, 0, 1, 3)
	if got, err := PredicateResults(KindC, &other); err != nil || len(got) != 0 {
		t.Errorf("results of another precompile: %v, %v", got, err)
	}
}

// TestIntrinsicGas: without the warp precompile its address is like any other.
func TestIntrinsicGas(t *testing.T) {
	_, b, n, _ := warpChain(t)
	rules := b.rulesAt(b.head)
	message := n.message(t, ids.ID{2}, true, 300)
	list := types.AccessList{{Address: precompile.WarpAddress, StorageKeys: message}, {Address: common.Address{1}, StorageKeys: []common.Hash{{1}}}}
	tx := types.NewTx(&types.DynamicFeeTx{To: &common.Address{}, Data: []byte{1, 2, 0}, AccessList: list})
	off, err := IntrinsicGas(tx, false, rules)
	if want := uint64(21_000 + 2*16 + 4 + 2*params.TxAccessListAddressGas + uint64(len(message)+1)*params.TxAccessListStorageKeyGas); err != nil || off != want {
		t.Errorf("%d gas, want %d: %v", off, want, err)
	}
	on, err := IntrinsicGas(tx, true, rules)
	if want := uint64(21_000 + 2*16 + 4 + params.TxAccessListAddressGas + params.TxAccessListStorageKeyGas + 125_000 + 512*uint64(len(message)) + 250); err != nil || on != want {
		t.Errorf("%d gas, want %d: %v", on, want, err)
	}
	list[0].StorageKeys = nil
	if _, err := IntrinsicGas(types.NewTx(&types.DynamicFeeTx{To: &common.Address{}, AccessList: list}), true, rules); err == nil {
		t.Error("an empty message has a price")
	}
}

// TestImpersonates distinguishes impersonated transactions from signed ones and from other accounts'.
func TestImpersonates(t *testing.T) {
	c, _ := newTestChain(t, KindC)
	signed := c.sign(&types.DynamicFeeTx{To: &common.Address{1}})
	if Impersonates(signed, c.from) {
		t.Error("a signed transaction is impersonated")
	}
	for _, sender := range []common.Address{{}, {1}, {19: 9}, c.from} {
		for _, inner := range []types.TxData{&types.LegacyTx{}, &types.DynamicFeeTx{ChainID: big.NewInt(43114)}} {
			tx, err := Impersonate(types.NewTx(inner), big.NewInt(43114), sender)
			if err != nil || !Impersonates(tx, sender) || Impersonates(tx, common.Address{7}) {
				t.Fatalf("%s: %v", sender, err)
			}
			for i := range 64 { // each byte of R and S counts
				signature := make([]byte, 65)
				_, r, s := tx.RawSignatureValues()
				r.FillBytes(signature[:32])
				s.FillBytes(signature[32:64])
				signature[i] ^= 2
				other, err := tx.WithSignature(types.LatestSignerForChainID(big.NewInt(43114)), signature)
				if err != nil || Impersonates(other, sender) {
					t.Fatalf("with another byte %d: %v", i, err)
				}
			}
		}
	}
}

// TestEarliestBlock searches, one by one, for the first millisecond with enough capacity.
func TestEarliestBlock(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		s := feeState{capacity: random.Uint64N(1 << random.IntN(26)), targetExcess: random.Uint64N(120_000_000)}
		h := &Header{Number: big.NewInt(1), TimeMilliseconds: 50_000, MinDelayExcess: random.Uint64N(initialDelay), Extra: s.encode()}
		want := h.EarliestChild()
		if got := EarliestBlock(KindL1, h); got != want {
			t.Fatalf("an L1 waits until %d, want %d", got, want)
		}
		for limit := s.maxCapacity(); ; want++ {
			if state := feeStateAt(h, want); state.capacity >= min(limit-limit/timeToFillCapacity, 15_000_000) {
				break
			}
		}
		if got := EarliestBlock(KindC, h); got != want {
			t.Fatalf("after %+v the first block is at %d, want %d", s, got, want)
		}
	}
}

// TestTargetsMove moves targets in both directions, to the step and beyond, with an excess and a capacity that no longer fit.
func TestTargetsMove(t *testing.T) {
	if moved := (feeState{targetExcess: 1, excess: math.MaxUint64}).moveTarget(math.MaxUint64 >> 40); moved.excess != math.MaxUint64 {
		t.Errorf("an excess beyond 64 bits becomes %d", moved.excess)
	}
	full := feeState{targetExcess: maxTargetExcessDiff * 3}
	full.capacity = full.maxCapacity()
	if lower := full.moveTarget(0); lower.targetExcess != maxTargetExcessDiff*2 || lower.capacity != lower.maxCapacity() || lower.capacity >= full.capacity {
		t.Errorf("a full chain with a lower target has %+v", lower)
	}
	if same := full.moveTarget(full.targetExcess); same != full {
		t.Errorf("a target that stays makes %+v", same)
	}
}

// TestPrecompilesMove moves precompiles to other addresses.
func TestPrecompilesMove(t *testing.T) {
	_, b, _, _ := warpChain(t)
	original := b.active.At(b.kind, b.rulesAt(b.head), b.schedule, b.head.Time)
	identity, target := common.Address{19: 4}, common.Address{8}
	for _, from := range []common.Address{identity, precompile.WarpAddress, {7, 7}} {
		for _, to := range []*common.Address{nil, &target} {
			p := original.Clone()
			pure, isPure := p.stateless[from]
			stateful, isStateful := p.stateful[from]
			if moved := p.Move(from, to); moved != (isPure || isStateful) {
				t.Errorf("%s had a contract: %t", from, moved)
			}
			if p.stateless[from] != nil || p.stateful[from] != nil || p.HasWarp() == (from == precompile.WarpAddress) {
				t.Errorf("%s still has a contract", from)
			}
			gotPure, there := p.stateless[target]
			if there != (isPure && to != nil) || there && gotPure != pure {
				t.Errorf("%s did not move", from)
			}
			gotStateful, there := p.stateful[target]
			if there != (isStateful && to != nil) || there && gotStateful != stateful {
				t.Errorf("%s did not move", from)
			}
		}
	}
	if original.stateless[identity] == nil || !original.HasWarp() || len(original.stateful) != 1 {
		t.Error("a move changed the original")
	}
}

// TestGenesisIsReadAsItWasWritten; a genesis with anything that no chain of a world has is refused.
func TestGenesisIsReadAsItWasWritten(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		c, b := newTestChain(t, kind)
		c.genesis.Extra = []byte{1, 2}
		c.genesis.Alloc[common.Address{9}] = types.Account{Nonce: 3}
		raw, upgrades, err := c.genesis.Encode()
		if err != nil {
			t.Fatal(err)
		}
		g, err := ParseGenesis(kind, raw, upgrades)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := ParseGenesis(kind, raw, upgrades); err != nil || same != g {
			t.Errorf("a genesis is parsed twice: %v", err)
		}
		again, againUpgrades, err := g.Encode()
		if err != nil || !bytes.Equal(again, raw) || !bytes.Equal(againUpgrades, upgrades) {
			t.Errorf("%s: %s, want %s: %v", kind, again, raw, err)
		}
		one, _, err := NewBuilder(1, c.genesis)
		if err != nil {
			t.Fatal(err)
		}
		two, _, err := NewBuilder(1, g)
		if err != nil || one.hash != two.hash || one.hash == b.hash {
			t.Errorf("%s: the parsed genesis makes block %s, want %s: %v", kind, two.hash, one.hash, err)
		}
		limit, fee := one.head.GasLimit, one.head.BaseFee.Int64()
		if kind == KindC && (limit != 100_000_000 || fee != 225_000_000_000) || kind == KindL1 && (limit != 20_000_000 || fee != 25e9) || one.head.TimeMilliseconds != 1000*c.genesis.Timestamp {
			t.Errorf("%s: block 0 has %d gas at %d", kind, limit, fee)
		}
		for _, change := range [][2]string{
			{`"nonce":"0x0"`, `"nonce":"0x1"`}, {`"number":"0x0"`, `"number":"0x1"`}, {`"gasUsed":"0x0"`, `"gasUsed":"0x1"`},
			{`"mixHash":"0x0`, `"mixHash":"0x1`}, {`"parentHash":"0x0`, `"parentHash":"0x1`}, {`"coinbase":"0x0`, `"coinbase":"0x1`}, {`"difficulty":"0x0"`, `"difficulty":"0x1"`},
			{`"gasLimit":"0x`, `"gasLimit":"0x1`}, {`"chainId":43114`, `"chainId":43114,"allowFeeRecipients":true`}, {`"alloc":{`, `"alloc":[`}, {`"chainId":43114`, `"chainId":"x"`}, {`"config":{`, `"config":7,"x":{`},
		} {
			bad := strings.Replace(string(raw), change[0], change[1], 1)
			if bad == string(raw) {
				t.Fatalf("there is no %s in %s", change[0], raw)
			}
			if _, err := ParseGenesis(kind, []byte(bad), upgrades); err == nil {
				t.Errorf("%s: a genesis with %s is read", kind, change[1])
			}
		}
		other := map[Kind]Kind{KindC: KindL1, KindL1: KindC}[kind]
		if _, err := ParseGenesis(other, raw, upgrades); !errors.Is(err, errFees) {
			t.Errorf("%s as %s: %v", kind, other, err)
		}
		if less := strings.Replace(string(raw), `"difficulty":"0x0",`, "", 1); less == string(raw) {
			t.Error("no difficulty to leave out")
		} else if _, err := ParseGenesis(kind, []byte(less), upgrades); err != nil {
			t.Errorf("a genesis without difficulty: %v", err)
		}
		lost := &Genesis{alloc: []byte(`{"zz":{}}`)}
		if _, err := lost.Allocation(); err == nil {
			t.Error("an allocation to no address")
		}
	}
}

// TestDisabledPrecompileLosesItsAccount disables a precompile with storage by an upgrade, in a running builder and in a reopened one.
func TestDisabledPrecompileLosesItsAccount(t *testing.T) {
	for _, restore := range []bool{false, true} {
		c, _ := newTestChain(t, KindL1)
		begin, end := c.genesis.Timestamp, c.genesis.Timestamp+50
		const key = "contractNativeMinterConfig"
		c.genesis.Precompiles.Genesis = precompile.Configs{key: {BlockTimestamp: &begin, Admins: []common.Address{c.from, {3}}}}
		c.genesis.Precompiles.Upgrades = []precompile.PrecompileUpgrade{{key: {BlockTimestamp: &end, Disable: true}}}
		b := c.begin()
		address := b.schedule.Active(begin)[0].Address
		c.write(c.block(b, begin+40, &common.Address{4}, ""))
		rows := b.state.slots.count(address)
		if before, err := b.Account(address); err != nil || before == nil || rows < 2 {
			t.Fatalf("%s has %v with %d slots: %v", address, before, rows, err)
		}
		if restore {
			b = c.restore(nil)
		}
		p, err := b.Open(1000 * (end + 1))
		if err != nil {
			t.Fatal(err)
		}
		if p.state.Exist(address) || p.state.GetStorageRoot(address) != (common.Hash{}) {
			t.Error("a block sees the account that its upgrade deletes")
		}
		if _, err := p.Apply(c.sign(&types.DynamicFeeTx{Nonce: p.Nonce(c.from), To: &common.Address{4}}), c.from); err != nil {
			t.Fatal(err)
		}
		d, err := p.Seal()
		if err != nil {
			t.Fatal(err)
		}
		cleared := 0
		for _, row := range d.Slots {
			if bytes.Equal(row.Address, address[:]) && len(row.Value) == 0 {
				cleared++
			}
		}
		i := slices.IndexFunc(d.Accounts, func(a store.Account) bool { return bytes.Equal(a.Address, address[:]) })
		if i < 0 || !d.Accounts[i].Gone || cleared != rows {
			t.Errorf("of %d slots %d are cleared, the account's row is %d", rows, cleared, i)
		}
		c.write(d)
		flat := NewFlatState(t.Context(), c.db, 1, b.head.Number.Uint64())
		tree, err := flat.AccountTrie(KindL1)
		if err != nil || tree.Hash() != b.head.Root {
			t.Errorf("the accounts hash to %s, want %s: %v", tree.Hash(), b.head.Root, err)
		}
		if next := c.restore(nil); next.Root() != b.Root() {
			t.Error("a restored builder has another state")
		}
		c.write(c.block(b, end+20, &common.Address{4}, ""))
	}
}

// TestDrafts previews a block on a head, without tries.
func TestDrafts(t *testing.T) {
	c, b := newTestChain(t, KindC)
	c.write(c.block(b, 1_700_000_100, nil, "60076001554360025560018060005260016000f3"))
	flat := NewFlatState(t.Context(), c.db, 1, b.head.Number.Uint64())
	asked := uint64(0)
	results, err := DecodeResults(nil, b.head)
	if err != nil {
		t.Fatal(err)
	}
	draft, err := NewDraft(1, c.genesis, NetworkContext{ChainID: ids.ID{4}}, b.head, b.hash, results, flat, vm.GetHashFunc(func(n uint64) common.Hash {
		asked = n
		return common.Hash{5}
	}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := draft.Open(1_700_000_110_000)
	if err != nil {
		t.Fatal(err)
	}
	// The code logs the hash of the block before.
	tx := c.sign(&types.DynamicFeeTx{Nonce: p.Nonce(c.from), Data: common.FromHex("6001430340" + "5f5260205fa000")})
	if r, err := p.Apply(tx, c.from); err != nil || !bytes.Equal(r.Logs[0].Data, common.Hash{5}.Bytes()) || asked != 1 {
		t.Fatalf("the hash of block %d: %v, %v", asked, r, err)
	}
	h, _, states, d, err := p.Draft()
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := tx.MarshalBinary()
	if h.GasUsed != p.receipts[0].GasUsed || h.Bloom != types.MergeBloom(p.receipts) || h.ParentHash != b.hash || len(d.Transactions) != 1 || !bytes.Equal(d.Transactions[0].Raw, raw) || h.TxHash == types.EmptyTxsHash || h.ReceiptHash == types.EmptyReceiptsHash || states.GetNonce(c.from) != 2 {
		t.Errorf("the draft is %+v", h)
	}
	if draft.networkContext.ChainID != (ids.ID{4}) || draft.Root() != b.Root() || crypto.CreateAddress(c.from, 1) != p.receipts[0].ContractAddress {
		t.Error("the draft has another chain")
	}
	next, err := draft.NextHeader(1_700_000_110_000, Override{Coinbase: &common.Address{1}})
	if err != nil || next.Coinbase != (common.Address{1}) || next.Number.Uint64() != 2 || next.TimeMilliseconds != 1_700_000_110_000 {
		t.Errorf("the next header is %+v: %v", next, err)
	}
	for _, fee := range []*big.Int{big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 256)} {
		if _, err := b.NextHeader(1_700_000_110_000, Override{BaseFee: fee}); !errors.Is(err, errBaseFee) {
			t.Errorf("a base fee of %s: %v", fee, err)
		}
	}
	if _, err := b.NextHeader(1_700_000_110_000, Override{BaseFee: new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))}); err != nil {
		t.Errorf("the largest base fee: %v", err)
	}
}
