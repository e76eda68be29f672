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
type post struct {
	rules   *primary.Network
	offices []*office
	letters []*letter // that are delivered, by when they are due

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
func (t *post) compose(d dice, stages []*stage, sizes []int, first *lodge, start, until uint64) {
	t.views = map[view]*warp.CanonicalSet{}
	for _, s := range stages {
		s.office = &office{stage: s, lodge: s.lodge}
		t.offices = append(t.offices, s.office)
	}
	least := perRoute
	if len(t.offices) == 2 {
		least = perPair
	}
	for i, from := range t.offices {
		for j, to := range t.offices {
			if i != j || len(t.offices) == 1 {
				t.route(d, from, to, min(least+min(sizes[i], sizes[j])/routeShare, maxPerRoute), start, until)
			}
		}
		from.mail = append(from.mail, posting{at: start + (until-start)*440/1000, do: allow})
	}
	abroad := &office{lodge: first}
	t.heralds(abroad, start+(until-start)*445/1000)
	t.visit(abroad, t.offices[0], start+(until-start)*700/1000)
	t.offices = append(t.offices, abroad)
	for _, o := range t.offices {
		slices.SortStableFunc(o.mail, func(a, b posting) int { return cmp.Compare(a.at, b.at) })
	}
	slices.SortStableFunc(t.letters, func(a, b *letter) int { return cmp.Compare(a.due, b.due) })
}

// visit is a letter from a chain that the world does not simulate.
func (t *post) visit(abroad, to *office, due uint64) {
	l := &letter{from: abroad, to: to, text: "greetings from afar", due: due - due%epoch + 60, ready: make(chan struct{})}
	t.letters = append(t.letters, l)
	abroad.mail = append(abroad.mail, posting{at: due - epoch, sends: l})
	to.mail = append(to.mail, posting{at: l.due, do: l.take, takes: l})
}

// heralds greet another chain from their constructors; where there is no other, one that the world does not simulate.
func (t *post) heralds(abroad *office, at uint64) {
	for i, from := range t.offices {
		to := abroad
		if len(t.offices) > 1 {
			to = t.offices[(i+1)%len(t.offices)]
		}
		l := &letter{from: from, to: to, by: from.stage.people["deployer"], herald: true, text: "here I am", ready: make(chan struct{})}
		from.mail = append(from.mail, posting{at: at, do: l.send, sends: l})
	}
}

var greetings = []string{"hello over there", "is it snowing?", "the pass is open", "grüezi mitenand", "see you at the hut", "bring skins and an axe", "❄"}

// route plans what one chain writes to another, letter after letter, so that the first ones are answered. They arrive, the
// last never does; one arrives that its recipient refuses, since it is empty.
func (t *post) route(d dice, from, to *office, count int, start, until uint64) {
	g := d.For("letters", from.stage.chain.EVMID, to.stage.chain.EVMID)
	s := from.stage
	for n := range count {
		sent := start + (until-start)*uint64(450+(510*n+int(between(g, 0, 500)))/count)/1000 + uint64(between(g, 0, 900))
		l := &letter{from: from, to: to, by: s.people[[]string{"alice", "bob", "ewoq", "whale"}[g.IntN(4)]],
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
		from.mail = append(from.mail, posting{at: sent, do: l.send, sends: l})
		if l.due > 0 {
			to.mail = append(to.mail, posting{at: l.due, do: l.take, takes: l})
			t.letters = append(t.letters, l)
		}
	}
}

// seal writes every letter, once the chains have their ids: the messenger counts what it sends, and confirms what it
// received with what it sends back.
func (t *post) seal() error {
	some := t.offices[0].stage
	t.homes = map[ids.ID]ids.ID{ids.Empty: ids.Empty, t.rules.XChainID: ids.Empty, t.rules.CChainID: ids.Empty}
	for _, o := range t.offices {
		t.homes[o.id()] = o.subnet()
		nonce := int64(0)
		for _, m := range o.mail {
			if m.sends != nil {
				nonce++
				m.sends.nonce = nonce
			}
		}
	}
	for _, o := range t.offices {
		waiting := map[*office][]receipt{}
		for _, m := range o.mail {
			switch {
			case m.takes != nil:
				from := m.takes.from
				waiting[from] = append(waiting[from], receipt{big.NewInt(m.takes.nonce), o.stage.carrier().address})
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
func (r *realm) look(l *letter) error {
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
	r.post.mu.Lock()
	for n := range uint64(2) {
		r.post.views[view{subnet, since + n*epoch}] = set
	}
	r.post.mu.Unlock()
	if l.signed, err = r.sign(l.message, set); err != nil {
		return fmt.Errorf("letter due at %d: %w", l.due, err)
	}
	close(l.ready)
	return nil
}

// primarySigners tells whether a chain wants the whole primary network to have signed what the C-Chain says.
func (o *office) primarySigners() bool { return o.lodge != nil }

// deliver signs the letters whose epoch the P-chain enters with a block at this time.
func (r *realm) deliver(at uint64) error {
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
func (r *realm) sign(m *warp.UnsignedMessage, set *warp.CanonicalSet) ([]byte, error) {
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
func (t *post) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	subnet, known := t.homes[blockchain]
	if !known {
		return ids.Empty, fmt.Errorf("blockchain %s is not of the network", blockchain)
	}
	return subnet, nil
}

var errBlind = errors.New("nobody looked at the validators of that time")

// WarpSet is what look kept.
func (t *post) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalSet, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.views[view{subnet, evm.PView(time)}]; set != nil {
		return set, nil
	}
	return nil, errBlind
}

// Simulates tells whether the world has the chain.
func (t *post) Simulates(blockchain ids.ID) bool {
	return slices.ContainsFunc(t.offices, func(o *office) bool { return o.stage != nil && o.id() == blockchain })
}

// home is where a stage stands.
func (s *stage) home(t *post) evm.Home {
	return evm.Home{NetworkID: t.rules.NetworkID, ChainID: s.office.id(), SubnetID: s.office.subnet(), Network: t}
}

// posted is when the chain's mail asks for a block next, be it to get ready for it.
func (s *stage) posted(ready bool) (at uint64, due bool) {
	if s.office.next == len(s.office.mail) {
		return 0, false
	}
	m := &s.office.mail[s.office.next]
	return max(m.at, s.after(ready || m.early)), true
}

// handle does with the mail what is due by the time of a block under construction, and says how much that was. Most of it
// waits for the chain to have its contracts.
func (s *stage) handle(ctx context.Context, p *evm.Pending, ready bool) (done int, err error) {
	for o := s.office; o.next < len(o.mail) && o.mail[o.next].at <= p.Header().Time; o.next++ {
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

var errLetter = errors.New("a letter went astray")

// mail executes a posting, which must do what was planned: letters that were to follow depend on it.
func (s *stage) mail(p *evm.Pending, tx *types.Transaction, from *actor, m *posting) error {
	receipt, err := p.Apply(tx, from.address)
	if err != nil {
		return err
	}
	s.ledger.observe(receipt)
	if m.sends != nil && m.sends.herald {
		s.place("herald", "Herald", receipt.ContractAddress)
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return errLetter
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
		return fmt.Errorf("%w: %x", errLetter, bytes.TrimRight(id[:], "\x00"))
	}
	return nil
}
