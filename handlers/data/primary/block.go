package primary

import (
	"reflect"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// PrimaryBlock is a block of a primary chain. C-Chain blocks have EVM hashes and list atomic transactions only.
type PrimaryBlock struct {
	BlockNumber             string           `json:"blockNumber" format:"uint"`
	BlockHash               string           `json:"blockHash"`
	ParentHash              string           `json:"parentHash"`
	BlockTimestamp          int64            `json:"blockTimestamp"`
	BlockType               string           `json:"blockType" doc:"Genesis, Standard, Proposal, Commit or Abort."`
	TxCount                 int              `json:"txCount"`
	Transactions            []string         `json:"transactions" format:"cb58"`
	BlockSizeBytes          int              `json:"blockSizeBytes"`
	L1ValidatorsAccruedFees *uint64          `json:"l1ValidatorsAccruedFees,omitempty" doc:"nAVAX that an always active L1 validator would have paid; only on the P-Chain."`
	ActiveL1Validators      *uint64          `json:"activeL1Validators,omitempty" doc:"Only on the P-Chain."`
	CurrentSupply           string           `json:"currentSupply,omitempty" format:"uint" doc:"nAVAX, potential rewards included; only on the P-Chain."`
	ProposerDetails         *ProposerDetails `json:"proposerDetails,omitempty" doc:"Only on the P- and X-Chain, after genesis. C-Chain blocks have no proposer here."`
}

// ProposerDetails describes the proposer's block around a block. Options (commits and aborts) follow from their parent and have its
// proposer.
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

func (a *primaryAPI) primaryBlockOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listPrimaryBlocks", Path: primaryBlocksPath + "/blocks", Summary: "List the latest blocks of a primary chain", Spec: "Blocks",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, data.TimeParams, rest.Paging(10, 100)), Answer: reflect.TypeFor[primaryBlocks](),
			Handle: a.onPrimary(a.listPrimaryBlocks)},
		{ID: "getPrimaryBlock", Path: primaryBlocksPath + "/blocks/{blockId}", Summary: "Get a block of a primary chain by its height or hash",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, rest.Param{Name: "blockId", Kind: schema.KindPrimaryBlock}),
			Answer: reflect.TypeFor[PrimaryBlock](), Handle: a.onPrimary(a.getPrimaryBlock)},
		{ID: "listNodeBlocks", Path: primaryBlocksPath + "/nodes/{nodeId}/blocks", Summary: "List the blocks of the P- or X-Chain that a node proposed",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, data.NodeParam, data.TimeParams, rest.Paging(10, 100)), Answer: reflect.TypeFor[primaryBlocks](),
			Handle: a.onPrimary(a.listNodeBlocks)},
	}
}

