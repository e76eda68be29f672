package txs

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// BlockBody is one of the block types of the P-Chain or the X-Chain.
type BlockBody interface {
	header() header
	transactions() []*Tx
	setID(ids.ID)
}

type header struct {
	parent ids.ID
	height uint64
	time   uint64
}

// Link holds a P-Chain block's id and parent. BlockID is not part of the bytes.
type Link struct {
	ParentID ids.ID `serialize:"true" json:"parentID"`
	Height   uint64 `serialize:"true" json:"height"`
	BlockID  ids.ID `json:"id"`
}

func (l *Link) setID(id ids.ID) { l.BlockID = id }

// GenesisBlock is the P-Chain's block 0. Its parent is the hash of the genesis bytes.
type GenesisBlock struct {
	Link `serialize:"true"`
}

// StandardBlock holds transactions that take effect at once.
type StandardBlock struct {
	Time uint64 `serialize:"true" json:"time"`
	Link `serialize:"true"`
	Txs  []*Tx `serialize:"true" json:"txs"`
}

// ProposalBlock proposes to reward a staker; the block after it commits or aborts.
type ProposalBlock struct {
	Time uint64 `serialize:"true" json:"time"`
	Txs  []*Tx  `serialize:"true" json:"txs"`
	Link `serialize:"true"`
	Tx   *Tx `serialize:"true" json:"tx"`
}

// CommitBlock accepts the proposal before it: the staker is rewarded.
type CommitBlock struct {
	Time uint64 `serialize:"true" json:"time"`
	Link `serialize:"true"`
}

// AbortBlock refuses the proposal before it: the stake returns without a reward.
type AbortBlock struct {
	Time uint64 `serialize:"true" json:"time"`
	Link `serialize:"true"`
}

// XChainBlock is the X-Chain's only block type. MerkleRoot is always zero.
type XChainBlock struct {
	ParentID   ids.ID `serialize:"true" json:"parentID"`
	Height     uint64 `serialize:"true" json:"height"`
	Time       uint64 `serialize:"true" json:"time"`
	MerkleRoot ids.ID `serialize:"true" json:"merkleRoot"`
	Txs        []*Tx  `serialize:"true" json:"txs"`
	BlockID    ids.ID `json:"id"`
}

func (b *XChainBlock) setID(id ids.ID) { b.BlockID = id }

func (b *GenesisBlock) header() header  { return header{b.ParentID, b.Height, 0} }
func (b *StandardBlock) header() header { return header{b.ParentID, b.Height, b.Time} }
func (b *ProposalBlock) header() header { return header{b.ParentID, b.Height, b.Time} }
func (b *CommitBlock) header() header   { return header{b.ParentID, b.Height, b.Time} }
func (b *AbortBlock) header() header    { return header{b.ParentID, b.Height, b.Time} }
func (b *XChainBlock) header() header   { return header{b.ParentID, b.Height, b.Time} }

func (b *GenesisBlock) transactions() []*Tx  { return nil }
func (b *StandardBlock) transactions() []*Tx { return b.Txs }
func (b *ProposalBlock) transactions() []*Tx { return append(b.Txs[:len(b.Txs):len(b.Txs)], b.Tx) }
func (b *CommitBlock) transactions() []*Tx   { return nil }
func (b *AbortBlock) transactions() []*Tx    { return nil }
func (b *XChainBlock) transactions() []*Tx   { return b.Txs }

// Block is a block with its bytes and id.
type Block struct {
	Body  BlockBody
	bytes []byte
	id    ids.ID
}

// NewBlock computes the bytes and the id of a block.
func NewBlock(c Chain, body BlockBody) (*Block, error) {
	b, err := c.Marshal(&body)
	if err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	id := ids.ID(hashing.ComputeHash256Array(b))
	body.setID(id)
	return &Block{Body: body, bytes: b, id: id}, nil
}

// ParseBlock reads a block and the transactions in it.
func ParseBlock(c Chain, b []byte) (*Block, error) {
	var body BlockBody
	if err := c.Unmarshal(b, &body); err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	if err := Initialize(c, body.transactions()); err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	return NewBlock(c, body)
}

// ID returns the hash of the bytes.
func (b *Block) ID() ids.ID { return b.id }

// Bytes returns the block as the chain stores it.
func (b *Block) Bytes() []byte { return b.bytes }

// Parent returns the previous block's id.
func (b *Block) Parent() ids.ID { return b.Body.header().parent }

// Height returns the number of earlier blocks.
func (b *Block) Height() uint64 { return b.Body.header().height }

// Time returns the block's time in Unix seconds; 0 for the P-Chain's genesis block, which has none.
func (b *Block) Time() uint64 { return b.Body.header().time }

// Txs returns the block's transactions, a proposal's last.
func (b *Block) Txs() []*Tx { return b.Body.transactions() }
