package seed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/warp"
)

// post is the mail between the chains of a network.
type icmPlan struct {
	rules     *primary.Network
	endpoints []*icmEndpoint
	messages  []*icmMessage // that are delivered, by when they are due

	mu    sync.Mutex
	views map[view]*warp.CanonicalSet
	homes map[ids.ID]ids.ID // the subnet of each blockchain, once the L1s are founded
}

// view is who validates a subnet as the blocks of an epoch see it.
type view struct {
	subnet ids.ID
	since  uint64
}

const (
	epoch       = 5 * 60
	perPair     = 3   // letters each way between two chains that are alone with each other
	perRoute    = 2   // from one chain to another where there are more, at least,
	routeShare  = 400 // and one more for so many transactions
	maxPerRoute = 40
	loiter      = 20 * 60 // nothing is delivered that late in history
)

// compose plans all letters. A chain that is alone on its network writes to itself. first is a chain of the network that the
// world does not simulate: it sends, too.
func (t *icmPlan) compose(d rng, evmChains []*evmChain, sizes []int, first *l1, start, until uint64) {
	t.views = map[view]*warp.CanonicalSet{}
	for _, s := range evmChains {
		s.icmEndpoint = &icmEndpoint{evmChain: s, l1: s.l1}
		t.endpoints = append(t.endpoints, s.icmEndpoint)
	}
	least := perRoute
	if len(t.endpoints) == 2 {
		least = perPair
	}
	for i, from := range t.endpoints {
		for j, to := range t.endpoints {
			if i != j || len(t.endpoints) == 1 {
				t.route(d, from, to, min(least+min(sizes[i], sizes[j])/routeShare, maxPerRoute), start, until)
			}
		}
		from.mail = append(from.mail, icmTx{at: start + (until-start)*440/1000, do: allow})
	}
	abroad := &icmEndpoint{l1: first}
	t.constructorMessages(abroad, start+(until-start)*445/1000)
	t.visit(abroad, t.endpoints[0], start+(until-start)*700/1000)
	t.endpoints = append(t.endpoints, abroad)
	for _, o := range t.endpoints {
		slices.SortStableFunc(o.mail, func(a, b icmTx) int { return cmp.Compare(a.at, b.at) })
	}
	slices.SortStableFunc(t.messages, func(a, b *icmMessage) int { return cmp.Compare(a.due, b.due) })
}

// visit is a letter from a chain that the world does not simulate.
func (t *icmPlan) visit(abroad, to *icmEndpoint, due uint64) {
	l := &icmMessage{from: abroad, to: to, text: "greetings from afar", due: due - due%epoch + 60, ready: make(chan struct{})}
	t.messages = append(t.messages, l)
	abroad.mail = append(abroad.mail, icmTx{at: due - epoch, sends: l})
	to.mail = append(to.mail, icmTx{at: l.due, do: l.take, takes: l})
}

// heralds greet another chain from their constructors; where there is no other, one that the world does not simulate.
func (t *icmPlan) constructorMessages(abroad *icmEndpoint, at uint64) {
	for i, from := range t.endpoints {
		to := abroad
		if len(t.endpoints) > 1 {
			to = t.endpoints[(i+1)%len(t.endpoints)]
		}
		l := &icmMessage{from: from, to: to, by: from.evmChain.people["deployer"], fromConstructor: true, text: "here I am", ready: make(chan struct{})}
		from.mail = append(from.mail, icmTx{at: at, do: l.send, sends: l})
	}
}

var greetings = []string{"hello over there", "is it snowing?", "the pass is open", "grüezi mitenand", "see you at the hut", "bring skins and an axe", "❄"}

