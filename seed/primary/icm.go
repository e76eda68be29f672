package primary

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	simevm "snowglobe/sim/evm"
	"snowglobe/sim/rules"
	"snowglobe/sim/warp"
)

// ICM plans the messages between the chains of a network, and signs them as validators would.
type ICM struct {
	network   *Network
	endpoints []*icmEndpoint
	messages  []*icmMessage // to be delivered, by due time
	unsigned  []*icmMessage // of those, once their bytes are known

	mu       sync.Mutex
	sets     map[epochKey]*warp.CanonicalValidatorSet
	subnetOf map[ids.ID]ids.ID // the subnet of each blockchain, once the L1s have their ids
}

// icmEndpoint is a chain that sends and receives messages.
type icmEndpoint struct {
	chain *evm.Chain // nil for a chain that the world does not simulate
	l1    *L1        // nil for a C-Chain
	txs   []icmTx
}

// icmTx is a scheduled transaction that may send or deliver a message.
type icmTx struct {
	evm.ScheduledTx
	sends, delivers *icmMessage
}

// epochKey identifies a subnet's validators in an epoch's blocks (ACP-181).
type epochKey struct {
	subnet ids.ID
	since  uint64
}

const (
	epoch          = 5 * 60
	perPair        = 3   // messages each way between a network's only two chains
	perRoute       = 2   // messages from one chain to another among more chains, at least,
	routeShare     = 400 // and one more for so many transactions
	maxPerRoute    = 40
	deliveryMargin = 20 * 60 // the last seconds of history, without deliveries
)

// AddChain makes a chain an endpoint; l is its L1, nil for a C-Chain.
func (t *ICM) AddChain(c *evm.Chain, l *L1) {
	t.endpoints = append(t.endpoints, &icmEndpoint{chain: c, l1: l})
}

// Plan plans all messages. A network's only chain sends to itself. The chain of the network's first L1, which the world does not simulate,
// sends, too.
func (t *ICM) Plan() {
	t.sets = map[epochKey]*warp.CanonicalValidatorSet{}
	talking := t.talking()
	least := perRoute
	if len(talking) == 2 {
		least = perPair
	}
	span := t.network.span
	for i, from := range talking {
		for j, to := range talking {
			if i != j || len(talking) == 1 {
				t.planRoute(from, to, min(least+min(from.chain.Size(), to.chain.Size())/routeShare, maxPerRoute))
			}
		}
		from.add(icmTx{ScheduledTx: evm.ScheduledTx{At: span.At(440, 0), Request: approveFees}})
	}
	outside := &icmEndpoint{l1: t.network.l1s[0]}
	t.planFromConstructors(outside, span.At(445, 0))
	t.planFromOutside(outside, t.endpoints[0], span.At(700, 0))
	t.endpoints = append(t.endpoints, outside)
	for _, e := range t.endpoints {
		e.sort()
	}
	slices.SortStableFunc(t.messages, func(a, b *icmMessage) int { return cmp.Compare(a.due, b.due) })
}

// talking returns the endpoints of chains on which something happens.
func (t *ICM) talking() []*icmEndpoint {
	return slices.DeleteFunc(slices.Clone(t.endpoints), func(e *icmEndpoint) bool { return e.chain.Size() == 0 })
}

func (e *icmEndpoint) add(tx icmTx) { e.txs = append(e.txs, tx) }

func (e *icmEndpoint) sort() {
	slices.SortStableFunc(e.txs, func(a, b icmTx) int { return cmp.Compare(a.At, b.At) })
}

// planFromOutside plans a message from a chain that the world does not simulate.
func (t *ICM) planFromOutside(outside, to *icmEndpoint, due uint64) {
	m := &icmMessage{from: outside, to: to, text: "greetings from afar", due: due - due%epoch + 60, signedReady: make(chan struct{})}
	t.messages = append(t.messages, m)
	outside.add(icmTx{ScheduledTx: evm.ScheduledTx{At: due - epoch}, sends: m})
	to.add(m.delivery())
}

// planFromConstructors has each chain send a message from a constructor to another chain, or, as the only one, to one that the world does
// not simulate.
func (t *ICM) planFromConstructors(outside *icmEndpoint, at uint64) {
	talking := t.talking()
	for i, from := range talking {
		to := outside
		if len(talking) > 1 {
			to = talking[(i+1)%len(talking)]
		}
		m := &icmMessage{from: from, to: to, by: t.network.personas.Deployer, fromConstructor: true, text: "here I am", signedReady: make(chan struct{})}
		from.add(m.sending(at))
	}
}

var greetings = []string{"hello over there", "is it snowing?", "the pass is open", "grüezi mitenand", "see you at the hut", "bring skins and an axe", "❄"}

