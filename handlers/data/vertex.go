package data

import (
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
)

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
var xChainParam = handlers.Param{Name: "blockchainId", Kind: handlers.KindEnum, Doc: "The X-Chain, by id or alias.",
	Same: sameChain, Enum: []string{primary.Mainnet.XChainID.String(), primary.Fuji.XChainID.String(), chainNames[primary.XChain]}}

func (a *primaryAPI) vertexOperations() []handlers.Operation {
	hash := handlers.Param{Name: "vertexHash", Kind: handlers.KindID}
	height := handlers.Param{Name: "vertexHeight", Kind: handlers.KindInteger, Min: "0", Required: true}
	return []handlers.Operation{
		{ID: "listVertices", Path: primaryBlocksPath + "/vertices", Summary: "List vertices: a world has none",
			Params: with(pathNetworkParam, xChainParam, handlers.Paging(10, 100)), Answer: reflect.TypeFor[vertices](), Handle: a.onPrimary(a.listVertices)},
		{ID: "getVertex", Path: primaryBlocksPath + "/vertices/{vertexHash}", Summary: "Get a vertex: a world has none",
			Params: with(pathNetworkParam, xChainParam, hash), Answer: reflect.TypeFor[Vertex](), Handle: a.onPrimary(a.getVertex)},
		{ID: "listVerticesByHeight", Path: primaryBlocksPath + "/vertices:listByHeight", Summary: "List the vertices of a height: a world has none",
			Params: with(pathNetworkParam, xChainParam, height, handlers.Paging(10, 100), sortOrderParam), Answer: reflect.TypeFor[vertices](),
			Handle: a.onPrimary(a.listVertices)},
	}
}

func (a *primaryAPI) listVertices(_ *handlers.Request, c *primaryChain) (any, error) {
	return vertices{Vertices: []Vertex{}, ChainInfo: c.info()}, nil
}

func (a *primaryAPI) getVertex(r *handlers.Request, c *primaryChain) (any, error) {
	return nil, handlers.NotFound("vertex %s does not exist: the X-Chain of %s was always linear", handlers.Value[ids.ID](r, "vertexHash"), c.Network)
}
