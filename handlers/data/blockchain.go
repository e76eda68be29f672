package data

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	CreateBlockTimestamp int64  `json:"createBlockTimestamp"`
	CreateBlockNumber    string `json:"createBlockNumber" doc:"Height on the P-Chain; -1 for the chains of the genesis."`
	BlockchainID         string `json:"blockchainId" format:"cb58"`
	VMID                 string `json:"vmId"`
	SubnetID             string `json:"subnetId" format:"cb58"`
	BlockchainName       string `json:"blockchainName"`
	EVMChainID           uint64 `json:"evmChainId,omitempty" doc:"Of chains that run the EVM."`
}

type blockchains struct {
	NextPageToken string       `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Blockchains   []Blockchain `json:"blockchains"`
}

// blockchainEntry is a blockchain with where it began.
type blockchainEntry struct {
	place uint64 // its transaction's; lower for the chains of the genesis
	shown Blockchain
}

func blockchainCursor(b *blockchainEntry) uint64 { return b.place }

func (a *subnetAPI) blockchainOperations() []handlers.Operation {
	known := append([]string{ids.Empty.String()}, chainNames...)
	one := handlers.Param{Name: "blockchainId", Kind: handlers.KindChain, Enum: known, Doc: "A blockchain id, an EVM chain id, or an alias."}
	return []handlers.Operation{
		{ID: "listBlockchains", Path: "/v1/networks/{network}/blockchains", Summary: "List blockchains",
			Params: with(pathNetworkParam, handlers.Paging(100, 10000), sortOrderParam), Answer: reflect.TypeFor[blockchains](),
			Handle: a.onNetwork(a.listBlockchains)},
		{ID: "getBlockchain", Path: "/v1/networks/{network}/blockchains/{blockchainId}", Summary: "Get a blockchain",
			Params: with(pathNetworkParam, one), Answer: reflect.TypeFor[Blockchain](), Handle: a.onNetwork(a.getBlockchain)},
	}
}

// blockchains are those of a network, newest first, the primary network's last.
func (a *subnetAPI) blockchains(r *handlers.Request, l *sim.Ledger) ([]*blockchainEntry, error) {
	chain := l.Chain(primary.PChain)
	rows, err := l.DB.Blockchains(r.Context(), chain)
	if err != nil {
		return nil, err
	}
	start, err := l.DB.PrimaryTime(r.Context(), store.First(chain))
	if err != nil {
		return nil, err
	}
	all := genesisBlockchains(l, start)
	for i := range rows {
		shown, err := a.blockchain(r, l, &rows[i])
		if err != nil {
			return nil, err
		}
		all = append(all, &blockchainEntry{cursorOfTx(rows[i].ID), shown})
	}
	slices.Reverse(all)
	return all, nil
}

// genesisBlockchains are the chains that the primary network began with. P and X go by the names of their machines.
func genesisBlockchains(l *sim.Ledger, start int64) []*blockchainEntry {
	primaries := []Blockchain{
		{BlockchainID: ids.Empty.String(), VMID: "platformvm", BlockchainName: "P-Chain"},
		{BlockchainID: l.Rules.XChainID.String(), VMID: "avm", BlockchainName: "X-Chain"},
		{BlockchainID: l.Rules.CChainID.String(), VMID: fixtures.EVMID.String(), BlockchainName: "C-Chain"},
	}
	var all []*blockchainEntry
	for i, c := range primaries {
		c.CreateBlockTimestamp, c.CreateBlockNumber, c.SubnetID = start, "-1", ids.Empty.String()
		if n, err := fixtures.NetworkNamed(l.Network); err == nil && n.CChainID.String() == c.BlockchainID {
			c.EVMChainID = n.CChainEVMID
		}
		all = append(all, &blockchainEntry{uint64(i), c})
	}
	return all
}

func (a *subnetAPI) blockchain(r *handlers.Request, l *sim.Ledger, row *store.Blockchain) (Blockchain, error) {
	time, err := l.DB.PrimaryTime(r.Context(), row.ID.Block())
	shown := Blockchain{CreateBlockTimestamp: time, CreateBlockNumber: decimals(row.ID.Number()), BlockchainID: cb58(row.Hash),
		VMID: cb58(row.VM), SubnetID: cb58(row.Subnet), BlockchainName: row.Name}
	for _, c := range a.world.Chains {
		if string(c.Row.BlockchainID) == string(row.Hash) {
			shown.EVMChainID = c.Row.EVMID
		}
	}
	return shown, err
}

func (a *subnetAPI) listBlockchains(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.blockchains(r, l)
	if err != nil {
		return nil, err
	}
	page, next := pageOf(r, newKeyset(all, blockchainCursor), func(*blockchainEntry) bool { return true })
	return blockchains{next, list(page, func(b **blockchainEntry) Blockchain { return (*b).shown })}, nil
}

func (a *subnetAPI) getBlockchain(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.blockchains(r, l)
	if err != nil {
		return nil, err
	}
	id := r.Chain("blockchainId")
	name := id.String()
	if i := slices.Index(chainNames, name); i >= 0 {
		name = l.Rules.BlockchainID(primary.Chain(i)).String()
	}
	for _, b := range all {
		if b.shown.BlockchainID == name || id.EVM != 0 && b.shown.EVMChainID == id.EVM {
			return b.shown, nil
		}
	}
	return nil, handlers.NotFound("blockchain %s does not exist on %s", id, l.Network)
}
