// Cross-chain messages between chains of one server, with the relayer running.

package handlers_test

import (
	"bytes"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
)

// relayed is a world with a relayer, seen by clients of an L1 and of its network's C-Chain.
type relayed struct{ c, l1 *devnet }

func newRelayed(t *testing.T, w *sim.World, relayer bool) *relayed {
	t.Helper()
	l1 := w.Chains[slices.IndexFunc(w.Chains, func(c *reader.Chain) bool { return c.Kind == evm.KindL1 })]
	c := newDevnetWith(t, w, w.NetworkOf(l1).CChain(), handlers.Options{Network: l1.Row.Network, Relayer: relayer})
	return &relayed{c, c.on(l1)}
}

// on is another chain behind the same server.
func (d *devnet) on(c *reader.Chain) *devnet {
	d.Helper()
	other := *d
	other.chain = c
	var err error
	if other.client, err = ethclient.Dial(other.rpc("http", "rpc")); err != nil {
		d.Fatal(err)
	}
	d.Cleanup(other.client.Close)
	return &other
}

// execute calls a contract in a transaction that must succeed.
func (d *devnet) execute(artifact string, at common.Address, method string, args ...any) common.Hash {
	d.Helper()
	a, err := contracts.Load(artifact)
	if err != nil {
		d.Fatal(err)
	}
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		d.Fatal(err)
	}
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &at, Data: data, Gas: 4_000_000})
	if receipt, err := d.client.TransactionReceipt(d.Context(), hash); err != nil || receipt.Status != 1 {
		d.Fatal(receipt, err)
	}
	return hash
}

// greet sends a greeting to the greeter of another chain.
func (d *devnet) greet(to *devnet, text string) common.Hash {
	d.Helper()
	return d.execute("Greeter", *d.contract("greeter"), "greet", ids.ID(to.chain.Row.BlockchainID), *to.contract("greeter"), text)
}

