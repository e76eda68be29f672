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

func inputTo(to *devnet, recipient common.Address) messageInput {
	in := messageInput{DestinationBlockchainID: [32]byte(to.chain.Row.BlockchainID), DestinationAddress: recipient, RequiredGasLimit: new(big.Int), AllowedRelayerAddresses: []common.Address{}}
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
		r.failing()
		r.everyWay()
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
	in := inputTo(r.l1, someone)
	in.Message = bytes.Repeat([]byte{0xff}, 16<<10)
	m = r.c.message(r.c.execute("Messenger", fixtures.TeleporterMessenger, "sendCrossChainMessage", in))
	if m["status"] != "delivered" || m["messageExecuted"] != false {
		r.c.Errorf("a long message: %v, %v", m["status"], m["messageExecuted"])
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
