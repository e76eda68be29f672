package relayer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/relayer"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

var (
	someone = common.Address{0xaa}
	deliver = crypto.PubkeyToAddress(ok(crypto.HexToECDSA(fixtures.Relayer().Key)).PublicKey)
)

// ok is for calls that fail only if the test is wrong.
func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair is a world in which the C-Chain's messenger sends to an L1.
type pair struct {
	*testing.T
	world  *sim.World
	c, l1  *miner.Miner
	failed []string
	forged store.Position // of the log of a message that did not arrive
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{T: t, world: seedtest.Copy(t, 3)}
	l1 := p.world.Chains[slices.IndexFunc(p.world.Chains, func(c *reader.Chain) bool { return c.Kind == evm.KindL1 })]
	p.c, p.l1 = p.world.MinerOf(p.world.NetworkOf(l1).CChain()), p.world.MinerOf(l1)
	check(t, p.c.SetBalance(t.Context(), someone, uint256.NewInt(1e18)))
	check(t, p.l1.SetBalance(t.Context(), someone, uint256.NewInt(1e18)))
	p.start()
	return p
}

func (p *pair) start() {
	p.Helper()
	check(p.T, relayer.Start(p.Context(), p.world, func(err error) { p.failed = append(p.failed, err.Error()) }))
}

// input is a sender's TeleporterMessageInput, as the ABI packs it.
type input struct {
	DestinationBlockchainID [32]byte
	DestinationAddress      common.Address
	FeeInfo                 struct {
		FeeTokenAddress common.Address
		Amount          *big.Int
	}
	RequiredGasLimit        *big.Int
	AllowedRelayerAddresses []common.Address
	Message                 []byte
}

func (p *pair) input(gas *big.Int, relayers ...common.Address) input {
	in := input{DestinationBlockchainID: [32]byte(p.l1.Chain.Row.BlockchainID), DestinationAddress: someone, RequiredGasLimit: gas, AllowedRelayerAddresses: relayers, Message: []byte("hello")}
	in.FeeInfo.Amount = new(big.Int)
	return in
}

// call lets someone call a contract, in a block of its own.
func (p *pair) call(m *miner.Miner, to common.Address, data []byte) {
	p.Helper()
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	check(p.T, m.SendPrepared(p.Context(), someone, func(n miner.Next) (*types.Transaction, error) {
		return evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: n.Nonce, Gas: 2_000_000, GasTipCap: new(big.Int), GasFeeCap: n.BaseFee, To: &to, Data: data}), id, someone)
	}))
}

func packed(in input) []byte {
	return ok(ok(contracts.Load("Messenger")).ABI.Pack("sendCrossChainMessage", in))
}

// send sends from the C-Chain and returns the row of the message.
func (p *pair) send(in input) store.Message {
	p.Helper()
	p.call(p.c, fixtures.TeleporterMessenger, packed(in))
	rows, err := p.world.DB.Messages(p.Context(), store.MessageFilter{Source: p.c.Chain.Row.BlockchainID}, store.MessageCursor{Time: math.MaxInt64}, 1)
	check(p.T, err)
	return rows[0]
}

func (p *pair) plain() input { return p.input(big.NewInt(100_000)) }

func (p *pair) head(m *miner.Miner) uint64 {
	p.Helper()
	b, err := m.Chain.Head(p.Context())
	check(p.T, err)
	return b.Number
}

// arrived fails unless exactly the first n of these messages have been received, each in its own block, in this order.
func (p *pair) arrived(n int, messages ...store.Message) {
	p.Helper()
	var last uint64
	for i, m := range messages {
		events, err := p.world.DB.MessageEvents(p.Context(), m.Hash)
		check(p.T, err)
		events = slices.DeleteFunc(events, func(e store.MessageEvent) bool { return e.Kind != store.MessageReceived || e.ID == p.forged })
		switch {
		case len(events) != 1 && i < n, len(events) > 0 && i >= n:
			p.Errorf("message %d of %d arrived %d times, the first %d should have arrived", i, len(messages), len(events), n)
		case i < n && events[0].ID.Number() <= last:
			p.Errorf("message %d arrived in block %d, the one before in block %d", i, events[0].ID.Number(), last)
		case i < n:
			last = events[0].ID.Number()
		}
	}
}

