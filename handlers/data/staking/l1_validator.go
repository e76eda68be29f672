package staking

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// L1Validator is a validator of an L1.
type L1Validator struct {
	ValidationID          string       `json:"validationId" format:"cb58"`
	ValidationIDHex       string       `json:"validationIdHex" format:"hash"`
	NodeID                string       `json:"nodeId" format:"nodeId"`
	SubnetID              string       `json:"subnetId" format:"cb58"`
	Weight                uint64       `json:"weight" doc:"0 once the validator is removed."`
	RemainingBalance      uint64       `json:"remainingBalance" doc:"nAVAX at the time of the world's clock; 0 while the validator is inactive."`
	CreationTimestamp     int64        `json:"creationTimestamp"`
	BlsCredentials        data.BlsKey  `json:"blsCredentials"`
	RemainingBalanceOwner BalanceOwner `json:"remainingBalanceOwner"`
	DeactivationOwner     BalanceOwner `json:"deactivationOwner"`
}

// BalanceOwner is a control group.
type BalanceOwner struct {
	Addresses []string `json:"addresses"`
	Threshold uint32   `json:"threshold"`
}

type l1Validators struct {
	NextPageToken string        `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Validators    []L1Validator `json:"validators"`
	BlockHeight   string        `json:"blockHeight" format:"uint" doc:"Height of the P-Chain's last block."`
}

func (a *stakingAPI) l1ValidatorOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "listL1Validators", Path: "/v1/networks/{network}/l1Validators", Summary: "List L1 validators, the newest first", Spec: "Primary network",
		Params: data.JoinParams(data.PathNetworkParam, rest.Paging(10, 100),
			rest.Param{Name: "l1ValidationId", Kind: schema.KindIDOrHex, Doc: "Only this validation, by its id in cb58 or hexadecimal."},
			rest.Param{Name: "includeInactiveL1Validators", Kind: schema.KindBoolean, Default: "false",
				Doc: "Include validators that are disabled, removed or without a balance."},
			rest.Param{Name: "nodeId", Kind: schema.KindNodeID, Doc: "Only validators on this node."}, subnetParam),
		Answer: reflect.TypeFor[l1Validators](), Handle: a.OnNetwork(a.listL1Validators),
	}}
}

func (a *stakingAPI) listL1Validators(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, err
	}
	validation, node := rest.Value[ids.ID](r, "l1ValidationId"), rest.Value[ids.NodeID](r, "nodeId")
	subnets, inactive := rest.List[ids.ID](r, "subnetId"), r.Bool("includeInactiveL1Validators")
	passes := func(v *store.L1ValidatorView) bool {
		return (inactive || all.L1Balance(v) > 0) && (!r.Given("l1ValidationId") || bytes.Equal(v.Validation, validation[:])) &&
			(!r.Given("nodeId") || bytes.Equal(v.Node, node[:])) && (len(subnets) == 0 || slices.Contains(subnets, ids.ID(v.Subnet)))
	}
	found, next := data.PageOf(r, query.NewKeyset(all.L1, func(v *store.L1ValidatorView) uint64 { return query.CursorOfUTXO(v.ID) }), passes)
	shown := data.List(found, func(v **store.L1ValidatorView) L1Validator {
		return showL1Validator(n.Rules, *v, all.L1Balance(*v))
	})
	return l1Validators{next, shown, data.Decimals(all.Head.ID.Number())}, nil
}

func showL1Validator(networkRules *rules.Network, v *store.L1ValidatorView, balance uint64) L1Validator {
	return L1Validator{
		ValidationID: data.CB58(v.Validation), ValidationIDHex: data.Hash(v.Validation), NodeID: ids.NodeID(v.Node).String(), SubnetID: data.CB58(v.Subnet),
		Weight: uint64(v.Weight), RemainingBalance: balance, CreationTimestamp: v.Start, BlsCredentials: data.BlsKey{PublicKey: hexutil.Encode(v.BLS)},
		RemainingBalanceOwner: balanceOwner(networkRules, v.BalanceOwner), DeactivationOwner: balanceOwner(networkRules, v.DeactivationOwner),
	}
}

func balanceOwner(networkRules *rules.Network, raw []byte) BalanceOwner {
	o := store.ParseOutputOwners(raw)
	return BalanceOwner{data.Bech32s(networkRules, o.Addresses), o.Threshold}
}
