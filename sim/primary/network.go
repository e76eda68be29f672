package primary

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/xchain"
)

// Network is the state of the three chains, for one writer at a time. If storing the rows from an Accept method fails, the Network is ahead
// of the file and must be restored from it.
type Network struct {
	Rules *rules.Network
	P     *pchain.Chain
	X     *xchain.Chain
	C     *utxo.AtomicBackend
	// Before Accept returns, it calls Watch with a block's changes of a chain's outputs, and WatchStaker with each changed staker; both may
	// be nil.
	Watch       func(txs.Chain, *utxo.Diff)
	WatchStaker func(*pchain.Staker)

	index    int // of the network, by which its chains are numbered
	shared   *utxo.SharedMemory
	tips     [2]tip                      // of the P-Chain and the X-Chain
	db       *store.DB                   // that the network was restored from, or nil
	utxos    map[ids.ID]store.UTXONumber // unspent outputs, without those in the file
	stakers  map[ids.ID]*store.Staker
	periods  map[ids.NodeID][]stakingPeriod
	l1       map[ids.ID]*l1Validator
	subnets  map[ids.ID]store.Position
	proposal *proposal
}

// tip holds the facts, besides the chain's own state, on which the next block of the P-Chain or the X-Chain builds.
type tip struct {
	digest        []byte
	allTxs        int64
	outer         ids.ID
	pHeight       uint64
	time          uint64
	epoch         txs.Epoch
	validatorFees rules.ValidatorFeeState // of the P-Chain
}

// stakingPeriod is a period in which a node validates the primary network.
type stakingPeriod struct{ start, end uint64 }

// proposal is a reward that the next block decides.
type proposal struct {
	at   store.Position
	txID ids.ID
}

// Proposer identifies a block's proposer: a node's certificate and the P-Chain height in the block.
type Proposer struct {
	Certificate []byte
	PHeight     uint64
}

// Errors of a block that its chain accepts, but not the ProposerVM or the order of proposals.
var (
	errProposer = errors.New("the proposer is not a validator at that time")
	errPHeight  = errors.New("the proposer cannot have seen that height of the P-Chain")
	errHead     = errors.New("a proposal must hold nothing but its reward")
)

// Genesis holds the genesis of a network's chains.
type Genesis struct {
	PChain *pchain.PChainGenesis
	XChain *xchain.XChainGenesis
}

// Row encodes the genesis for the file.
func (g *Genesis) Row(n *rules.Network) (store.PrimaryNetwork, error) {
	p, err := g.PChain.Bytes()
	if err != nil {
		return store.PrimaryNetwork{}, err
	}
	x, err := g.XChain.Bytes()
	return store.PrimaryNetwork{ID: n.NetworkID, PChainGenesis: p, XChainGenesis: x, Upgrades: n.EncodeUpgrades()}, err
}

// ParseGenesis parses the output of Row.
func ParseGenesis(row store.PrimaryNetwork) (*Genesis, error) {
	p, err := pchain.ParsePChainGenesis(row.PChainGenesis)
	if err != nil {
		return nil, err
	}
	x, err := xchain.ParseXChainGenesis(row.XChainGenesis)
	return &Genesis{PChain: p, XChain: x}, err
}

func empty(networkRules *rules.Network) *Network {
	return &Network{
		Rules: networkRules, index: rules.Index(networkRules.NetworkID), shared: utxo.NewSharedMemory(),
		utxos: map[ids.ID]store.UTXONumber{}, stakers: map[ids.ID]*store.Staker{}, periods: map[ids.NodeID][]stakingPeriod{},
		l1: map[ids.ID]*l1Validator{}, subnets: map[ids.ID]store.Position{},
	}
}

