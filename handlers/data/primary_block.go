package data

import (
	"reflect"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// PrimaryBlock is a block of a primary chain. On the C-Chain its transactions are the atomic ones, and its hashes those
// of the EVM.
type PrimaryBlock struct {
	BlockNumber             string           `json:"blockNumber" format:"uint"`
	BlockHash               string           `json:"blockHash"`
	ParentHash              string           `json:"parentHash"`
	BlockTimestamp          int64            `json:"blockTimestamp"`
	BlockType               string           `json:"blockType" doc:"Genesis, Standard, Proposal, Commit or Abort."`
	TxCount                 int              `json:"txCount"`
	Transactions            []string         `json:"transactions" format:"cb58"`
	BlockSizeBytes          int              `json:"blockSizeBytes"`
	L1ValidatorsAccruedFees *uint64          `json:"l1ValidatorsAccruedFees,omitempty" doc:"nAVAX that an always active L1 validator would have paid; of the P-Chain."`
	ActiveL1Validators      *uint64          `json:"activeL1Validators,omitempty" doc:"Of the P-Chain."`
	CurrentSupply           string           `json:"currentSupply,omitempty" format:"uint" doc:"nAVAX, potential rewards included; of the P-Chain."`
	ProposerDetails         *ProposerDetails `json:"proposerDetails,omitempty" doc:"Of the P- and the X-Chain after genesis."`
}

// ProposerDetails are of the block that a proposer put around a block. Options follow from their parent: they have no
// proposer of their own.
type ProposerDetails struct {
	ProposerID           string  `json:"proposerId,omitempty" format:"cb58"`
	ProposerParentID     string  `json:"proposerParentId,omitempty" format:"cb58"`
	ProposerNodeID       string  `json:"proposerNodeId,omitempty" format:"nodeId"`
	ProposerPChainHeight *uint64 `json:"proposerPChainHeight,omitempty"`
	ProposerTimestamp    *int64  `json:"proposerTimestamp,omitempty"`
}

type primaryBlocks struct {
	NextPageToken string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Blocks        []PrimaryBlock `json:"blocks"`
	ChainInfo     ChainInfo      `json:"chainInfo"`
}

const primaryBlocksPath = "/v1/networks/{network}/blockchains/{blockchainId}"

func (a *primaryAPI) primaryBlockOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "listPrimaryBlocks", Path: primaryBlocksPath + "/blocks", Summary: "List the latest blocks of a primary chain", Spec: "Blocks",
			Params: with(pathNetworkParam, primaryParam, timeParams, handlers.Paging(10, 100)), Answer: reflect.TypeFor[primaryBlocks](),
			Handle: a.onPrimary(a.listPrimaryBlocks)},
		{ID: "getPrimaryBlock", Path: primaryBlocksPath + "/blocks/{blockId}", Summary: "Get a block of a primary chain by its height or hash",
			Params: with(pathNetworkParam, primaryParam, handlers.Param{Name: "blockId", Kind: handlers.KindPBlock}),
			Answer: reflect.TypeFor[PrimaryBlock](), Handle: a.onPrimary(a.getPrimaryBlock)},
		{ID: "listNodeBlocks", Path: primaryBlocksPath + "/nodes/{nodeId}/blocks", Summary: "List the blocks of the P- or X-Chain that a node proposed",
			Params: with(pathNetworkParam, primaryParam, nodeParam, timeParams, handlers.Paging(10, 100)), Answer: reflect.TypeFor[primaryBlocks](),
			Handle: a.onPrimary(a.listNodeBlocks)},
	}
}