// messageInput is a sender's TeleporterMessageInput, as the ABI packs it.
type messageInput struct {
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

func inputTo(to *devnet, recipient common.Address, gas int64, relayers ...common.Address) messageInput {
	in := messageInput{DestinationBlockchainID: [32]byte(to.chain.Row.BlockchainID), DestinationAddress: recipient, RequiredGasLimit: big.NewInt(gas),
		AllowedRelayerAddresses: append([]common.Address{}, relayers...), Message: make([]byte, 32)}
	in.FeeInfo.Amount = new(big.Int)
	return in
}

// message returns the message that a transaction sent, from the Data API.
func (d *devnet) message(sent common.Hash) map[string]any {
	d.Helper()
	for _, m := range objects(d.ask("/v1/icm/messages?sourceBlockchainId=" + ids.ID(d.chain.Row.BlockchainID).String() + "&pageSize=100")["messages"]) {
		if dig(m, "sourceTransaction", "txHash") == sent.Hex() {
			return m
		}
	}
	d.Fatalf("%s sent no message", sent)
	return nil
}

// status returns the delivery status of a transaction's message.
func (d *devnet) status(sent common.Hash) string {
	d.Helper()
	return d.message(sent)["status"].(string)
}

// greeting returns the last message that a greeter received from a chain.
func (d *devnet) greeting(from *devnet) string {
	d.Helper()
	a, err := contracts.Load("Greeter")
	if err != nil {
		d.Fatal(err)
	}
	data, err := a.ABI.Pack("lastGreeting", ids.ID(from.chain.Row.BlockchainID))
	if err != nil {
		d.Fatal(err)
	}
	var answer string
	d.call(&answer, "eth_call", map[string]any{"to": d.contract("greeter"), "data": "0x" + common.Bytes2Hex(data)}, "latest")
	values, err := a.ABI.Unpack("lastGreeting", common.FromHex(answer))
	if err != nil {
		d.Fatal(err)
	}
	return values[1].(string)
}

// TestMessagesAreDelivered: when the call returns, the message has reached the other chain's contract, and the same requests make the same world
// again.
func TestMessagesAreDelivered(t *testing.T) {
	t.Parallel()
	var digests [][]byte
	for range 2 {
		w := tinyWorld(t)
		r := newRelayed(t, w, true)
		r.thereAndBack()
		r.leftAlone()
		r.failing()
		r.withoutAutomine()
		r.withoutFunds()
		r.everyWay()
		r.endless()
		digests = append(digests, w.Digest())
		if len(digests) == 1 {
			r.c.verify()
		}
	}
	if !bytes.Equal(digests[0], digests[1]) {
		t.Error("the same requests made two worlds")
	}
	if testing.Short() {
		t.Log("left out of a short run: the rest, on a network with several L1s")
		return // a world with several L1s on a network takes longer
	}
	w, err := readWorldOf(t, "default").Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r := newRelayed(t, w, true)
	r.everyWay()
	r.c.verify()
}

// everyWay: messages reach every chain of the network, including the sender's, and none of the other network.
func (r *relayed) everyWay() {
	for _, from := range r.c.world.Chains {
		for _, to := range r.c.world.Chains {
			from, to := r.c.on(from), r.c.on(to)
			want := "pending"
			if from.chain.Row.Network == to.chain.Row.Network {
				want = "delivered"
			}
			if got := from.status(from.greet(to, "hello")); got != want {
				r.c.Errorf("from %s to %s: %s", from.chain.Row.Name, to.chain.Row.Name, got)
			}
		}
	}
}

func relayerAddress(t *testing.T) common.Address {
	t.Helper()
	key, err := crypto.HexToECDSA(fixtures.Relayer().Key)
	if err != nil {
		t.Fatal(err)
	}
	return crypto.PubkeyToAddress(key.PublicKey)
}

func (r *relayed) thereAndBack() {
	there := r.c.greet(r.l1, "over there")
	m := r.c.message(there)
	if m["status"] != "delivered" || m["messageExecuted"] != true || r.l1.greeting(r.c) != "over there" {
		r.c.Fatalf("%v, greeting %q", m, r.l1.greeting(r.c))
	}
	relayer := relayerAddress(r.c.T)
	hash := common.HexToHash(dig(m, "destinationTransaction", "txHash").(string))
	if got := dig(m, "destinationTransaction", "delivererAddress"); got != relayer.Hex() {
		r.c.Errorf("delivered by %v", got)
	}
	receipt, err := r.l1.client.TransactionReceipt(r.l1.Context(), hash)
	if err != nil || receipt.Status != 1 {
		r.c.Fatal(receipt, err)
	}
	if header := r.l1.head(); header.Number.Cmp(receipt.BlockNumber) != 0 || header.Time < r.c.head().Time {
		r.c.Errorf("delivered in block %d, the newest is %d at %d", receipt.BlockNumber, header.Number, header.Time)
	}
	back := r.l1.greet(r.c, "and back")
	if m := r.l1.message(back); m["status"] != "delivered" || r.c.greeting(r.l1) != "and back" {
		r.c.Errorf("%v, greeting %q", m, r.c.greeting(r.l1))
	}
	// Receipts travel with messages, five in each, oldest first. The history left some to deliver.
	for range 5 {
		r.l1.greet(r.c, "receipts")
	}
	if m := r.c.message(there); m["receiptDelivered"] != true {
		r.c.Errorf("no receipt came back: %v", m)
	}
}

// leftAlone: a relayer on the network would not deliver these either.
func (r *relayed) leftAlone() {
	relayer, greeter, before := relayerAddress(r.c.T), *r.l1.contract("greeter"), r.l1.head().Number
	for _, in := range []messageInput{
		inputTo(r.l1, greeter, 200_000, common.Address{1}),
		inputTo(r.l1, greeter, 12_000_001),
		{[32]byte{7}, greeter, inputTo(r.l1, greeter, 1).FeeInfo, big.NewInt(200_000), []common.Address{}, nil},
	} {
		if sent := r.c.execute("Messenger", fixtures.TeleporterMessenger, "sendCrossChainMessage", in); r.c.status(sent) != "pending" {
			r.c.Errorf("%+v: %s", in, r.c.status(sent))
		}
	}
	raw := precompile.PackInput("sendWarpMessage(bytes)", common.BigToHash(big.NewInt(32)), common.BigToHash(big.NewInt(3)), common.Hash{1, 2, 3})
	r.c.mustSend(&types.DynamicFeeTx{Nonce: r.c.nonce(), To: &precompile.WarpAddress, Data: raw, Gas: 200_000})
	if after := r.l1.head().Number; after.Cmp(before) != 0 {
		r.c.Errorf("the L1 went from block %d to %d", before, after)
	}
	in := inputTo(r.l1, greeter, 200_000, common.Address{1}, relayer)
	if sent := r.c.execute("Messenger", fixtures.TeleporterMessenger, "sendCrossChainMessage", in); r.c.status(sent) != "delivered" {
		r.c.Errorf("the relayer is named: %s", r.c.status(sent))
	}
}

// failing: a message that its recipient refuses is delivered, and can be executed again.
func (r *relayed) failing() {
	m := r.c.message(r.c.greet(r.l1, ""))
	if m["status"] != "delivered" || m["messageExecuted"] != false {
		r.c.Error(m)
	}
	a, err := contracts.Load("Messenger")
	if err != nil {
		r.c.Fatal(err)
	}
	data, err := a.ABI.Pack("receivedFailedMessageHashes", common.HexToHash(m["messageId"].(string)))
	if err != nil {
		r.c.Fatal(err)
	}
	var kept common.Hash
	r.l1.call(&kept, "eth_call", map[string]any{"to": fixtures.TeleporterMessenger, "data": "0x" + common.Bytes2Hex(data)}, "latest")
	if kept == (common.Hash{}) {
		r.c.Error("the message cannot be executed again")
	}
	// A long message to an address without a contract.
	in := inputTo(r.l1, someone, 0)
	in.Message = bytes.Repeat([]byte{0xff}, 16<<10)
	m = r.c.message(r.c.execute("Messenger", fixtures.TeleporterMessenger, "sendCrossChainMessage", in))
	if m["status"] != "delivered" || m["messageExecuted"] != false {
		r.c.Errorf("a long message: %v, %v", m["status"], m["messageExecuted"])
	}
}

// withoutAutomine: a delivery waits in its chain's pool for a block, like clients' transactions.
func (r *relayed) withoutAutomine() {
	r.l1.text("evm_setAutomine", false)
	first, second := r.c.greet(r.l1, "first"), r.c.greet(r.l1, "second")
	if got := r.l1.text("txpool_status"); got != `{"pending":"0x2","queued":"0x0"}` || r.c.status(second) != "pending" {
		r.c.Errorf("%s, %s", got, r.c.status(second))
	}
	r.l1.text("evm_mine")
	if r.c.status(first) != "delivered" || r.c.status(second) != "delivered" || r.l1.greeting(r.c) != "second" {
		r.c.Errorf("%s, %s, %q", r.c.status(first), r.c.status(second), r.l1.greeting(r.c))
	}
	r.l1.text("evm_setAutomine", true)
}

// withoutFunds: a delivery that the relayer cannot pay for happens as soon as it can.
func (r *relayed) withoutFunds() {
	var funds string
	r.l1.call(&funds, "eth_getBalance", relayerAddress(r.c.T), "latest")
	r.l1.text("anvil_setBalance", relayerAddress(r.c.T), "0x0")
	sent := r.c.greet(r.l1, "late")
	if got := r.c.status(sent); got != "pending" {
		r.c.Error(got)
	}
	r.l1.text("anvil_setBalance", relayerAddress(r.c.T), funds)
	r.c.text("evm_mine")
	if got := r.c.status(sent); got != "delivered" || r.l1.greeting(r.c) != "late" {
		r.c.Errorf("%s, %q", got, r.l1.greeting(r.c))
	}
}

// endless: contracts that answer each other forever make progress with every call, and block no call.
func (r *relayed) endless() {
	onC, onL1 := crypto.CreateAddress(r.c.from, r.c.nonce()), crypto.CreateAddress(r.l1.from, r.l1.nonce())
	r.c.deployAnswering(inputTo(r.l1, onL1, 500_000))
	r.l1.deployAnswering(inputTo(r.c, onC, 500_000))
	before := r.l1.head().Number.Uint64()
	r.c.execute("Messenger", fixtures.TeleporterMessenger, "sendCrossChainMessage", inputTo(r.l1, onL1, 500_000))
	if got := r.l1.head().Number.Uint64() - before; got != 17 {
		r.c.Errorf("%d messages arrived on the L1 in one call", got)
	}
}

// deployAnswering deploys a contract that sends a message whenever it is called.
func (d *devnet) deployAnswering(in messageInput) {
	d.Helper()
	a, err := contracts.Load("Messenger")
	if err != nil {
		d.Fatal(err)
	}
	data, err := a.ABI.Pack("sendCrossChainMessage", in)
	if err != nil {
		d.Fatal(err)
	}
	size := []byte{byte(len(data) >> 8), byte(len(data))}
	// codecopy(0, 47, size); call(gas, messenger, 0, 0, size, 0, 0); stop
	code := slices.Concat([]byte{0x61}, size, []byte{0x60, 47, 0x5f, 0x39, 0x5f, 0x5f, 0x61}, size, []byte{0x5f, 0x5f, 0x73}, fixtures.TeleporterMessenger[:], []byte{0x5a, 0xf1, 0x00})
	code = append(append(code, make([]byte, 47-len(code))...), data...)
	length := []byte{byte(len(code) >> 8), byte(len(code))}
	// codecopy(0, 11, length); return(0, length)
	init := slices.Concat([]byte{0x61}, length, []byte{0x80, 0x60, 11, 0x5f, 0x39, 0x5f, 0xf3, 0x00}, code)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), Data: init, Gas: 1_000_000})
	if receipt, err := d.client.TransactionReceipt(d.Context(), hash); err != nil || receipt.Status != 1 {
		d.Fatal(receipt, err)
	}
}

