package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const nanoAVAX = 1_000_000_000

// Size counts the things of each kind in one network.
type Size struct{ Validators, Delegators, L1Validators, Transactions int }

// Network is a network's P-, X- and C-Chain during their history: the activity on P and X, and the value that moves to and from C. The
// C-Chain's own history is a Chain.
type Network struct {
	ICM *ICM

	rng      population.RNG
	rules    *rules.Network
	personas *population.Personas
	accounts []*population.Account // other than personas, the most active first
	span     population.Span
	size     Size
	net      *primary.Network
	genesis  *primary.Genesis
	emit     func(*store.PrimaryDelta)

	nodes    *nodes
	wallet   *wallet
	l1s      []*L1
	l1sReady chan struct{}     // closed once every L1 has its chain
	assetIDs map[string]ids.ID // of the X-Chain's assets, by role

	script    []scheduledBlock // of P and X, by time
	atomicTxs []atomicTx       // of C, by time
	ending    int              // stakers that join and end within history
	onC       uint64           // nAVAX that the genesis of the C-Chain gives to accounts
	own       own
}

// NewNetwork makes a network of a world, with its nodes.
func NewNetwork(g population.RNG, networkRules *rules.Network, size Size, span population.Span, personas *population.Personas, accounts []*population.Account) (*Network, error) {
	n := &Network{
		rng: g, rules: networkRules, personas: personas, accounts: accounts, span: span, size: size,
		wallet: &wallet{rules: networkRules, utxos: utxoSet{}}, l1sReady: make(chan struct{}), assetIDs: map[string]ids.ID{},
	}
	var err error
	if n.nodes, err = newNodes(g, networkRules.NetworkID, n.size.primaryValidators(), n.size.L1Validators); err != nil {
		return nil, err
	}
	for i, node := range n.nodes.all {
		node.owner = n.account(i)
	}
	n.ICM = &ICM{network: n}
	// The first L1 of each network exists for its validators: the world does not simulate its chain.
	n.l1s = []*L1{{network: n, name: "Hollow", vm: ids.ID{'h', 'o', 'l', 'l', 'o', 'w', 'v', 'm'}, genesis: []byte(`{"hollow":true}`)}}
	return n, nil
}

// Begin makes the genesis and plans the history, once the L1s are known.
func (n *Network) Begin(emit func(*store.PrimaryDelta)) error {
	n.emit = emit
	n.assignNodes()
	genesis, err := (&genesisBuilder{Network: n}).build()
	if err != nil {
		return err
	}
	net, deltas, err := primary.New(n.rules, genesis)
	if err != nil {
		return err
	}
	n.genesis, n.net, n.wallet.net = genesis, net, net
	net.Watch, net.WatchStaker = n.wallet.observe, n.nodes.observeStaker
	for _, u := range genesis.PChain.UTXOs {
		n.wallet.utxos.add(store.PChain, store.PChain, &u.UTXO)
	}
	for _, u := range genesis.XChain.UTXOs {
		n.wallet.utxos.add(store.XChain, store.XChain, u)
	}
	for _, delta := range deltas {
		emit(delta)
	}
	n.plan()
	return nil
}

// AddC counts the nAVAX that the C-Chain's genesis gives to accounts: it is a part of the supply.
func (n *Network) AddC(allocated uint64) { n.onC = allocated }

// Row returns the network's row in the file.
func (n *Network) Row() (store.PrimaryNetwork, error) { return n.genesis.Row(n.rules) }

// NodeRows returns the rows of the network's nodes.
func (n *Network) NodeRows() []store.Node {
	rows := make([]store.Node, len(n.nodes.all))
	for i, node := range n.nodes.all {
		rows[i] = node.row
	}
	return rows
}

// account returns the i-th account other than a persona, wrapping around.
func (n *Network) account(i int) *population.Account { return n.accounts[i%len(n.accounts)] }

