package primary

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/parse"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	CreateBlockTimestamp int64  `json:"createBlockTimestamp"`
	CreateBlockNumber    string `json:"createBlockNumber" doc:"Height on the P-Chain; -1 for the chains of the genesis."`
	BlockchainID         string `json:"blockchainId" format:"cb58"`
	VMID                 string `json:"vmId"`
	SubnetID             string `json:"subnetId" format:"cb58"`
	BlockchainName       string `json:"blockchainName"`
	EVMChainID           uint64 `json:"evmChainId,omitempty" doc:"Only for chains that run the EVM."`
}

// BlockchainDetail is a blockchain with its genesis.
type BlockchainDetail struct {
	Blockchain
	GenesisData any `json:"genesisData,omitempty" doc:"An EVM chain's genesis as an object, any other chain's as an EncodedGenesis; absent for the P-Chain."`
}

// EncodedGenesis is a genesis in its virtual machine's own encoding.
type EncodedGenesis struct {
	Encoding string `json:"encoding" enum:"hex"`
	Data     string `json:"data" format:"hex"`
}

type blockchains struct {
	NextPageToken string       `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Blockchains   []Blockchain `json:"blockchains"`
}

// blockchainEntry is a blockchain with its position.
type blockchainEntry struct {
	place uint64 // of the creating transaction; lower for chains of the genesis
	shown Blockchain
}

func blockchainCursor(b *blockchainEntry) uint64 { return b.place }

func (a *subnetAPI) blockchainOperations() []rest.Operation {
	known := append([]string{ids.Empty.String()}, data.ChainNames...)
	one := rest.Param{Name: "blockchainId", Kind: schema.KindChain, Enum: known, Doc: "A blockchain id, an EVM chain id, or an alias."}
	return []rest.Operation{
		{ID: "listBlockchains", Path: "/v1/networks/{network}/blockchains", Summary: "List blockchains",
			Params: data.JoinParams(data.PathNetworkParam, rest.Paging(100, 10000), data.SortOrderParam), Answer: reflect.TypeFor[blockchains](),
			Handle: a.OnNetwork(a.listBlockchains)},
		{ID: "getBlockchain", Path: "/v1/networks/{network}/blockchains/{blockchainId}", Summary: "Get a blockchain",
			Params: data.JoinParams(data.PathNetworkParam, one), Answer: reflect.TypeFor[BlockchainDetail](), Handle: a.OnNetwork(a.getBlockchain)},
	}
}

// blockchains returns a network's chains, newest first, the primary network's last.
func (a *subnetAPI) blockchains(r *rest.Request, n *sim.Network) ([]*blockchainEntry, error) {
	chain := n.Chain(txs.PChain)
	rows, err := n.DB.Blockchains(r.Context(), chain)
	if err != nil {
		return nil, err
	}
	all := genesisBlockchains(n)
	for i := range rows {
		shown, err := a.blockchain(r, n, &rows[i])
		if err != nil {
			return nil, err
		}
		all = append(all, &blockchainEntry{query.CursorOfTx(rows[i].ID), shown})
	}
	slices.Reverse(all)
	return all, nil
}

// genesisBlockchains returns the primary network's own chains. P and X are named after their virtual machines.
func genesisBlockchains(network *sim.Network) []*blockchainEntry {
	primaries := []Blockchain{
		{BlockchainID: ids.Empty.String(), VMID: "platformvm", BlockchainName: "P-Chain"},
		{BlockchainID: network.Rules.XChainID.String(), VMID: "avm", BlockchainName: "X-Chain"},
		{BlockchainID: network.Rules.CChainID.String(), VMID: fixtures.EVMID.String(), BlockchainName: "C-Chain"},
	}
	var all []*blockchainEntry
	for i, c := range primaries {
		c.CreateBlockTimestamp, c.CreateBlockNumber, c.SubnetID = fixtures.PrimaryNetworkTime, "-1", ids.Empty.String()
		if n, err := fixtures.NetworkNamed(network.Name); err == nil && n.CChainID.String() == c.BlockchainID {
			c.EVMChainID = n.CChainEVMID
		}
		all = append(all, &blockchainEntry{uint64(i), c})
	}
	return all
}

func (a *subnetAPI) blockchain(r *rest.Request, n *sim.Network, row *store.Blockchain) (Blockchain, error) {
	time, err := n.DB.PrimaryTime(r.Context(), row.ID.Block())
	shown := Blockchain{CreateBlockTimestamp: time, CreateBlockNumber: data.Decimals(row.ID.Number()), BlockchainID: data.CB58(row.Hash),
		VMID: data.CB58(row.VM), SubnetID: data.CB58(row.Subnet), BlockchainName: row.Name}
	if c := a.World.ChainByBlockchainID(ids.ID(row.Hash)); c != nil {
		shown.EVMChainID = c.Row.EVMID
	}
	return shown, err
}

func (a *subnetAPI) listBlockchains(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.blockchains(r, n)
	if err != nil {
		return nil, err
	}
	page, next := data.PageOf(r, query.NewKeyset(all, blockchainCursor), func(*blockchainEntry) bool { return true })
	return blockchains{next, data.List(page, func(b **blockchainEntry) Blockchain { return (*b).shown })}, nil
}

func (a *subnetAPI) getBlockchain(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.blockchains(r, n)
	if err != nil {
		return nil, err
	}
	id := r.Chain("blockchainId")
	name := id.String()
	if i := slices.Index(data.ChainNames, name); i >= 0 {
		name = n.Rules.BlockchainID(txs.Chain(i)).String()
	}
	for _, b := range all {
		if b.shown.BlockchainID == name || id.EVM != 0 && b.shown.EVMChainID == id.EVM {
			genesis, err := a.genesis(r, n, b)
			return BlockchainDetail{b.shown, genesis}, err
		}
	}
	return nil, rest.NotFound("blockchain %s does not exist on %s", id, n.Name)
}

// genesis returns a blockchain's genesis, or nil for the P-Chain, since the live service shows none.
func (a *subnetAPI) genesis(r *rest.Request, n *sim.Network, b *blockchainEntry) (any, error) {
	id, err := parse.ID(b.shown.BlockchainID)
	if err != nil || id == ids.Empty {
		return nil, err
	}
	if c := a.World.ChainByBlockchainID(id); c != nil {
		return genesisData(c.Row.Genesis), nil
	}
	var raw []byte
	if id == n.Rules.XChainID {
		raw, err = n.XChainGenesis(r.Context())
	} else {
		raw, err = createdWith(r, n, id)
	}
	if err != nil || json.Valid(raw) {
		return genesisData(raw), err
	}
	return EncodedGenesis{formatting.Hex.String(), hexutil.Encode(raw)}, nil
}

// createdWith returns the genesis in the transaction that created a blockchain.
func createdWith(r *rest.Request, n *sim.Network, id ids.ID) ([]byte, error) {
	row, err := n.DB.PrimaryTxByHash(r.Context(), n.Chain(txs.PChain), id[:])
	if err != nil {
		return nil, err
	}
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	u, ok := tx.Unsigned.(*txs.CreateChainTx)
	if !ok {
		return nil, store.ErrNotFound
	}
	return u.GenesisData, nil
}