// planRoute plans messages from one chain to another; the first ones get a response. All but the last arrive; the recipient refuses one,
// which is empty.
func (t *ICM) planRoute(from, to *icmEndpoint, count int) {
	r := t.network.rng.For("messages", from.chain.Row.EVMID, to.chain.Row.EVMID)
	span, w := t.network.span, t.network.personas
	for n := range count {
		sent := span.At(450+(510*n+int(population.Between(r, 0, 500)))/count, 0) + uint64(population.Between(r, 0, 900))
		m := &icmMessage{from: from, to: to, by: []*population.Account{w.Alice, w.Bob, w.Ewoq, w.Whale}[r.IntN(4)],
			text: greetings[r.IntN(len(greetings))], signedReady: make(chan struct{})}
		switch {
		case n == 1:
			m.text = ""
		case n%3 == 2:
			m.by, m.paysFee = w.Deployer, true
		}
		due := sent + uint64(population.Between(r, 2, 12))*epoch
		due += uint64(population.Between(r, 40, 120)) - due%epoch
		if n < 2 || n < count-1 && population.Chance(r, 80) && due+deliveryMargin < span.Until {
			m.due = due
		}
		from.add(m.sending(sent))
		if m.due > 0 {
			to.add(m.delivery())
			t.messages = append(t.messages, m)
		}
	}
}

// writeMessages writes every message, once the chains have their ids: the messenger numbers its messages, and confirms received ones in
// those it sends back.
func (t *ICM) writeMessages() error {
	networkRules := t.network.rules
	t.subnetOf = map[ids.ID]ids.ID{ids.Empty: ids.Empty, networkRules.XChainID: ids.Empty, networkRules.CChainID: ids.Empty}
	for _, e := range t.endpoints {
		t.subnetOf[e.id()] = e.subnet()
		nonce := int64(0)
		for _, tx := range e.txs {
			if tx.sends != nil {
				nonce++
				tx.sends.nonce = nonce
			}
		}
	}
	for _, e := range t.endpoints {
		if err := t.writeReceipts(e); err != nil {
			return err
		}
	}
	t.unsigned = t.messages
	return nil
}

// signUntil signs the messages whose epoch the P-Chain enters with a block at this time.
func (t *ICM) signUntil(at uint64) error {
	for len(t.unsigned) > 0 && simevm.EpochStart(t.unsigned[0].due) <= at {
		if err := t.sign(t.unsigned[0]); err != nil {
			return err
		}
		t.unsigned = t.unsigned[1:]
	}
	return nil
}

// sign records the validators that blocks of the message's epoch, and of the next, see, and has them sign.
func (t *ICM) sign(m *icmMessage) error {
	subnet := m.from.subnet()
	if subnet == ids.Empty && m.to.l1 == nil {
		subnet = m.to.subnet() // L1s want the signatures of the whole primary network on the C-Chain's messages
	}
	set, err := t.network.net.P.WarpSet(subnet)
	if err != nil {
		return err
	}
	since := simevm.EpochStart(m.due)
	t.mu.Lock()
	for n := range uint64(2) {
		t.sets[epochKey{subnet, since + n*epoch}] = set
	}
	t.mu.Unlock()
	if m.signed, err = t.aggregate(m.message, set); err != nil {
		return fmt.Errorf("ICM message due at %d: %w", m.due, err)
	}
	close(m.signedReady)
	return nil
}

// quorum is the percentage of the weight that signs a message, a little more than required.
const quorum = 75

// aggregate has the validators sign, in their order, until enough have.
func (t *ICM) aggregate(m *warp.UnsignedMessage, set *warp.CanonicalValidatorSet) ([]byte, error) {
	var indices []int
	signed, aim := uint64(0), warp.QuorumWeight(set.TotalWeight, quorum, warp.QuorumDenominator)
	for i, member := range set.Validators {
		if signed >= aim {
			break
		}
		indices, signed = append(indices, i), signed+member.Weight
	}
	message, err := warp.Aggregate(m, set, indices, t.network.nodes.key)
	if err != nil {
		return nil, err
	}
	return message.Bytes()
}

// SubnetOf tells the network's chains which subnet validates a blockchain.
func (t *ICM) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	subnet, known := t.subnetOf[blockchain]
	if !known {
		return ids.Empty, fmt.Errorf("blockchain %s is not of the network", blockchain)
	}
	return subnet, nil
}

var errNoValidatorSet = errors.New("the validators of that epoch were not kept")

// WarpSet returns the validators that sign recorded.
func (t *ICM) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalValidatorSet, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.sets[epochKey{subnet, simevm.EpochStart(time)}]; set != nil {
		return set, nil
	}
	return nil, errNoValidatorSet
}

// Simulates reports whether the world has the chain.
func (t *ICM) Simulates(blockchain ids.ID) bool {
	return slices.ContainsFunc(t.endpoints, func(e *icmEndpoint) bool { return e.chain != nil && e.id() == blockchain })
}

// Connect gives a chain its ids and its source of message signers.
func (t *ICM) Connect(c *evm.Chain) {
	e := t.endpoint(c)
	c.Builder.SetNetworkContext(simevm.NetworkContext{
		NetworkID: t.network.rules.NetworkID, ChainID: e.id(), SubnetID: e.subnet(), Network: t, Helicon: new(t.network.rules.ActivationTime(rules.Helicon)),
	})
}

// Scheduled returns the transactions that a chain has to make at fixed times.
func (t *ICM) Scheduled(c *evm.Chain) []evm.ScheduledTx {
	var txs []evm.ScheduledTx
	for _, tx := range t.endpoint(c).txs {
		txs = append(txs, tx.ScheduledTx)
	}
	return txs
}

func (t *ICM) endpoint(c *evm.Chain) *icmEndpoint {
	return t.endpoints[slices.IndexFunc(t.endpoints, func(e *icmEndpoint) bool { return e.chain == c })]
}
