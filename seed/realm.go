package seed

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/network"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

const (
	nanoAVAX = 1_000_000_000
	hour     = 60 * 60
	day      = 24 * hour
)

// realm is the P-, X- and C-chain of one network while their history is made, all three in the order of time. The C-Chain's
// own story is a stage; it meets the others where value crosses.
type primaryNetwork struct {
	rng     rng
	rules   *primary.Network
	net     *network.Network
	genesis *network.Genesis
	emit    func(*store.PrimaryDelta)

	people   map[string]*account
	accounts []*account
	start    uint64
	until    uint64
	plan     networkSize

	nodes    []*node // those with a role first, then others, then those of L1s
	byNode   map[ids.NodeID]*node
	utxoSet  utxoSet
	l1s      []*l1
	l1sReady chan struct{} // closed once every L1 has its chain
	icmPlan  icmPlan
	unsigned []*icmMessage // by when they are due
	assets   map[string]ids.ID

	script        []scheduledTx // of P and X, by time
	atomicTxs     []atomicTx    // of C, by time
	endingPeriods int           // of those who join and end within history
}

// headcount is how many of a kind one network has.
type networkSize struct{ validators, delegators, l1Validators, transactions int }

// errand is something that happens at a time on one of the chains. It answers the transactions of one block, or none
// when there is nothing to do; then something ordinary happens instead.
type scheduledTx struct {
	at    uint64
	chain int
	do    func(at uint64) ([]*primary.Tx, error)
	pass  bool // nothing happens instead
}

// headcount splits what a profile asks for between the networks; what is odd goes to mainnet.
func (p *Profile) networkSize(index int) networkSize {
	half := func(n, least int) int { return (max(n, least) + 1 - index) / 2 }
	return networkSize{
		half(p.Validators, smallest.Validators), half(p.Delegators, smallest.Delegators),
		half(p.L1Validators, smallest.L1Validators), half(p.PrimaryTransactions, smallest.PrimaryTransactions),
	}
}

// newRealm founds a network: who has what at its genesis, and everything that is going to happen.
func newPrimaryNetwork(d rng, index int, p *Profile, start, until uint64, people map[string]*account, accounts []*account) (*primaryNetwork, error) {
	rules := []*primary.Network{primary.Mainnet, primary.Fuji}[index]
	r := &primaryNetwork{
		rng: d, rules: rules, people: people, accounts: accounts, start: start, until: until, plan: p.networkSize(index),
		icmPlan: icmPlan{rules: rules}, byNode: map[ids.NodeID]*node{}, utxoSet: utxoSet{}, l1sReady: make(chan struct{}), assets: map[string]ids.ID{},
	}
	var err error
	if r.nodes, err = nodes(d, rules.NetworkID, r.primaryValidators()+r.plan.l1Validators); err != nil {
		return nil, err
	}
	for i, m := range r.nodes {
		m.owner = r.other(i)
		r.byNode[m.id] = m
	}
	// The first L1 of each network has no chain that the world simulates: it is there for its validators.
	r.l1s = []*l1{{name: "Hollow", vm: ids.ID{'h', 'o', 'l', 'l', 'o', 'w', 'v', 'm'}, genesis: []byte(`{"hollow":true}`)}}
	return r, nil
}

// begin makes the genesis and the script, once the L1s are known.
func (r *primaryNetwork) begin(emit func(*store.PrimaryDelta)) error {
	r.emit = emit
	r.assignNodes()
	if err := r.endow(); err != nil {
		return err
	}
	n, deltas, err := network.New(r.rules, r.genesis)
	if err != nil {
		return err
	}
	r.net = n
	n.Watch = r.observe
	for _, u := range r.genesis.Platform.UTXOs {
		r.utxoSet.put(store.PChain, store.PChain, &u.UTXO)
	}
	for _, u := range r.genesis.Exchange.UTXOs {
		r.utxoSet.put(store.XChain, store.XChain, u)
	}
	for _, delta := range deltas {
		emit(delta)
	}
	return r.compose()
}

// other is the n-th of the nameless, over and over.
func (r *primaryNetwork) other(n int) *account { return r.accounts[n%len(r.accounts)] }

// moment is a time in history: so many thousandths of it, and some seconds.
func (r *primaryNetwork) moment(thousandth, seconds int) uint64 {
	return r.start + (r.until-r.start)*uint64(thousandth)/1000 + uint64(seconds)
}

// advance plays everything on P and X up to a time.
func (r *primaryNetwork) advance(to uint64) error {
	for len(r.script) > 0 && r.script[0].at <= to {
		e := r.script[0]
		r.script = r.script[1:]
		if err := r.perform(e); err != nil {
			return fmt.Errorf("network %d at %d: %w", r.rules.NetworkID, e.at, err)
		}
	}
	if err := r.settle(to); err != nil {
		return err
	}
	return r.deliver(to)
}