// route plans what one chain writes to another, letter after letter, so that the first ones are answered. They arrive, the
// last never does; one arrives that its recipient refuses, since it is empty.
func (t *icmPlan) route(d rng, from, to *icmEndpoint, count int, start, until uint64) {
	g := d.For("letters", from.evmChain.chain.EVMID, to.evmChain.chain.EVMID)
	s := from.evmChain
	for n := range count {
		sent := start + (until-start)*uint64(450+(510*n+int(between(g, 0, 500)))/count)/1000 + uint64(between(g, 0, 900))
		l := &icmMessage{from: from, to: to, by: s.people[[]string{"alice", "bob", "ewoq", "whale"}[g.IntN(4)]],
			text: greetings[g.IntN(len(greetings))], ready: make(chan struct{})}
		switch {
		case n == 1:
			l.text = ""
		case n%3 == 2:
			l.by, l.paid = s.people["deployer"], true
		}
		due := sent + uint64(between(g, 2, 12))*epoch
		if due = due - due%epoch + uint64(between(g, 40, 120)); n < 2 || n < count-1 && chance(g, 80) && due+loiter < until {
			l.due = due
		}
		from.mail = append(from.mail, icmTx{at: sent, do: l.send, sends: l})
		if l.due > 0 {
			to.mail = append(to.mail, icmTx{at: l.due, do: l.take, takes: l})
			t.messages = append(t.messages, l)
		}
	}
}

