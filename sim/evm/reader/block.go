package reader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// ErrUnfinalized is a node's error for a block above the head (coreth eth.ErrUnfinalizedData).
var ErrUnfinalized = errors.New("cannot query unfinalized data")

// Block is a committed block of a chain, without its contents; or the pending one, which has no hash yet.
type Block struct {
	Row    *store.Block
	Header *evm.Header
	Hash   common.Hash
	Number uint64

	Results  *evm.ExecutionResults
	Executed *evm.Header // Header with the results, as the block's code saw it; the same before Helicon and on an L1

	draft *draft // of a pending block
}

// Ledger holds a chain's accepted blocks, transactions, receipts and logs.
type Ledger struct {
	Row  store.Chain
	Kind evm.Kind

	db      *store.DB
	head    atomic.Pointer[Block]
	history *history
}

func (l *Ledger) block(row *store.Block) (*Block, error) {
	header, err := evm.DecodeHeader(l.Kind, row.Header)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", row.ID.Number(), err)
	}
	results, err := evm.DecodeResults(row.Execution, header)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", row.ID.Number(), err)
	}
	return &Block{
		Row: row, Header: header, Hash: common.BytesToHash(row.Hash), Number: row.ID.Number(), Results: results, Executed: results.Executed(header),
	}, nil
}

// Head returns the chain's newest block.
func (l *Ledger) Head(ctx context.Context) (*Block, error) {
	if head := l.head.Load(); head != nil {
		return head, nil
	}
	row, err := l.db.Head(ctx, l.Row.ID)
	if err != nil {
		return nil, err
	}
	head, err := l.block(row)
	if err != nil {
		return nil, err
	}
	l.head.CompareAndSwap(nil, head)
	return head, nil
}

// Settled returns the number of the last block whose results this one, or one before it, has in its header: before Helicon and on an L1 its own.
func (b *Block) Settled() uint64 {
	if b.Header.Asynchronous() {
		return *b.Header.SettledHeight
	}
	return b.Number
}

// Settled returns the last settled block.
func (l *Ledger) Settled(ctx context.Context) (*Block, error) {
	head, err := l.Head(ctx)
	if err != nil {
		return nil, err
	}
	return l.Block(ctx, head.Settled())
}

// SettledBy returns the first block whose header has the results of a block, or of a later one: nil if there is none yet. Before Helicon and on an
// L1 it is the block itself.
func (l *Ledger) SettledBy(ctx context.Context, b *Block) (*Block, error) {
	if !b.Header.Asynchronous() {
		return b, nil
	}
	head, err := l.Head(ctx)
	if err != nil || head.Settled() < b.Number {
		return nil, err
	}
	number, err := store.Search(b.Number, head.Number, func(number uint64) (bool, error) {
		later, err := l.Block(ctx, number)
		return err == nil && later.Settled() >= b.Number, err
	})
	if err != nil {
		return nil, err
	}
	return l.Block(ctx, number)
}

// Block returns the block with this number. A number above the head gets ErrUnfinalized.
func (l *Ledger) Block(ctx context.Context, number uint64) (*Block, error) {
	head, err := l.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case number > head.Number:
		return nil, ErrUnfinalized
	case number == head.Number:
		return head, nil
	}
	if b, known := l.history.blocks.Get(number); known {
		return b, nil
	}
	row, err := l.db.Block(ctx, l.Row.ID, number)
	if err != nil {
		return nil, err
	}
	return l.cached(row)
}

// BlockByHash returns the block with this hash, or store.ErrNotFound.
func (l *Ledger) BlockByHash(ctx context.Context, hash common.Hash) (*Block, error) {
	row, err := l.db.BlockByHash(ctx, l.Row.ID, hash[:])
	if err != nil {
		return nil, err
	}
	return l.cached(row)
}

func (l *Ledger) cached(row *store.Block) (*Block, error) {
	b, err := l.block(row)
	if err == nil {
		l.history.blocks.Add(b.Number, b)
	}
	return b, err
}

