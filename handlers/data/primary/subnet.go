package primary

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Subnet is a validator set with the chains it validates.
type Subnet struct {
	CreateBlockTimestamp        int64               `json:"createBlockTimestamp"`
	CreateBlockIndex            string              `json:"createBlockIndex" doc:"Height on the P-Chain; -1 for the primary network."`
	SubnetID                    string              `json:"subnetId" format:"cb58"`
	OwnerAddresses              []string            `json:"ownerAddresses" deprecated:"true" doc:"As in subnetOwnershipInfo."`
	Threshold                   uint32              `json:"threshold" deprecated:"true" doc:"As in subnetOwnershipInfo."`
	Locktime                    uint64              `json:"locktime" deprecated:"true" doc:"As in subnetOwnershipInfo."`
	SubnetOwnershipInfo         SubnetOwnershipInfo `json:"subnetOwnershipInfo"`
	IsL1                        bool                `json:"isL1"`
	L1ConversionTransactionHash string              `json:"l1ConversionTransactionHash,omitempty" format:"cb58"`
	L1ValidatorManagerDetails   *L1Manager          `json:"l1ValidatorManagerDetails,omitempty"`
	Blockchains                 []Blockchain        `json:"blockchains"`
}

// SubnetOwnershipInfo names the owners of a subnet.
type SubnetOwnershipInfo struct {
	Locktime  uint64   `json:"locktime"`
	Threshold uint32   `json:"threshold"`
	Addresses []string `json:"addresses"`
}

// L1Manager is the contract that manages an L1's validators.
type L1Manager struct {
	BlockchainID    string `json:"blockchainId" format:"cb58"`
	ContractAddress string `json:"contractAddress" format:"address"`
}

type subnets struct {
	NextPageToken string   `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Subnets       []Subnet `json:"subnets"`
}

func (a *subnetAPI) subnetOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listSubnets", Path: "/v1/networks/{network}/subnets", Summary: "List subnets, including the primary network",
			Params: data.JoinParams(data.PathNetworkParam, rest.Paging(100, 10000), data.SortOrderParam), Answer: reflect.TypeFor[subnets](), Handle: a.OnNetwork(a.listSubnets)},
		{ID: "getSubnet", Path: "/v1/networks/{network}/subnets/{subnetId}", Summary: "Get a subnet",
			Params: data.JoinParams(data.PathNetworkParam, rest.Param{Name: "subnetId", Kind: schema.KindID}), Answer: reflect.TypeFor[Subnet](), Handle: a.OnNetwork(a.getSubnet)},
	}
}

// subnetRows returns a network's subnets, newest first, with the primary network as one without a transaction.
func subnetRows(r *rest.Request, n *sim.Network) ([]*store.SubnetView, error) {
	rows, err := n.DB.Subnets(r.Context(), n.Chain(txs.PChain))
	all := []*store.SubnetView{{Subnet: store.Subnet{Hash: make([]byte, ids.IDLen)}}}
	for i := range rows {
		all = append(all, &rows[i])
	}
	slices.Reverse(all)
	return all, err
}

func subnetCursor(s *store.SubnetView) uint64 { return query.CursorOfTx(s.ID) }

func (a *subnetAPI) listSubnets(r *rest.Request, n *sim.Network) (any, error) {
	rows, err := subnetRows(r, n)
	if err != nil {
		return nil, err
	}
	chains, err := a.blockchains(r, n)
	if err != nil {
		return nil, err
	}
	found, next := data.PageOf(r, query.NewKeyset(rows, subnetCursor), func(*store.SubnetView) bool { return true })
	shown, err := data.TryList(found, func(s *store.SubnetView) (Subnet, error) { return showSubnet(r, n, s, chains) })
	return subnets{next, shown}, err
}

func (a *subnetAPI) getSubnet(r *rest.Request, n *sim.Network) (any, error) {
	id := rest.Value[ids.ID](r, "subnetId")
	rows, err := subnetRows(r, n)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(s *store.SubnetView) bool { return ids.ID(s.Hash) == id })
	if i < 0 {
		return nil, rest.NotFound("subnet %s does not exist on %s", id, n.Name)
	}
	chains, err := a.blockchains(r, n)
	if err != nil {
		return nil, err
	}
	return showSubnet(r, n, rows[i], chains)
}

func showSubnet(r *rest.Request, n *sim.Network, s *store.SubnetView, chains []*blockchainEntry) (Subnet, error) {
	owner := store.ParseOutputOwners(s.State.Owner)
	info := SubnetOwnershipInfo{owner.Locktime, owner.Threshold, data.Bech32s(n.Rules, owner.Addresses)}
	shown := Subnet{
		CreateBlockIndex: data.Decimals(s.ID.Number()), SubnetID: data.CB58(s.Hash), OwnerAddresses: info.Addresses, Threshold: info.Threshold,
		Locktime: info.Locktime, SubnetOwnershipInfo: info, IsL1: s.State.Conversion != nil, Blockchains: []Blockchain{},
	}
	for _, c := range chains {
		if c.shown.SubnetID == shown.SubnetID {
			shown.Blockchains = append(shown.Blockchains, c.shown)
		}
	}
	if s.ID == 0 {
		shown.CreateBlockTimestamp, shown.CreateBlockIndex = fixtures.PrimaryNetworkTime, "-1"
		return shown, nil
	}
	var err error
	if shown.CreateBlockTimestamp, err = n.DB.PrimaryTime(r.Context(), s.ID.Block()); err != nil || !shown.IsL1 {
		return shown, err
	}
	shown.L1ValidatorManagerDetails = &L1Manager{data.CB58(s.State.ManagerChain), common.BytesToAddress(s.State.ManagerAddress).Hex()}
	shown.L1ConversionTransactionHash, err = conversion(r, n, s)
	return shown, err
}

// conversion returns the transaction that made a subnet an L1, from the first block in which it was one.
func conversion(r *rest.Request, n *sim.Network, s *store.SubnetView) (string, error) {
	history, err := n.DB.SubnetHistory(r.Context(), s.ID)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(history, func(state store.SubnetState) bool { return state.Conversion != nil })
	if i < 0 {
		return "", nil
	}
	transactions, err := n.DB.PrimaryTxs(r.Context(), store.At(n.Chain(txs.PChain), history[i].Height, 0))
	for _, row := range transactions {
		tx, problem := txs.ParseTx(txs.PChain, row.Bytes)
		if problem != nil {
			return "", problem
		}
		if u, ok := tx.Unsigned.(*txs.ConvertSubnetToL1Tx); ok && u.SubnetID == ids.ID(s.Hash) {
			return data.CB58(row.Hash), nil
		}
	}
	return "", err
}