// Advance makes all blocks of P and X up to a time.
func (n *Network) Advance(to uint64) error {
	for len(n.script) > 0 && n.script[0].at <= to {
		next := n.script[0]
		n.script[0] = scheduledBlock{} // no longer needed
		n.script = n.script[1:]
		if err := n.execute(next); err != nil {
			return fmt.Errorf("network %d at %d: %w", n.rules.NetworkID, next.at, err)
		}
	}
	if err := n.advanceStakers(to); err != nil {
		return err
	}
	return n.ICM.signUntil(to)
}

func (n *Network) execute(s scheduledBlock) error {
	if err := n.advanceStakers(s.at); err != nil {
		return err
	}
	txs, err := n.scheduled(s)
	if err != nil || len(txs) == 0 {
		return err
	}
	if s.chain == store.XChain {
		return n.makeX(s.at, txs)
	}
	return n.makeP(s.at, txs)
}

// advanceStakers makes the blocks that time alone asks for: rewards, and stakers that begin or run out.
func (n *Network) advanceStakers(to uint64) error {
	for {
		b, err := n.net.P.BuildDue(to, n.rewarded)
		if err != nil || b == nil {
			return err
		}
		if err := n.acceptP(b); err != nil {
			return err
		}
	}
}

// rewarded decides a staker's reward by the uptime of its node.
func (n *Network) rewarded(s *pchain.Staker) bool {
	return n.nodes.byID[s.NodeID].row.Uptime >= n.net.P.UptimeRequirement(s)
}

func (n *Network) makeP(at uint64, txs []*txs.Tx) error {
	b, err := n.net.P.BuildBlock(at, txs)
	if err != nil {
		return err
	}
	return n.acceptP(b)
}

// acceptP accepts a block of the P-Chain. One that decides a proposal has no proposer.
func (n *Network) acceptP(b *txs.Block) error {
	if err := n.ICM.signUntil(b.Time()); err != nil {
		return err
	}
	var proposer *primary.Proposer
	switch b.Body.(type) {
	case *txs.CommitBlock, *txs.AbortBlock:
	default:
		proposer = n.proposer(store.PChain, b)
	}
	delta, err := n.net.AcceptP(b, proposer)
	if err != nil {
		return err
	}
	n.emit(delta)
	return nil
}

func (n *Network) makeX(at uint64, txs []*txs.Tx) error {
	b, err := n.net.X.BuildBlock(at, txs)
	if err != nil {
		return err
	}
	delta, err := n.net.AcceptX(b, n.proposer(store.XChain, b))
	if err != nil {
		return err
	}
	n.emit(delta)
	return nil
}

// proposer draws a block's proposer among the validators of its time.
func (n *Network) proposer(chain int, b *txs.Block) *primary.Proposer {
	r := n.rng.For("proposer", n.rules.NetworkID, chain, b.Height())
	var node *node
	for node == nil || node.start == 0 || node.start > b.Time() || node.end < b.Time() {
		node = n.nodes.all[r.IntN(n.size.primaryValidators())]
	}
	return &primary.Proposer{Certificate: node.row.Certificate, PHeight: n.net.P.Height()}
}

// NextAtomic returns when value next moves to or from the C-Chain, in a block of its own.
func (n *Network) NextAtomic() (at uint64, due bool) {
	if len(n.atomicTxs) == 0 {
		return 0, false
	}
	return n.atomicTxs[0].at, true
}

// ApplyAtomic executes the transfers between the C-Chain and the others that are due at the time of a block under construction.
func (n *Network) ApplyAtomic(p *evm.BlockExecution) (bool, error) {
	at := p.Header().Time
	if len(n.atomicTxs) == 0 || n.atomicTxs[0].at > at {
		return false, nil
	}
	next := n.atomicTxs[0]
	n.atomicTxs[0] = atomicTx{}
	n.atomicTxs = n.atomicTxs[1:]
	tx, err := next.build(p)
	if err != nil || tx == nil {
		return false, err
	}
	txs := []*txs.Tx{tx}
	rows, err := n.net.AcceptC(txs, p.Header().Number.Uint64(), p.Header().BaseFee, at)
	if err != nil {
		return false, err
	}
	return true, p.Atomic(txs, rows)
}