// seal writes every letter, once the chains have their ids: the messenger counts what it sends, and confirms what it
// received with what it sends back.
func (t *icmPlan) seal() error {
	some := t.endpoints[0].evmChain
	t.homes = map[ids.ID]ids.ID{ids.Empty: ids.Empty, t.rules.XChainID: ids.Empty, t.rules.CChainID: ids.Empty}
	for _, o := range t.endpoints {
		t.homes[o.id()] = o.subnet()
		nonce := int64(0)
		for _, m := range o.mail {
			if m.sends != nil {
				nonce++
				m.sends.nonce = nonce
			}
		}
	}
	for _, o := range t.endpoints {
		waiting := map[*icmEndpoint][]receipt{}
		for _, m := range o.mail {
			switch {
			case m.takes != nil:
				from := m.takes.from
				waiting[from] = append(waiting[from], receipt{big.NewInt(m.takes.nonce), o.evmChain.relayer().address})
			case m.sends != nil:
				queue := waiting[m.sends.to]
				count := min(len(queue), receiptsPerLetter)
				m.sends.receipts, waiting[m.sends.to] = append([]receipt{}, queue[:count]...), queue[count:]
				if err := m.sends.seal(t.rules.NetworkID, some); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const receiptsPerLetter = 5 // as the messenger has it

// look keeps what blocks of an epoch, and of the one after, need to know of the validators, and signs what is due.
func (r *primaryNetwork) look(l *icmMessage) error {
	subnet := l.from.subnet()
	if subnet == ids.Empty && !l.to.primarySigners() {
		subnet = l.to.subnet()
	}
	validators, err := r.net.P.Validators(subnet)
	if err != nil {
		return err
	}
	set, err := warp.NewCanonicalSet(validators)
	if err != nil {
		return err
	}
	since := evm.PView(l.due)
	r.icmPlan.mu.Lock()
	for n := range uint64(2) {
		r.icmPlan.views[view{subnet, since + n*epoch}] = set
	}
	r.icmPlan.mu.Unlock()
	if l.signed, err = r.sign(l.message, set); err != nil {
		return fmt.Errorf("letter due at %d: %w", l.due, err)
	}
	close(l.ready)
	return nil
}

// primarySigners tells whether a chain wants the whole primary network to have signed what the C-Chain says.
func (o *icmEndpoint) primarySigners() bool { return o.l1 != nil }

// deliver signs the letters whose epoch the P-chain enters with a block at this time.
func (r *primaryNetwork) deliver(at uint64) error {
	for len(r.unsigned) > 0 && evm.PView(r.unsigned[0].due) <= at {
		if err := r.look(r.unsigned[0]); err != nil {
			return err
		}
		r.unsigned = r.unsigned[1:]
	}
	return nil
}

// enough is the percentage of the weight that signs a letter, a little more than what is asked for.
const enough = 75

// sign has the validators sign, in their order, until enough have.
func (r *primaryNetwork) sign(m *warp.UnsignedMessage, set *warp.CanonicalSet) ([]byte, error) {
	var places []int
	signed, aim := uint64(0), warp.Enough(set.TotalWeight, enough, warp.QuorumDenominator)
	for i, member := range set.Members {
		if signed >= aim {
			break
		}
		places, signed = append(places, i), signed+member.Weight
	}
	message, err := warp.Aggregate(m, set, places, func(m *warp.Member) (*warp.SecretKey, error) { return r.byNode[m.NodeIDs[0]].bls, nil })
	if err != nil {
		return nil, err
	}
	return message.Bytes()
}

// SubnetOf tells the chains of the network where a message comes from.
func (t *icmPlan) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	subnet, known := t.homes[blockchain]
	if !known {
		return ids.Empty, fmt.Errorf("blockchain %s is not of the network", blockchain)
	}
	return subnet, nil
}

var errNoValidatorSet = errors.New("nobody looked at the validators of that time")

// WarpSet is what look kept.
func (t *icmPlan) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalSet, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.views[view{subnet, evm.PView(time)}]; set != nil {
		return set, nil
	}
	return nil, errNoValidatorSet
}

// Simulates tells whether the world has the chain.
func (t *icmPlan) Simulates(blockchain ids.ID) bool {
	return slices.ContainsFunc(t.endpoints, func(o *icmEndpoint) bool { return o.evmChain != nil && o.id() == blockchain })
}

// home is where a stage stands.
func (s *evmChain) home(t *icmPlan) evm.Home {
	return evm.Home{NetworkID: t.rules.NetworkID, ChainID: s.icmEndpoint.id(), SubnetID: s.icmEndpoint.subnet(), Network: t}
}

// posted is when the chain's mail asks for a block next, be it to get ready for it.
func (s *evmChain) nextScheduled(ready bool) (at uint64, due bool) {
	if s.icmEndpoint.next == len(s.icmEndpoint.mail) {
		return 0, false
	}
	m := &s.icmEndpoint.mail[s.icmEndpoint.next]
	return max(m.at, s.after(ready || m.early)), true
}

// handle does with the mail what is due by the time of a block under construction, and says how much that was. Most of it
// waits for the chain to have its contracts.
func (s *evmChain) handle(ctx context.Context, p *evm.Pending, ready bool) (done int, err error) {
	for o := s.icmEndpoint; o.next < len(o.mail) && o.mail[o.next].at <= p.Header().Time; o.next++ {
		m := o.mail[o.next]
		if p.Room() < gasTake || !ready && !m.early {
			return done, nil
		}
		if !m.early {
			if err := s.settled(); err != nil {
				return done, err
			}
		}
		if m.takes != nil {
			select {
			case <-m.takes.ready:
			case <-ctx.Done():
				return done, ctx.Err()
			}
		}
		tx, from, err := m.do(s, p)
		if err != nil {
			return done, err
		}
		if err := s.mail(p, tx, from, &m); err != nil {
			return done, fmt.Errorf("chain %d, block %d: %w", s.chain.EVMID, p.Header().Number, err)
		}
		done++
	}
	return done, nil
}

var errMessageNotSent = errors.New("a letter went astray")

// mail executes a posting, which must do what was planned: letters that were to follow depend on it.
func (s *evmChain) mail(p *evm.Pending, tx *types.Transaction, from *account, m *icmTx) error {
	receipt, err := p.Apply(tx, from.address)
	if err != nil {
		return err
	}
	s.tokenBalances.observe(receipt)
	if m.sends != nil && m.sends.fromConstructor {
		s.place("herald", "Herald", receipt.ContractAddress)
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return errMessageNotSent
	}
	message := m.message()
	if message == nil {
		return nil
	}
	id, err := message.ID()
	if err != nil {
		return err
	}
	sent := func(l *types.Log) bool { return len(l.Topics) == 3 && l.Topics[2] == common.Hash(id) }
	if !slices.ContainsFunc(receipt.Logs, sent) {
		return fmt.Errorf("%w: %x", errMessageNotSent, bytes.TrimRight(id[:], "\x00"))
	}
	return nil
}