// reported fails unless the relayer reported as many failures since the last time, each with this text.
func (p *pair) reported(times int, text string) {
	p.Helper()
	if len(p.failed) != times || slices.ContainsFunc(p.failed, func(f string) bool { return !strings.Contains(f, text) }) {
		p.Errorf("reported %q: want %d times %q", p.failed, times, text)
	}
	p.failed = nil
}

// TestWhatARelayerDelivers: as in icm-services, a message may ask for a bounded amount of gas, and may say who may deliver it.
func TestWhatARelayerDelivers(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	other := p.plain()
	other.DestinationBlockchainID = [32]byte{7}
	abroad := p.plain()
	for _, c := range p.world.Chains {
		if c.Row.Network != p.l1.Chain.Row.Network {
			abroad.DestinationBlockchainID = [32]byte(c.Row.BlockchainID)
		}
	}
	if abroad.DestinationBlockchainID == p.plain().DestinationBlockchainID {
		t.Fatal("there is one network only")
	}
	const gas, allowed = "its requiredGasLimit is more than 12000000", "only other relayers may deliver it"
	for _, c := range []struct {
		in     input
		blocks uint64
		failed string
	}{
		{p.plain(), 1, ""},
		{p.input(big.NewInt(12_000_000)), 1, ""},
		{p.input(big.NewInt(12_000_001)), 0, gas},
		{p.input(new(big.Int).Lsh(big.NewInt(1), 64)), 0, gas},
		{p.input(big.NewInt(0), common.Address{1}), 0, allowed},
		{p.input(big.NewInt(0), common.Address{1}, deliver), 1, ""},
		{other, 0, ""},
		{abroad, 0, ""},
	} {
		before := p.head(p.l1)
		sent := p.send(c.in)
		if made := p.head(p.l1) - before; made != c.blocks {
			t.Errorf("%+v: %d blocks", c.in, made)
		}
		p.arrived(int(c.blocks), sent)
		if c.failed == "" {
			p.reported(0, "")
		} else {
			p.reported(1, fmt.Sprintf("message of log %d of block %d on chain %d: %s", sent.ID.Index(), p.head(p.c), p.c.Chain.Row.EVMID, c.failed))
			p.arrived(0, sent)
		}
	}
	check(t, p.c.Mine(t.Context(), 1, 0)) // it doesn't retry any
	p.reported(0, "")

	// The precompile alone, or a messenger that anybody deployed, does not concern a relayer.
	before, fake := p.head(p.l1), common.Address{0xbb}
	check(t, p.c.SetCode(t.Context(), fake, ok(contracts.Load("Messenger")).Runtime))
	p.call(p.c, fake, packed(p.plain()))
	p.call(p.c, precompile.WarpAddress, precompile.PackInput("sendWarpMessage(bytes)", common.BigToHash(big.NewInt(32)), common.BigToHash(big.NewInt(3)), common.Hash{1, 2, 3}))
	if after := p.head(p.l1); after != before {
		t.Errorf("%d messages of others are delivered", after-before)
	}
	p.reported(0, "")
}

