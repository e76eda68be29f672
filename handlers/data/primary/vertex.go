package primary

import (
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
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