func (r *primaryNetwork) perform(e scheduledTx) error {
	if err := r.settle(e.at); err != nil {
		return err
	}
	txs, err := e.do(e.at)
	if err == nil && len(txs) == 0 && !e.pass {
		txs, err = r.ordinary(e.chain, 1, e.at)
	}
	if err != nil || len(txs) == 0 {
		return err
	}
	if e.chain == store.XChain {
		return r.exchange(e.at, txs)
	}
	return r.platform(e.at, txs)
}

// settle makes the blocks that time alone asks for: rewards, and what begins or runs out.
func (r *primaryNetwork) settle(to uint64) error {
	for {
		at := r.net.P.NextChange()
		if at > to {
			return nil
		}
		if s, due := r.net.P.NextReward(at); due {
			if err := r.reward(s, at); err != nil {
				return err
			}
			continue
		}
		if err := r.platform(at, nil); err != nil {
			return err
		}
	}
}

// reward proposes to reward a staker and decides it by the uptime of the node.
func (r *primaryNetwork) reward(s *primary.Staker, at uint64) error {
	b, err := r.net.P.BuildProposal(at)
	if err != nil {
		return err
	}
	if err := r.acceptP(b, true); err != nil {
		return err
	}
	m := r.byNode[s.NodeID]
	if b, err = r.net.P.BuildOption(m == nil || m.row.Uptime >= r.rules.Staking.UptimeRequirement); err != nil {
		return err
	}
	return r.acceptP(b, false)
}

func (r *primaryNetwork) platform(at uint64, txs []*primary.Tx) error {
	b, err := r.net.P.Build(at, txs)
	if err != nil {
		return err
	}
	return r.acceptP(b, true)
}

func (r *primaryNetwork) acceptP(b *primary.Block, proposed bool) error {
	if err := r.deliver(b.Time()); err != nil {
		return err
	}
	var proposer *network.Seat
	if proposed {
		proposer = r.proposer(store.PChain, b)
	}
	delta, err := r.net.AcceptP(b, proposer)
	return r.accepted(delta, err)
}

func (r *primaryNetwork) exchange(at uint64, txs []*primary.Tx) error {
	b, err := r.net.X.Build(at, txs)
	if err != nil {
		return err
	}
	delta, err := r.net.AcceptX(b, r.proposer(store.XChain, b))
	return r.accepted(delta, err)
}

func (r *primaryNetwork) accepted(delta *store.PrimaryDelta, err error) error {
	if err != nil {
		return err
	}
	r.emit(delta)
	return nil
}

// seat draws who proposes a block among the validators of its time.
func (r *primaryNetwork) proposer(chain int, b *primary.Block) *network.Seat {
	g := r.rng.For("proposer", r.rules.NetworkID, chain, b.Height())
	var m *node
	for m == nil || m.start == 0 || m.start > b.Time() || m.end < b.Time() {
		m = r.nodes[g.IntN(r.primaryValidators())]
	}
	return &network.Seat{Certificate: m.row.Certificate, PHeight: r.net.P.Height()}
}

// cross plays what happens between the C-Chain and the others at the time of a block under construction.
func (r *primaryNetwork) cross(p *evm.Pending) (bool, error) {
	at := p.Header().Time
	if len(r.atomicTxs) == 0 || r.atomicTxs[0].at > at {
		return false, nil
	}
	c := r.atomicTxs[0]
	r.atomicTxs = r.atomicTxs[1:]
	txs, err := c.do(p)
	if err != nil || len(txs) == 0 {
		return false, err
	}
	rows, err := r.net.AcceptC(txs, p.Header().Number.Uint64(), p.Header().BaseFee, at)
	if err != nil {
		return false, err
	}
	return true, p.Atomic(txs, rows)
}

// nodes are the rows of the network's machines.
func (r *primaryNetwork) nodeRows() []store.Node {
	rows := make([]store.Node, len(r.nodes))
	for i, m := range r.nodes {
		rows[i] = m.row
	}
	return rows
}

// add puts an errand into the script.
func (r *primaryNetwork) add(chain int, at uint64, do func(at uint64) ([]*primary.Tx, error)) {
	r.script = append(r.script, scheduledTx{at: at, chain: chain, do: do})
}

// one is an errand of a single transaction.
func singleTx(do func(at uint64) (*primary.Tx, error)) func(uint64) ([]*primary.Tx, error) {
	return func(at uint64) ([]*primary.Tx, error) {
		tx, err := do(at)
		if tx == nil || err != nil {
			return nil, err
		}
		return []*primary.Tx{tx}, nil
	}
}