// position returns the start of the block's transactions, logs and calls.
func (b *Block) position() store.Position { return b.Row.ID }

// blockHash answers BLOCKHASH for contracts that run on top of a block.
func (l *Ledger) blockHash(ctx context.Context, top uint64) func(uint64) common.Hash {
	return func(number uint64) common.Hash {
		if number > top {
			return common.Hash{}
		}
		b, err := l.Block(ctx, number)
		if err != nil {
			return common.Hash{}
		}
		return b.Hash
	}
}

// RawBlock returns the RLP of a whole block: header, transactions, uncles and, on a C-Chain, the version and the bytes of the atomic
// transactions.
func (l *Ledger) RawBlock(ctx context.Context, b *Block) ([]byte, error) {
	rows, err := l.transactionRows(ctx, b)
	if err != nil {
		return nil, err
	}
	transactions := make([]any, len(rows))
	for i := range rows {
		if raw := rows[i].Raw; raw[0] >= 0xc0 {
			transactions[i] = rlp.RawValue(raw)
		} else {
			transactions[i] = raw
		}
	}
	body := []any{rlp.RawValue(b.Row.Header), transactions, []any{}}
	if l.Kind == evm.KindC {
		body = append(body, uint32(0), b.Row.ExtData)
	}
	return rlp.EncodeToBytes(body)
}

// Size returns the length of a whole block's RLP: of RawBlock.
func (l *Ledger) Size(b *Block, transactions []*Transaction) uint64 {
	var listed uint64
	for _, t := range transactions {
		if raw := t.Row.Raw; raw[0] >= 0xc0 {
			listed += uint64(len(raw))
		} else {
			listed += rlp.BytesSize(raw)
		}
	}
	size := uint64(len(b.Row.Header)) + rlp.ListSize(listed) + rlp.ListSize(0)
	if l.Kind == evm.KindC {
		size += uint64(rlp.IntSize(0)) + rlp.BytesSize(b.Row.ExtData)
	}
	return rlp.ListSize(size)
}

type accountKey struct {
	changes uint64 // Chain.Changes when the state was opened
	block   uint64
	address common.Address
}

type slotKey struct {
	accountKey
	key common.Hash
}

// storageKey names a contract's storage by its root, so that it stays known while blocks leave it as it is.
type storageKey struct {
	changes uint64
	root    common.Hash
}

// storage is the whole of a contract's storage, or counts the slots of it that were read alone.
type storage struct {
	reads atomic.Uint32
	slots map[common.Hash]common.Hash // nil unless it was read as a whole
}

// history caches what readers of a chain share. Blocks never change. The state after the newest block may change without a block: cached states
// carry the number of such changes, and are not read after the next change.
type history struct {
	blocks    *cache.Cache[uint64, *Block]
	fees      *cache.Cache[uint64, *blockFees]
	accounts  *cache.Cache[accountKey, *types.StateAccount]
	slots     *cache.Cache[slotKey, common.Hash]
	storages  *cache.Cache[storageKey, *storage]
	codes     *cache.Cache[common.Hash, []byte]
	jumpDests evm.JumpDestCache

	proofLock    sync.Mutex // guards the next three: a trie is not safe for concurrent use
	proofTrie    *evm.Trie
	proofBlock   uint64 // tree's block
	proofChanges uint64 // Chain.Changes at tree's block
}

func newHistory(g *cache.Group) *history {
	return &history{
		blocks:    cache.New[uint64, *Block](g),
		fees:      cache.NewCounted[uint64](g, (*blockFees).bytes),
		accounts:  cache.NewRepeated[accountKey, *types.StateAccount](g),
		slots:     cache.NewRepeated[slotKey, common.Hash](g),
		storages:  cache.New[storageKey, *storage](g),
		codes:     cache.New[common.Hash, []byte](nil),
		jumpDests: evm.NewJumpDestCache(),
	}
}