func (a *primaryAPI) listPrimaryBlocks(r *rest.Request, c *primaryChain) (any, error) {
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

func (a *primaryAPI) listNodeBlocks(r *rest.Request, c *primaryChain) (any, error) {
	high, low, err := c.span(r, c.number())
	if err != nil {
		return nil, err
	}
	node := rest.Value[ids.NodeID](r, "nodeId")
	at, err := c.DB.PrimaryBlocksBy(r.Context(), node[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	return a.primaryPage(r, c, at)
}

func (a *primaryAPI) primaryPage(r *rest.Request, c *primaryChain, at []store.Position) (any, error) {
	at, next := data.CutPage(r, at, data.Position)
	return blockPage(c, at, next, func(p store.Position) (data.RawJSON, error) { return a.primaryBlock(r, c, p) })
}

func blockPage(c *primaryChain, at []store.Position, next string, block func(store.Position) (data.RawJSON, error)) (any, error) {
	blocks, err := data.TryList(at, block)
	return &data.JSONPage{Next: next, Name: "blocks", Items: blocks, More: c.more()}, err
}

// primaryBlock returns a P- or X-Chain block as JSON, from the cache if it can.
func (a *primaryAPI) primaryBlock(r *rest.Request, c *primaryChain, at store.Position) (data.RawJSON, error) {
	if text, ok := a.blocks.Get(at); ok {
		return text, nil
	}
	row, err := c.DB.PrimaryBlock(r.Context(), c.number(), at.Number())
	if err != nil {
		return nil, err
	}
	names, err := c.DB.PrimaryTxHashes(r.Context(), at, at.End())
	if err != nil {
		return nil, err
	}
	proposed := row
	if row.OuterID != nil && row.Proposer == nil { // an option
		if proposed, err = c.DB.PrimaryBlock(r.Context(), c.number(), row.ID.Number()-1); err != nil {
			return nil, err
		}
	}
	text, err := data.Marshal(showPrimaryBlock(c, row, proposed, names))
	if err == nil {
		a.blocks.Add(at, text)
	}
	return text, err
}

func showPrimaryBlock(c *primaryChain, b, proposed *store.PrimaryBlock, names []store.PrimaryTxHash) PrimaryBlock {
	shown := PrimaryBlock{
		BlockNumber: strconv.FormatUint(b.ID.Number(), 10), BlockHash: data.CB58(b.Hash), ParentHash: data.CB58(b.Parent), BlockTimestamp: b.Time,
		BlockType: b.Type, TxCount: len(names), Transactions: data.List(names, func(n *store.PrimaryTxHash) string { return data.CB58(n.Hash) }),
		BlockSizeBytes: b.Size, ProposerDetails: proposer(b, proposed),
	}
	if c.kind == txs.PChain {
		accrued := uint64(b.AccruedFees)
		shown.L1ValidatorsAccruedFees, shown.ActiveL1Validators = &accrued, &b.L1Active
		shown.CurrentSupply = strconv.FormatUint(uint64(b.Supply), 10)
	}
	return shown
}

// proposer returns the proposer named in a block, or in the block that an option decides.
func proposer(b, proposed *store.PrimaryBlock) *ProposerDetails {
	if b.OuterID == nil {
		return nil
	}
	return &ProposerDetails{data.CB58(b.OuterID), data.CB58(b.OuterParent), ids.NodeID(proposed.Proposer).String(), &proposed.PHeight, &proposed.Time}
}

func (a *primaryAPI) getPrimaryBlock(r *rest.Request, c *primaryChain) (any, error) {
	if c.evm != nil {
		return a.getAtomicBlock(r, c)
	}
	id := r.Block("blockId")
	if id.ByHash {
		row, err := c.DB.PrimaryBlockByHash(r.Context(), c.number(), id.Hash[:])
		if err != nil {
			return nil, data.OrNotFound(err, noBlock(id, c))
		}
		id.Number = row.ID.Number()
	}
	if id.Number > store.MaxNumber {
		return nil, noBlock(id, c)
	}
	text, err := a.primaryBlock(r, c, store.At(c.number(), id.Number, 0))
	if err != nil {
		return nil, data.OrNotFound(err, noBlock(id, c))
	}
	return text, nil
}

func noBlock(id schema.BlockID, c *primaryChain) *rest.Error {
	text := id.String()
	if id.ByHash && c.evm == nil {
		text = data.CB58(id.Hash[:])
	}
	return rest.NotFound("block %s does not exist on the %s of %s", text, data.ChainNames[c.kind], c.Name)
}

// Vertex is a set of X-Chain transactions from before the chain was linear. A world's X-Chains always were.
type Vertex struct {
	VertexHash      string   `json:"vertexHash" format:"cb58"`
	ParentHashes    []string `json:"parentHashes" format:"cb58"`
	VertexHeight    uint64   `json:"vertexHeight"`
	VertexIndex     uint64   `json:"vertexIndex"`
	VertexTimestamp int64    `json:"vertexTimestamp"`
	TxCount         int      `json:"txCount"`
	Transactions    []string `json:"transactions" format:"cb58"`
	VertexSizeBytes int      `json:"vertexSizeBytes"`
}

type vertices struct {
	NextPageToken string    `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Vertices      []Vertex  `json:"vertices"`
	ChainInfo     ChainInfo `json:"chainInfo"`
}

// xChainParam names the X-Chain of either network.
var xChainParam = rest.Param{Name: "blockchainId", Kind: schema.KindEnum, Doc: "The X-Chain, by id or alias.",
	Same: data.SameChain, Enum: []string{rules.Mainnet.XChainID.String(), rules.Fuji.XChainID.String(), data.ChainNames[txs.XChain]}}

func (a *primaryAPI) vertexOperations() []rest.Operation {
	hash := rest.Param{Name: "vertexHash", Kind: schema.KindID}
	height := rest.Param{Name: "vertexHeight", Kind: schema.KindInteger, Min: "0", Required: true}
	return []rest.Operation{
		{ID: "listVertices", Path: primaryBlocksPath + "/vertices", Summary: "List vertices: a world has none",
			Params: data.JoinParams(data.PathNetworkParam, xChainParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[vertices](), Handle: a.onPrimary(a.listVertices)},
		{ID: "getVertex", Path: primaryBlocksPath + "/vertices/{vertexHash}", Summary: "Get a vertex: a world has none",
			Params: data.JoinParams(data.PathNetworkParam, xChainParam, hash), Answer: reflect.TypeFor[Vertex](), Handle: a.onPrimary(a.getVertex)},
		{ID: "listVerticesByHeight", Path: primaryBlocksPath + "/vertices:listByHeight", Summary: "List the vertices of a height: a world has none",
			Params: data.JoinParams(data.PathNetworkParam, xChainParam, height, rest.Paging(10, 100), data.SortOrderParam), Answer: reflect.TypeFor[vertices](),
			Handle: a.onPrimary(a.listVertices)},
	}
}

func (a *primaryAPI) listVertices(_ *rest.Request, c *primaryChain) (any, error) {
	return vertices{Vertices: []Vertex{}, ChainInfo: c.info()}, nil
}

func (a *primaryAPI) getVertex(r *rest.Request, c *primaryChain) (any, error) {
	return nil, rest.NotFound("vertex %s does not exist: the X-Chain of %s was always linear", rest.Value[ids.ID](r, "vertexHash"), c.Name)
}