func (a *primaryAPI) listPrimaryBlocks(r *handlers.Request, c *primaryChain) (any, error) {
	high, low, err := c.span(r, c.blocks())
	if err != nil {
		return nil, err
	}
	if c.evm != nil {
		return a.listAtomicBlocks(r, c, high, low)
	}
	at, err := c.DB.PrimaryBlockIDs(r.Context(), high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	return a.primaryPage(r, c, at)
}

func (a *primaryAPI) listNodeBlocks(r *handlers.Request, c *primaryChain) (any, error) {
	high, low, err := c.span(r, c.number())
	if err != nil {
		return nil, err
	}
	node := handlers.Value[ids.NodeID](r, "nodeId")
	at, err := c.DB.PrimaryBlocksBy(r.Context(), node[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	return a.primaryPage(r, c, at)
}

func (a *primaryAPI) primaryPage(r *handlers.Request, c *primaryChain, at []store.Position) (any, error) {
	at, next := cut(r, at, position)
	return blockPage(c, at, next, func(p store.Position) (rawJSON, error) { return a.primaryBlock(r, c, p) })
}

// blockPage is a page of blocks.
func blockPage(c *primaryChain, at []store.Position, next string, block func(store.Position) (rawJSON, error)) (any, error) {
	page := &jsonPage{next: next, name: "blocks", items: make([]rawJSON, len(at)), more: c.more()}
	for i, p := range at {
		var err error
		if page.items[i], err = block(p); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// primaryBlock is a block of the P- or X-Chain as JSON, or from the cache.
func (a *primaryAPI) primaryBlock(r *handlers.Request, c *primaryChain, at store.Position) (rawJSON, error) {
	if text, ok := a.blocks.Get(at); ok {
		return text, nil
	}
	row, err := c.DB.PrimaryBlock(r.Context(), c.number(), at.Number())
	if err != nil {
		return nil, err
	}
	names, err := c.DB.PrimaryNames(r.Context(), at, at.End())
	if err != nil {
		return nil, err
	}
	text, err := marshal(showPrimaryBlock(c, row, names))
	if err == nil {
		a.blocks.Add(at, text)
	}
	return text, err
}

func showPrimaryBlock(c *primaryChain, b *store.PrimaryBlock, names []store.PrimaryName) PrimaryBlock {
	shown := PrimaryBlock{
		BlockNumber: strconv.FormatUint(b.ID.Number(), 10), BlockHash: cb58(b.Hash), ParentHash: cb58(b.Parent), BlockTimestamp: b.Time,
		BlockType: b.Type, TxCount: len(names), Transactions: list(names, func(n *store.PrimaryName) string { return cb58(n.Hash) }),
		BlockSizeBytes: b.Size, ProposerDetails: proposer(b),
	}
	if c.kind == primary.PChain {
		accrued := uint64(b.Accrued)
		shown.L1ValidatorsAccruedFees, shown.ActiveL1Validators = &accrued, &b.L1Active
		shown.CurrentSupply = strconv.FormatUint(uint64(b.Supply), 10)
	}
	return shown
}

func proposer(b *store.PrimaryBlock) *ProposerDetails {
	if b.OuterID == nil {
		return nil
	}
	d := &ProposerDetails{ProposerID: cb58(b.OuterID), ProposerParentID: cb58(b.OuterParent)}
	if b.Proposer != nil {
		d.ProposerNodeID, d.ProposerPChainHeight, d.ProposerTimestamp = ids.NodeID(b.Proposer).String(), &b.PHeight, &b.Time
	}
	return d
}

func (a *primaryAPI) getPrimaryBlock(r *handlers.Request, c *primaryChain) (any, error) {
	if c.evm != nil {
		return a.getAtomicBlock(r, c)
	}
	id := r.Block("blockId")
	if id.ByHash {
		row, err := c.DB.PrimaryBlockByHash(r.Context(), c.number(), id.Hash[:])
		if err != nil {
			return nil, or(err, noBlock(id, c))
		}
		id.Number = row.ID.Number()
	}
	if id.Number > store.MaxNumber {
		return nil, noBlock(id, c)
	}
	text, err := a.primaryBlock(r, c, store.At(c.number(), id.Number, 0))
	if err != nil {
		return nil, or(err, noBlock(id, c))
	}
	return text, nil
}

func noBlock(id handlers.BlockID, c *primaryChain) *handlers.Error {
	text := id.String()
	if id.ByHash && c.evm == nil {
		text = cb58(id.Hash[:])
	}
	return handlers.NotFound("block %s does not exist on the %s of %s", text, chainNames[c.kind], c.Network)
}
