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

// Ledger is the P- and X-chain of one of a world's networks: what is read of them, and the way in for what clients send.
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

	mu   sync.Mutex
	live *network.Network // restored from the file when first needed, and after a block could not be stored
}

func (w *World) openLedgers(ctx context.Context) error {
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
		if err := l.findSelf(ctx); err != nil {
			return err
		}
		w.Ledgers = append(w.Ledgers, l)
	}
	return nil
}

// Chain is the number by which the file knows one of the network's chains.
func (l *Ledger) Chain(chain primary.Chain) int { return store.PrimaryChain(l.index, int(chain)) }

// IssueX puts a transaction into a new block of the X-chain. The error is the network's reason to refuse it.
func (l *Ledger) IssueX(ctx context.Context, tx *primary.Tx) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.restore(ctx); err != nil {
		return err
	}
	at := max(uint64(l.Clock.Unix()), l.live.X.Time(), l.live.P.Time())
	if err := l.live.X.Check(tx, at); err != nil {
		return err
	}
	b, err := l.live.X.Build(at, []*primary.Tx{tx})
	if err != nil {
		return err
	}
	seat, err := l.seat(ctx, b)
	if err != nil {
		return err
	}
	delta, err := l.live.AcceptX(b, seat)
	if err != nil {
		return err
	}
	return l.keep(ctx, primary.XChain, delta)
}

func (l *Ledger) restore(ctx context.Context) (err error) {
	if l.live == nil {
		l.live, err = network.Restore(ctx, l.DB, l.Rules.NetworkID)
	}
	return err
}

// keep stores an accepted block. What could not be stored never happened: the next one restores the file's state.
func (l *Ledger) keep(ctx context.Context, chain primary.Chain, delta *store.PrimaryDelta) error {
	heads := map[int][]byte{l.Chain(chain): delta.Block.Digest}
	err := l.World.commit(ctx, heads, func(b *store.Batch) error { return b.AddPrimaryBlock(delta) })
	if err != nil {
		l.live = nil
		return fmt.Errorf("%s block %d: %w", chain, delta.Block.ID.Number(), err)
	}
	return nil
}

// seat chooses the proposer of a block: the block's height tells one of those who validate at its time, by node id.
func (l *Ledger) seat(ctx context.Context, b *primary.Block) (*network.Seat, error) {
	nodes, err := l.DB.Nodes(ctx, l.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	var able [][]byte
	for i := range nodes {
		if l.live.Seated(nodes[i].Certificate, b.Time()) {
			able = append(able, nodes[i].Certificate)
		}
	}
	if len(able) == 0 {
		return nil, errNoProposer
	}
	return &network.Seat{Certificate: able[b.Height()%uint64(len(able))], PHeight: l.live.P.Height()}, nil
}
