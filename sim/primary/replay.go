package primary

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// replay accepts a network's stored blocks again, in a possible order of arrival.
type replay struct {
	*Network
	db     *store.DB
	certs  map[ids.NodeID][]byte
	sink   func(*store.PrimaryDelta) error
	chains [3]*chainReplay
}

// chainReplay holds the remaining blocks of one chain: the time of the next one and how to accept it.
type chainReplay struct {
	time   int64
	accept func() (*store.PrimaryDelta, error)
	load   func() error // loads the next block; accept is nil after the last
}

// Replay rebuilds a network from its genesis and the bytes of its blocks; if strict, it recovers every signature and checks every proof.
// cChain is the row id of its C-Chain among EVM chains. The sink receives the rows of each block.
func Replay(ctx context.Context, db *store.DB, row store.PrimaryNetwork, cChain int, strict bool, sink func(*store.PrimaryDelta) error) (*Network, error) {
	r, err := begin(ctx, db, row, strict, sink)
	if err != nil {
		return nil, err
	}
	if r.chains[txs.PChain], err = r.chain(ctx, txs.PChain, r.AcceptP); err != nil {
		return nil, err
	}
	if r.chains[txs.XChain], err = r.chain(ctx, txs.XChain, r.AcceptX); err != nil {
		return nil, err
	}
	if r.chains[txs.CChain], err = r.cChain(ctx, cChain); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if more, err := r.step(); err != nil || !more {
			return r.Network, err
		}
	}
}

func begin(ctx context.Context, db *store.DB, row store.PrimaryNetwork, strict bool, sink func(*store.PrimaryDelta) error) (*replay, error) {
	networkRules, err := rules.Load(row.ID, row.Upgrades)
	if err != nil {
		return nil, err
	}
	genesis, err := ParseGenesis(row)
	if err != nil {
		return nil, err
	}
	n, deltas, err := New(networkRules, genesis)
	if err != nil {
		return nil, err
	}
	n.P.Strict, n.X.Strict, n.C.Strict = strict, strict, strict
	for _, delta := range deltas {
		if err := sink(delta); err != nil {
			return nil, err
		}
	}
	r := &replay{Network: n, db: db, certs: map[ids.NodeID][]byte{}, sink: sink}
	nodes, err := db.Nodes(ctx, row.ID)
	for i := range nodes {
		r.certs[txs.NodeIDOf(nodes[i].Certificate)] = nodes[i].Certificate
	}
	return r, err
}

// step accepts the block with the lowest time. Among blocks of the same time, chains may wait for another's exports.
func (r *replay) step() (more bool, err error) {
	var due *chainReplay
	var refusals []error
	for {
		due = r.next(len(refusals))
		if due == nil {
			return false, errors.Join(refusals...)
		}
		delta, err := due.accept()
		if err == nil {
			return true, errors.Join(r.sink(delta), due.load())
		}
		refusals = append(refusals, err)
	}
}

// next returns the chain whose block to try when so many of the chains with the lowest time had to wait.
func (r *replay) next(waiting int) *chainReplay {
	var lowest []*chainReplay
	for _, l := range r.chains {
		switch {
		case l.accept == nil || len(lowest) > 0 && l.time > lowest[0].time:
		case len(lowest) > 0 && l.time == lowest[0].time:
			lowest = append(lowest, l)
		default:
			lowest = []*chainReplay{l}
		}
	}
	if waiting >= len(lowest) {
		return nil
	}
	return lowest[waiting]
}

type acceptor func(*txs.Block, *Proposer) (*store.PrimaryDelta, error)

// chain reads the blocks of the P-Chain or the X-Chain one by one.
func (r *replay) chain(ctx context.Context, c txs.Chain, accept acceptor) (*chainReplay, error) {
	head, err := r.db.PrimaryHead(ctx, r.Chain(c))
	if err != nil {
		return nil, err
	}
	l, height := &chainReplay{}, uint64(0)
	l.load = func() error {
		l.accept = nil
		if height >= head.ID.Number() {
			return nil
		}
		height++
		row, err := r.db.PrimaryBlock(ctx, r.Chain(c), height)
		if err != nil {
			return fmt.Errorf("%s block %d: %w", c, height, err)
		}
		b, proposer, err := r.parse(ctx, c, row)
		if err != nil {
			return fmt.Errorf("%s block %d: %w", c, height, err)
		}
		l.time, l.accept = row.Time, func() (*store.PrimaryDelta, error) { return accept(b, proposer) }
		return nil
	}
	return l, l.load()
}

var errNoNode = errors.New("the proposer is not a node of the network")

func (r *replay) parse(ctx context.Context, c txs.Chain, row *store.PrimaryBlock) (*txs.Block, *Proposer, error) {
	transactions, err := r.db.PrimaryTxs(ctx, row.ID)
	if err != nil {
		return nil, nil, err
	}
	b, err := txs.ParseBlock(c, row.Bytes(transactions))
	if err != nil || row.Proposer == nil {
		return b, nil, err
	}
	node, err := ids.ToNodeID(row.Proposer)
	if err != nil {
		return nil, nil, err
	}
	proposer := &Proposer{Certificate: r.certs[node], PHeight: row.PHeight}
	if proposer.Certificate == nil {
		err = errNoNode
	}
	return b, proposer, err
}

// cChain reads the C-Chain's blocks that hold atomic transactions.
func (r *replay) cChain(ctx context.Context, cChain int) (*chainReplay, error) {
	rows, err := r.db.AtomicBlocks(ctx, cChain)
	if err != nil {
		return nil, err
	}
	l := &chainReplay{}
	l.load = func() error {
		l.accept = nil
		if len(rows) == 0 {
			return nil
		}
		row := rows[0]
		rows = rows[1:]
		header, err := evm.DecodeHeader(evm.KindC, row.Header)
		if err != nil {
			return err
		}
		transactions, err := txs.ParseAtomicBatch(row.ExtData)
		if err != nil {
			return fmt.Errorf("C block %d: %w", row.ID.Number(), err)
		}
		l.time, l.accept = row.Time, func() (*store.PrimaryDelta, error) {
			return r.AcceptC(transactions, row.ID.Number(), header.BaseFee, header.Time)
		}
		return nil
	}
	return l, l.load()
}