// TestADeliveryWaitsInThePool: without automine a delivery waits for a block, with a fee that survives a rise of the base fee, and gas by the formula
// of icm-services. It is sent once, even by a relayer that knows no more than the index.
func TestADeliveryWaitsInThePool(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	back := p.plain()
	back.DestinationBlockchainID = [32]byte(p.c.Chain.Row.BlockchainID)
	p.call(p.l1, fixtures.TeleporterMessenger, packed(back)) // its receipt travels with the next message
	p.l1.SetAutomine(false)
	sent := []store.Message{p.send(p.input(big.NewInt(1_000_000))), p.send(p.plain())}
	next, err := p.l1.NextBlock(t.Context())
	check(t, err)
	waiting, _ := p.l1.Pool.Of(deliver)
	if len(waiting) != 2 {
		t.Fatalf("%d wait", len(waiting))
	}
	tx := waiting[0]
	if want := new(big.Int).Add(new(big.Int).Mul(next.Header.BaseFee, big.NewInt(3)), big.NewInt(1)); tx.GasFeeCap().Cmp(want) > 0 || tx.GasTipCap().Int64() != 1 {
		t.Errorf("it pays at most %d, tip %d: want %d and 1", tx.GasFeeCap(), tx.GasTipCap(), want)
	}
	list := tx.AccessList()[0]
	signed, err := precompile.Predicate(list.StorageKeys).Message()
	check(t, err)
	logs, err := p.world.DB.LogsAt(t.Context(), []store.Position{sent[0].ID})
	check(t, err)
	signers, receipts := len(ok(warp.SignerIndices(signed.Signature.Signers))), len(index.ParseTeleporterLog(&logs[0]).Message.Receipts)
	gas := 1_000_000 + 1_000_000/63 + 125_000 + 750 + 400_000 + 1024*len(list.StorageKeys) + 250*signers + 35*len(signed.UnsignedMessage.Payload) + 50_000*receipts
	if tx.Gas() != uint64(gas) || signers == 0 || receipts == 0 {
		t.Errorf("%d gas for %d signers and %d receipts: want %d", tx.Gas(), signers, receipts, gas)
	}
	// The account's key is public: others may have sent transactions with other access lists.
	id := new(big.Int).SetUint64(p.l1.Chain.Row.EVMID)
	other, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: waiting[1].Nonce() + 1, Gas: 1_000_000, GasTipCap: new(big.Int), GasFeeCap: tx.GasFeeCap(), To: &someone,
		AccessList: types.AccessList{{Address: someone, StorageKeys: list.StorageKeys}}}), id, deliver)
	check(t, err)
	check(t, p.l1.SendFrom(t.Context(), other, deliver))
	before, _ := p.l1.Pool.Count()
	p.start()
	if after, _ := p.l1.Pool.Count(); after != before {
		t.Errorf("%d transactions wait for another relayer, %d did", after, before)
	}
	p.arrived(0, sent...)
	check(t, p.l1.Mine(t.Context(), 1, 0))
	for _, m := range sent {
		p.arrived(1, m) // in one block
	}
	mined := p.head(p.l1)
	p.l1.SetAutomine(true)
	p.start()
	if p.head(p.l1) != mined {
		t.Error("a delivered message is delivered again")
	}
	p.reported(0, "")
}

// TestUndeliveredMessagesAreTriedAgain: each later call retries up to four, oldest first, and a failure is reported once.
func TestUndeliveredMessagesAreTriedAgain(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	check(t, p.l1.SetBalance(t.Context(), deliver, new(uint256.Int)))
	sent := []store.Message{p.send(p.plain())}
	p.forgeReceipt(sent[0])
	for range 4 {
		sent = append(sent, p.send(p.plain()))
	}
	p.reported(5, "insufficient funds")
	check(t, p.l1.SetBalance(t.Context(), deliver, uint256.NewInt(1e18)))
	check(t, p.c.Mine(t.Context(), 1, 0))
	p.arrived(4, sent...)
	check(t, p.c.Mine(t.Context(), 1, 0))
	p.arrived(5, sent...)
	p.reported(0, "")
}

// forgeReceipt makes a contract on the L1 log that a message was received.
func (p *pair) forgeReceipt(m store.Message) {
	p.Helper()
	logs, err := p.world.DB.LogsAt(p.Context(), []store.Position{m.ID})
	check(p.T, err)
	event := ok(contracts.Load("Messenger")).ABI.Events["ReceiveCrossChainMessage"]
	data, err := event.Inputs.NonIndexed().Pack(someone, index.ParseTeleporterLog(&logs[0]).Message)
	check(p.T, err)
	p.install(p.l1, common.Address{0xcc}, data, slices.Concat( // PUSH32 of each topic, and LOG4
		[]byte{0x7f}, make([]byte, 32), []byte{0x7f}, m.Source, []byte{0x7f}, m.Hash, []byte{0x7f}, event.ID[:], push2(len(data)), []byte{0x5f, 0xa4}))
	p.call(p.l1, common.Address{0xcc}, nil)
	if events, err := p.world.DB.MessageEvents(p.Context(), m.Hash); err != nil || len(events) != 1 {
		p.Fatalf("%d events of the forged message: %v", len(events), err)
	} else {
		p.forged = events[0].ID
	}
}

