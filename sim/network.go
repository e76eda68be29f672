package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"snowglobe/fixtures"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/xchain"
)

// Network is one of a world's primary networks: what is read of its P- and X-Chain, and IssueX for what clients send.
type Network struct {
	Name      string // mainnet or fuji
	Rules     *rules.Network
	DB        *store.DB
	Clock     *Clock
	Aliases   *Aliases  // of the network's chains
	LocalNode LocalNode // the node that answers for the network
	World     *World    // whose network it is

	index         int
	canonicalSets *canonicalSets

	mu    sync.Mutex
	state *primary.Network // restored from the file when first needed, and after a block could not be stored
}

func (w *World) openNetworks(ctx context.Context) error {
	rows, err := w.DB.PrimaryNetworks(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		networkRules, err := rules.NetworkByID(row.ID)
		if err != nil {
			return err
		}
		index := rules.Index(row.ID)
		n := &Network{
			Name: fixtures.Networks[index].Name, Rules: networkRules, DB: w.DB, Clock: w.Clock, World: w, index: index, canonicalSets: newCanonicalSets(),
		}
		n.Aliases = newAliases(networkRules, n.Name, w.Chains)
		if err := n.chooseLocalNode(ctx); err != nil {
			return err
		}
		w.Networks = append(w.Networks, n)
	}
	return nil
}

// Chain is the number of one of the network's chains in the file.
func (n *Network) Chain(chain txs.Chain) int { return store.PrimaryChain(n.index, int(chain)) }

// IssueX accepts a transaction in a new block of the X-Chain. The error is the network's reason to refuse it.
func (n *Network) IssueX(ctx context.Context, tx *txs.Tx) error {
	if n.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.restore(ctx); err != nil {
		return err
	}
	at := max(uint64(n.Clock.Unix()), n.state.X.Time(), n.state.P.Time())
	if err := n.state.X.Check(tx, at); err != nil {
		return err
	}
	b, err := n.state.X.BuildBlock(at, []*txs.Tx{tx})
	if err != nil {
		return err
	}
	proposer, err := n.proposer(ctx, b)
	if err != nil {
		return err
	}
	delta, err := n.state.AcceptX(b, proposer)
	if err != nil {
		return err
	}
	return n.storeBlock(ctx, txs.XChain, delta)
}

func (n *Network) restore(ctx context.Context) (err error) {
	if n.state == nil {
		n.state, err = primary.Restore(ctx, n.DB, n.Rules.NetworkID)
	}
	return err
}

// storeBlock writes an accepted block. When that fails the block was never accepted: the next one restores the file's state.
func (n *Network) storeBlock(ctx context.Context, chain txs.Chain, delta *store.PrimaryDelta) error {
	heads := map[int][]byte{n.Chain(chain): delta.Block.Digest}
	err := n.World.commit(ctx, heads, func(b *store.Batch) error { return b.AddPrimaryBlock(delta) })
	if err != nil {
		n.state = nil
		if errors.Is(err, store.ErrReadOnly) {
			return store.ErrReadOnly
		}
		return fmt.Errorf("%s block %d: %w", chain, delta.Block.ID.Number(), err)
	}
	return nil
}

// proposer chooses who proposes a block among the nodes that validate at its time: in turn, by the block's height.
func (n *Network) proposer(ctx context.Context, b *txs.Block) (*primary.Proposer, error) {
	nodes, err := n.DB.Nodes(ctx, n.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	var certificates [][]byte
	for i := range nodes {
		if n.state.CanPropose(nodes[i].Certificate, b.Time()) {
			certificates = append(certificates, nodes[i].Certificate)
		}
	}
	if len(certificates) == 0 {
		return nil, errNoProposer
	}
	return &primary.Proposer{Certificate: certificates[b.Height()%uint64(len(certificates))], PHeight: n.state.P.Height()}, nil
}

// XChainGenesis is what the X-Chain began with, as the network's nodes read it.
func (n *Network) XChainGenesis(ctx context.Context) ([]byte, error) {
	rows, err := n.DB.PrimaryNetworks(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.ID != n.Rules.NetworkID {
			continue
		}
		g, err := xchain.ParseXChainGenesis(row.XChainGenesis)
		if err != nil {
			return nil, err
		}
		return g.NetworkBytes(row.ID)
	}
	return nil, store.ErrNotFound
}
