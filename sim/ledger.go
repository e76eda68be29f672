package sim

import (
	"context"
	"fmt"
	"sync"

	"snowglobe/fixtures"
	"snowglobe/sim/network"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// Ledger is one of a world's primary networks: what is read of its P- and X-Chain, and IssueX for what clients send.
type Ledger struct {
	Network string // mainnet or fuji
	Rules   *primary.Network
	DB      *store.DB
	Clock   *Clock
	Aliases *Aliases // of the network's chains
	Self    Self     // the node that answers for the network
	World   *World   // whose network it is

	index         int
	canonicalSets *canonicalSets

	mu    sync.Mutex
	state *network.Network // restored from the file when first needed, and after a block could not be stored
}

func (w *World) openNetworks(ctx context.Context) error {
	rows, err := w.DB.PrimaryNetworks(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		rules, err := primary.NetworkByID(row.ID)
		if err != nil {
			return err
		}
		index := network.Index(row.ID)
		l := &Ledger{
			Network: fixtures.Networks[index].Name, Rules: rules, DB: w.DB, Clock: w.Clock, World: w, index: index, canonicalSets: newCanonicalSets(),
		}
		l.Aliases = newAliases(rules, l.Network, w.Chains)
		if err := l.chooseLocalNode(ctx); err != nil {
			return err
		}
		w.Ledgers = append(w.Ledgers, l)
	}
	return nil
}

// Chain is the number of one of the network's chains in the file.
func (l *Ledger) Chain(chain primary.Chain) int { return store.PrimaryChain(l.index, int(chain)) }

// IssueX accepts a transaction in a new block of the X-Chain. The error is the network's reason to refuse it.
func (l *Ledger) IssueX(ctx context.Context, tx *primary.Tx) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.restore(ctx); err != nil {
		return err
	}
	at := max(uint64(l.Clock.Unix()), l.state.X.Time(), l.state.P.Time())
	if err := l.state.X.Check(tx, at); err != nil {
		return err
	}
	b, err := l.state.X.Build(at, []*primary.Tx{tx})
	if err != nil {
		return err
	}
	proposer, err := l.proposer(ctx, b)
	if err != nil {
		return err
	}
	delta, err := l.state.AcceptX(b, proposer)
	if err != nil {
		return err
	}
	return l.storeBlock(ctx, primary.XChain, delta)
}

func (l *Ledger) restore(ctx context.Context) (err error) {
	if l.state == nil {
		l.state, err = network.Restore(ctx, l.DB, l.Rules.NetworkID)
	}
	return err
}

// storeBlock writes an accepted block. When that fails the block was never accepted: the next one restores the file's state.
func (l *Ledger) storeBlock(ctx context.Context, chain primary.Chain, delta *store.PrimaryDelta) error {
	heads := map[int][]byte{l.Chain(chain): delta.Block.Digest}
	err := l.World.commit(ctx, heads, func(b *store.Batch) error { return b.AddPrimaryBlock(delta) })
	if err != nil {
		l.state = nil
		return fmt.Errorf("%s block %d: %w", chain, delta.Block.ID.Number(), err)
	}
	return nil
}

// proposer chooses who proposes a block among the nodes that validate at its time: in turn, by the block's height.
func (l *Ledger) proposer(ctx context.Context, b *primary.Block) (*network.Seat, error) {
	nodes, err := l.DB.Nodes(ctx, l.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	var certificates [][]byte
	for i := range nodes {
		if l.state.Seated(nodes[i].Certificate, b.Time()) {
			certificates = append(certificates, nodes[i].Certificate)
		}
	}
	if len(certificates) == 0 {
		return nil, errNoProposer
	}
	return &network.Seat{Certificate: certificates[b.Height()%uint64(len(certificates))], PHeight: l.state.P.Height()}, nil
}