func push2(n int) []byte { return []byte{0x61, byte(n >> 8), byte(n)} }

// install gives an account code that copies data to the start of memory before the rest.
func (p *pair) install(m *miner.Miner, at common.Address, data, rest []byte) {
	p.Helper()
	rest = append([]byte{0x5f, 0x39}, rest...) // CODECOPY
	check(p.T, m.SetCode(p.Context(), at, slices.Concat(push2(len(data)), push2(len(rest)+7), rest, []byte{0}, data)))
}

// TestAnswers: contracts that answer each other forever make progress with every call, and block no call.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	answering := common.Address{0xdd}
	for _, m := range []*miner.Miner{p.c, p.l1} {
		in := p.input(big.NewInt(500_000))
		in.DestinationAddress = answering
		if m == p.l1 {
			in.DestinationBlockchainID = [32]byte(p.c.Chain.Row.BlockchainID)
		}
		data := packed(in)
		p.install(m, answering, data, slices.Concat([]byte{0x5f, 0x5f}, push2(len(data)), []byte{0x5f, 0x5f, 0x73}, fixtures.TeleporterMessenger[:], []byte{0x5a, 0xf1})) // CALL
	}
	in := p.input(big.NewInt(500_000))
	in.DestinationAddress = answering
	c, l1 := p.head(p.c), p.head(p.l1)
	for _, arrived := range []struct{ c, l1 uint64 }{{16, 17}, {33, 33}} { // a message and 32 answers by the first call, and 32 by the second
		if arrived.l1 == 17 {
			p.send(in)
			c++ // the block that sent
		} else {
			check(t, p.c.Mine(t.Context(), 1, 0))
		}
		if gotC, gotL1 := p.head(p.c)-c, p.head(p.l1)-l1; gotC != arrived.c || gotL1 != arrived.l1 {
			t.Errorf("%d blocks on the C-Chain, %d on the L1: want %+v", gotC, gotL1, arrived)
		}
	}
	p.reported(0, "")
}

// TestGoingBackForgetsMessages: messages from before a snapshot are delivered once funds are there, and later ones are not.
func TestGoingBackForgetsMessages(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	check(t, p.l1.SetBalance(t.Context(), deliver, new(uint256.Int)))
	kept := p.send(p.plain())
	s, err := p.world.TakeSnapshot(t.Context(), "")
	check(t, err)
	undone := p.send(p.plain())
	p.reported(2, "insufficient funds")
	check(t, p.world.Revert(t.Context(), s.ID, true))
	p.failed = nil
	before := p.head(p.l1)
	check(t, p.l1.SetBalance(t.Context(), deliver, uint256.NewInt(1e18)))
	check(t, p.c.Mine(t.Context(), 2, 0))
	p.arrived(1, kept, undone)
	if made := p.head(p.l1) - before; made != 1 {
		t.Errorf("%d deliveries", made)
	}
	p.reported(0, "")
}

// fullDisk refuses blocks of one chain while it is full.
type fullDisk struct {
	chain *reader.Chain
	full  atomic.Bool
}

func (d *fullDisk) Promise(_ *store.Batch, added *sim.Added) error {
	if d.full.Load() && added.Chain == d.chain && added.Block != nil {
		return store.FailedDisk(errors.New("quota exceeded"))
	}
	return nil
}

// TestADeliveryWaitsForTheDisk: once the disk has room again, a message arrives without any further block. If funds are missing, it waits for a call.
func TestADeliveryWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	disk := &fullDisk{chain: p.l1.Chain}
	disk.full.Store(true)
	p.world.SetOutbox(disk)
	sent := p.send(p.plain())
	p.reported(1, store.ErrDisk.Error())
	disk.full.Store(false)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		p.world.Mine(ctx, func(err error) { t.Error(err) })
		close(ended)
	}()
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		if events, err := p.world.DB.MessageEvents(ctx, sent.Hash); err != nil || len(events) > 0 {
			break
		}
	}
	stop()
	<-ended
	p.arrived(1, sent)
	p.reported(0, "")
}
