package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/explain"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// api is shared by the methods of all namespaces.
type api struct {
	chain  *reader.Chain
	miner  *miner.Miner
	blocks *blockCache

	explainer *explain.Explainer // may be nil
}

// ErrHash reports that no block has the requested hash (coreth eth.EthAPIBackend.BlockByNumberOrHash).
var ErrHash = errors.New("header for hash not found")

// The tags: Latest names the last executed block, which is the newest one unless a client made execution lag; accepted always names the newest
// one. Pending names the block that would follow; on a C-Chain since Helicon under --strict the last executed one, as on a node (avalanchego
// vms/saevm/blocks.ResolveRPCNumber). Safe and finalized name the last settled block, which before Helicon and on an L1 is the newest one.
const (
	Latest   = -1
	pending  = -2
	settled  = -3
	accepted = -5
	unnamed  = -4 // an object that names no block
)

var errUnnamed = errors.New("invalid arguments; neither block nor hash specified")

// BlockNumber is a block number or a tag in the forms that clients use.
type BlockNumber int64

// UnmarshalJSON reads everything that go-ethereum reads, and the network's own tag (avalanchego graft/evm/rpc.BlockNumber).
func (b *BlockNumber) UnmarshalJSON(data []byte) error {
	if string(data) == `"accepted"` {
		*b = accepted
		return nil
	}
	var number rpc.BlockNumber
	if err := number.UnmarshalJSON(data); err != nil {
		return err
	}
	*b = numberOf(number)
	return nil
}

func numberOf(number rpc.BlockNumber) BlockNumber {
	switch {
	case number == rpc.EarliestBlockNumber:
		return 0
	case number == rpc.PendingBlockNumber:
		return pending
	case number == rpc.LatestBlockNumber:
		return Latest
	case number < 0:
		return settled
	default:
		return BlockNumber(number)
	}
}

// BlockRef names a block by number, tag or hash, plain or in an object.
type BlockRef struct {
	Number BlockNumber
	Hash   *common.Hash
}

// Numbered returns the reference to the block with a number or a tag.
func Numbered(n BlockNumber) *BlockRef { return &BlockRef{Number: n} }

// Hashed returns the reference to the block with a hash.
func Hashed(h common.Hash) *BlockRef { return &BlockRef{Hash: &h} }

// UnmarshalJSON reads the forms of EIP-1898 (avalanchego graft/evm/rpc.BlockNumberOrHash).
func (b *BlockRef) UnmarshalJSON(data []byte) error {
	var named struct {
		BlockNumber, BlockHash json.RawMessage
	}
	if len(data) > 0 && data[0] == '{' && json.Unmarshal(data, &named) == nil && isNull(named.BlockNumber) && isNull(named.BlockHash) {
		*b = BlockRef{Number: unnamed}
		return nil
	}
	var ref rpc.BlockNumberOrHash
	known := bytes.ReplaceAll(data, []byte(`"accepted"`), []byte(`"latest"`))
	if err := ref.UnmarshalJSON(known); err != nil {
		return err
	}
	b.Hash = ref.BlockHash
	switch {
	case len(known) != len(data):
		b.Number = accepted
	case ref.BlockNumber != nil:
		b.Number = numberOf(*ref.BlockNumber)
	}
	return nil
}

func isNull(member json.RawMessage) bool { return member == nil || string(member) == "null" }

// Pending reports whether the reference is the pending tag.
func (b *BlockRef) Pending() bool { return b.Hash == nil && b.Number == pending }

// Unnamed reports whether the reference is an object that names no block.
func (b *BlockRef) Unnamed() bool { return b.Hash == nil && b.Number == unnamed }

// BlockOf resolves a block reference for other packages; no reference means the last executed block.
func BlockOf(ctx context.Context, m *miner.Miner, ref *BlockRef) (*reader.Block, error) {
	return (&api{chain: m.Chain, miner: m}).block(ctx, ref)
}

func (a *api) byNumber(ctx context.Context, number BlockNumber) (*reader.Block, error) {
	switch number {
	case Latest:
		return a.miner.LastExecuted(ctx)
	case accepted:
		return a.chain.Head(ctx)
	case settled:
		return a.miner.LastSettled(ctx)
	case pending:
		return a.miner.Pending(ctx)
	case unnamed:
		return nil, errUnnamed
	}
	return a.chain.Block(ctx, uint64(number))
}

// ErrNotExecuted reports that a block is accepted, but not executed. A node keeps the request until it is.
var ErrNotExecuted = errors.New("the block is accepted but not executed yet")

// CheckExecuted returns ErrNotExecuted for a block that is not executed.
func CheckExecuted(ctx context.Context, m *miner.Miner, b *reader.Block) error {
	last, err := m.LastExecuted(ctx)
	if err == nil && b.Number > last.Number && !b.Pending() {
		err = ErrNotExecuted
	}
	return err
}

// ExecutedBlockOf is BlockOf for a block whose execution matters.
func ExecutedBlockOf(ctx context.Context, m *miner.Miner, ref *BlockRef) (*reader.Block, error) {
	b, err := BlockOf(ctx, m, ref)
	if err == nil {
		err = CheckExecuted(ctx, m, b)
	}
	return b, err
}

func (a *api) executedBlock(ctx context.Context, ref *BlockRef) (*reader.Block, error) {
	return ExecutedBlockOf(ctx, a.miner, ref)
}

// block resolves a block reference; no reference means the last executed block.
func (a *api) block(ctx context.Context, ref *BlockRef) (*reader.Block, error) {
	switch {
	case ref == nil:
		return a.miner.LastExecuted(ctx)
	case ref.Hash == nil:
		return a.byNumber(ctx, ref.Number)
	}
	b, err := a.chain.BlockByHash(ctx, *ref.Hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrHash
	}
	return b, err
}

// null is the answer for something that does not exist.
var null json.RawMessage

// Missing reports whether an error only means that something does not exist, for which clients get null.
func Missing(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, reader.ErrUnfinalized) || errors.Is(err, ErrNotExecuted)
}

// OrNull turns such an error into null.
func OrNull(err error) error {
	if Missing(err) {
		return nil
	}
	return err
}