// New makes a network at its genesis and returns the rows of block 0 of its P-Chain and X-Chain.
func New(networkRules *rules.Network, g *Genesis) (*Network, []*store.PrimaryDelta, error) {
	n := empty(networkRules)
	at, err := g.PChain.State(networkRules)
	if err != nil {
		return nil, nil, err
	}
	n.P = pchain.New(networkRules, n.shared, at)
	n.X = xchain.New(networkRules, n.shared, g.XChain.State(), g.XChain.UTXOs)
	n.C = utxo.NewAtomicBackend(networkRules, n.shared)
	pChain, err := n.recordPChainGenesis(g.PChain, at)
	if err != nil {
		return nil, nil, err
	}
	xChain, err := n.recordXChainGenesis(g.XChain)
	return n, []*store.PrimaryDelta{pChain, xChain}, err
}

// Chain returns the store's number of one of the network's chains.
func (n *Network) Chain(c txs.Chain) int { return store.PrimaryChain(n.index, int(c)) }

// AcceptP verifies the next block of the P-Chain, applies it and returns its rows. A commit or abort block has no proposer: in the
// ProposerVM it is an option of its proposal block.
func (n *Network) AcceptP(b *txs.Block, proposer *Proposer) (*store.PrimaryDelta, error) {
	if err := n.verifyProposer(b, proposer); err != nil {
		return nil, fmt.Errorf("P block %d: %w", b.Height(), err)
	}
	diffs, err := n.P.Accept(b)
	if err != nil {
		return nil, err
	}
	r := n.record(txs.PChain, b.Height())
	if err := r.pChainBlock(b, diffs); err != nil {
		return nil, fmt.Errorf("P block %d: %w", b.Height(), err)
	}
	return r.delta, r.block(b, proposer)
}

// AcceptX does the same for the X-Chain.
func (n *Network) AcceptX(b *txs.Block, proposer *Proposer) (*store.PrimaryDelta, error) {
	if err := n.verifyProposer(b, proposer); err != nil {
		return nil, fmt.Errorf("X block %d: %w", b.Height(), err)
	}
	diffs, err := n.X.Accept(b)
	if err != nil {
		return nil, err
	}
	r := n.record(txs.XChain, b.Height())
	for i, tx := range b.Txs() {
		if err := r.xChainTx(i, tx, diffs[i]); err != nil {
			return nil, fmt.Errorf("X block %d: %w", b.Height(), err)
		}
	}
	return r.delta, r.block(b, proposer)
}

// AcceptC verifies the atomic transactions of a C-Chain block with this number, base fee and time, applies their changes of outputs and
// returns its rows. Balances and nonces of accounts are the EVM's.
func (n *Network) AcceptC(transactions []*txs.Tx, number uint64, baseFee *big.Int, time uint64) (*store.PrimaryDelta, error) {
	diffs, err := n.C.Accept(transactions, baseFee, time)
	if err != nil {
		return nil, err
	}
	r := n.record(txs.CChain, number)
	for i, tx := range transactions {
		if err := r.atomicTx(i, tx, diffs[i]); err != nil {
			return nil, fmt.Errorf("C block %d: %w", number, err)
		}
	}
	return r.delta, nil
}

// verifyProposer checks that a block's proposer validates at the block's time.
func (n *Network) verifyProposer(b *txs.Block, proposer *Proposer) error {
	if proposer == nil {
		return nil
	}
	if proposer.PHeight > n.P.Height() {
		return errPHeight
	}
	if !n.CanPropose(txs.NodeIDOf(proposer.Certificate), b.Time()) {
		return errProposer
	}
	return nil
}

// CanPropose reports whether a node validates the primary network at a time, and so may propose.
func (n *Network) CanPropose(node ids.NodeID, time uint64) bool {
	return slices.ContainsFunc(n.periods[node], func(t stakingPeriod) bool { return t.start <= time && time <= t.end })
}

// Exported lists the outputs that one of the chains exported to another and that are not yet imported, always in the same order.
func (n *Network) Exported(from, to txs.Chain) []*txs.UTXO {
	return n.shared.Exported(n.Rules.BlockchainID(from), n.Rules.BlockchainID(to))
}
