package consensus

import (
	"context"
	"crypto/ecdsa"
	"sort"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// NewPrimaryBlocks indexes the blocks that a P- or X-Chain accepted: the ProposerVM's blocks, because consensus knows no others.
func NewPrimaryBlocks(n *sim.Network, chain txs.Chain) Accepted { return &primaryBlocks{n, chain} }

type primaryBlocks struct {
	network *sim.Network
	chain   txs.Chain
}

func (b *primaryBlocks) Count(ctx context.Context) (uint64, error) {
	head, err := b.network.DB.PrimaryHead(ctx, b.network.Chain(b.chain))
	return head.ID.Number(), err
}

func (b *primaryBlocks) Index(ctx context.Context, id ids.ID) (uint64, error) {
	row, err := b.network.DB.PrimaryBlockByOuterID(ctx, b.network.Chain(b.chain), id[:])
	if err != nil {
		return 0, err
	}
	return row.ID.Number() - 1, nil
}

func (b *primaryBlocks) Range(ctx context.Context, first, count uint64) ([]Container, error) {
	db := b.network.DB
	rows, err := db.PrimaryBlocks(ctx, b.network.Chain(b.chain), first+1, first+count)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	transactions, err := db.PrimaryTxsBetween(ctx, rows[0].ID.Block(), rows[len(rows)-1].ID.End())
	if err != nil {
		return nil, err
	}
	signers := map[ids.NodeID]*signer{}
	all := make([]Container, len(rows))
	for i := range rows {
		row := &rows[i]
		n := sort.Search(len(transactions), func(k int) bool { return transactions[k].ID > row.ID.End() })
		inner := row.Bytes(transactions[:n])
		transactions = transactions[n:]
		raw, err := b.envelope(ctx, row, inner, signers)
		if err != nil {
			return nil, err
		}
		all[i] = Container{ids.ID(row.OuterID), raw, row.Time}
	}
	return all, nil
}

// signer is a proposer's certificate and key.
type signer struct {
	certificate []byte
	key         *ecdsa.PrivateKey
}

// envelope wraps a block in its ProposerVM block.
func (b *primaryBlocks) envelope(ctx context.Context, row *store.PrimaryBlock, inner []byte, signers map[ids.NodeID]*signer) ([]byte, error) {
	outer := &txs.ProposerBlock{
		ParentID: ids.ID(row.OuterParent), Time: uint64(row.Time), PHeight: row.PHeight,
		Epoch: txs.Epoch{PHeight: row.EpochHeight, Number: row.Epoch, Start: row.EpochStart},
	}
	if row.Proposer == nil {
		return outer.Bytes(inner, ids.Empty, nil)
	}
	proposer := ids.NodeID(row.Proposer)
	if signers[proposer] == nil {
		node, err := b.network.DB.Node(ctx, b.network.Rules.NetworkID, row.Proposer)
		if err != nil {
			return nil, err
		}
		signers[proposer] = &signer{node.Certificate, txs.StakingKey(node.Secret)}
	}
	s, chain := signers[proposer], ids.Empty
	if b.chain == txs.XChain {
		chain = b.network.Rules.XChainID
	}
	outer.Certificate = s.certificate
	return outer.Bytes(inner, chain, s.key)
}

// NewTransactions indexes the transactions that a network's X-Chain accepted. Those that created the assets of its genesis are in no block's bytes, so
// no block counts them.
func NewTransactions(n *sim.Network) Accepted { return &transactions{n} }

type transactions struct{ network *sim.Network }

func (t *transactions) chain() int { return t.network.Chain(txs.XChain) }

func (t *transactions) Count(ctx context.Context) (uint64, error) {
	head, err := t.network.DB.PrimaryHead(ctx, t.chain())
	if err != nil {
		return 0, err
	}
	return uint64(head.AllTxs), nil
}

func (t *transactions) Index(ctx context.Context, id ids.ID) (uint64, error) {
	tx, err := t.network.DB.PrimaryTxByHash(ctx, t.chain(), id[:])
	if err != nil {
		return 0, err
	}
	if tx.ID.Number() == 0 {
		return 0, store.ErrNotFound
	}
	parent, err := t.network.DB.PrimaryBlock(ctx, t.chain(), tx.ID.Number()-1)
	if err != nil {
		return 0, err
	}
	return uint64(parent.AllTxs) + uint64(tx.ID.Index()), nil
}

func (t *transactions) Range(ctx context.Context, first, count uint64) ([]Container, error) {
	head, err := t.network.DB.PrimaryHead(ctx, t.chain())
	if err != nil {
		return nil, err
	}
	height, err := t.heightOf(ctx, int64(first), head.ID.Number())
	if err != nil {
		return nil, err
	}
	var all []Container
	for ; uint64(len(all)) < count && height <= head.ID.Number(); height++ {
		row, err := t.network.DB.PrimaryBlock(ctx, t.chain(), height)
		if err != nil {
			return nil, err
		}
		rows, err := t.network.DB.PrimaryTxs(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		skip := max(int64(first)-(row.AllTxs-int64(row.Txs)), 0)
		for i := int(skip); i < len(rows) && uint64(len(all)) < count; i++ {
			all = append(all, Container{ids.ID(rows[i].Hash), rows[i].Bytes, row.Time})
		}
	}
	return all, nil
}

// heightOf returns the height of the block with the n-th transaction, counting from zero.
func (t *transactions) heightOf(ctx context.Context, n int64, head uint64) (height uint64, err error) {
	height = uint64(sort.Search(int(head), func(h int) bool {
		row, failed := t.network.DB.PrimaryBlock(ctx, t.chain(), uint64(h))
		if failed != nil {
			err = failed
			return true
		}
		return row.AllTxs > n
	}))
	return height, err
}

// NewEVMBlocks indexes the blocks of an EVM chain. They have no envelope, like blocks from before the ProposerVM: no proposer is known.
func NewEVMBlocks(c *reader.Chain) Accepted { return &evmBlocks{c} }

type evmBlocks struct{ chain *reader.Chain }

func (b *evmBlocks) Count(ctx context.Context) (uint64, error) {
	head, err := b.chain.Head(ctx)
	if err != nil {
		return 0, err
	}
	return head.Number, nil
}

func (b *evmBlocks) Index(ctx context.Context, id ids.ID) (uint64, error) {
	block, err := b.chain.BlockByHash(ctx, common.Hash(id))
	if err != nil {
		return 0, err
	}
	if block.Number == 0 {
		return 0, store.ErrNotFound
	}
	return block.Number - 1, nil
}

func (b *evmBlocks) Range(ctx context.Context, first, count uint64) (all []Container, err error) {
	for n := first + 1; n <= first+count; n++ {
		block, err := b.chain.Block(ctx, n)
		if err != nil {
			return nil, err
		}
		raw, err := b.chain.RawBlock(ctx, block)
		if err != nil {
			return nil, err
		}
		all = append(all, Container{ids.ID(block.Hash), raw, int64(block.Header.Time)})
	}
	return all, nil
}