// TestMessagesAreDeliveredAfterARestart: without a relayer a message waits. The next start with one delivers it once, and ignores messages that the
// history left pending.
func TestMessagesAreDeliveredAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w.db")
	worldFile(t, path)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	reopen := func(relayer bool) *relayed {
		t.Helper()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if w, err = sim.Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return newRelayed(t, w, relayer)
	}
	before := w.Digest()
	reopen(true)
	if !bytes.Equal(w.Digest(), before) {
		t.Error("a fresh world changed at the start")
	}
	r := reopen(false)
	sent := r.c.greet(r.l1, "later")
	if got := r.c.status(sent); got != "pending" {
		t.Errorf("without a relayer: %s", got)
	}
	r = reopen(true)
	if got := r.c.status(sent); got != "delivered" || r.l1.greeting(r.c) != "later" {
		t.Errorf("after a restart: %s, %q", got, r.l1.greeting(r.c))
	}
	r.l1.text("evm_setAutomine", false)
	waits := r.c.greet(r.l1, "waits")
	before = w.Digest()
	r = reopen(true)
	if got := r.l1.text("txpool_status"); got != `{"pending":"0x1","queued":"0x0"}` || !bytes.Equal(w.Digest(), before) {
		t.Errorf("after another, %s waits", got)
	}
	r.l1.text("evm_mine")
	if got := r.c.status(waits); got != "delivered" {
		t.Errorf("what waited: %s", got)
	}
	if testing.Short() {
		t.Log("left out of a short run: verification")
	} else {
		r.c.verify()
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
