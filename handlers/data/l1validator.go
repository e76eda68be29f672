package data

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// L1Validator is a validator of an L1.
type L1Validator struct {
	ValidationID          string       `json:"validationId" format:"cb58"`
	ValidationIDHex       string       `json:"validationIdHex" format:"hash"`
	NodeID                string       `json:"nodeId" format:"nodeId"`
	SubnetID              string       `json:"subnetId" format:"cb58"`
	Weight                uint64       `json:"weight" doc:"0 once it is removed."`
	RemainingBalance      uint64       `json:"remainingBalance" doc:"nAVAX by the world's clock; 0 while it is inactive."`
	CreationTimestamp     int64        `json:"creationTimestamp"`
	BlsCredentials        BlsKey       `json:"blsCredentials"`
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
	BlockHeight   string        `json:"blockHeight" format:"uint" doc:"Of the last block of the P-Chain."`
}

func (a *stakingAPI) l1ValidatorOperations() []handlers.Operation {
	return []handlers.Operation{{
		ID: "listL1Validators", Path: "/v1/networks/{network}/l1Validators", Summary: "List L1 validators, the newest first", Spec: "Primary network",
		Params: with(pathNetworkParam, handlers.Paging(10, 100),
			handlers.Param{Name: "l1ValidationId", Kind: handlers.KindHexID, Doc: "Only this validation, by its id in cb58 or hexadecimal."},
			handlers.Param{Name: "includeInactiveL1Validators", Kind: handlers.KindBoolean, Default: "false",
				Doc: "Also those without a balance, disabled ones and removed ones."},
			handlers.Param{Name: "nodeId", Kind: handlers.KindNodeID, Doc: "Only validators on this node."}, subnetParam),
		Answer: reflect.TypeFor[l1Validators](), Handle: a.onNetwork(a.listL1Validators),
	}}
}

func (a *stakingAPI) listL1Validators(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.stakers.of(r.Context(), l)
	if err != nil {
		return nil, err
	}
	validation, node := handlers.Value[ids.ID](r, "l1ValidationId"), handlers.Value[ids.NodeID](r, "nodeId")
	subnets, inactive := handlers.List[ids.ID](r, "subnetId"), r.Bool("includeInactiveL1Validators")
	passes := func(v *l1Entry) bool {
		return (inactive || all.l1Balance(v.L1) > 0) && (!r.Given("l1ValidationId") || bytes.Equal(v.Validation, validation[:])) &&
			(!r.Given("nodeId") || bytes.Equal(v.Node, node[:])) && (len(subnets) == 0 || slices.Contains(subnets, ids.ID(v.Subnet)))
	}
	found, next := pageOf(r, newKeyset(all.l1, func(v *l1Entry) uint64 { return cursorOfUTXO(v.ID) }), passes)
	page := &jsonPage{next: next, name: "validators", items: make([]rawJSON, len(found)), more: map[string]any{"blockHeight": decimals(all.head.ID.Number())}}
	texts := a.json(l, all)
	for i, v := range found {
		if page.items[i], err = texts.l1Validators[v.number].once(func() any { return showL1Validator(l.Rules, v.L1, all.l1Balance(v.L1)) }); err != nil {
			return nil, err
		}
	}
	return page, nil
}

func showL1Validator(rules *primary.Network, v *store.L1, balance uint64) L1Validator {
	return L1Validator{
		ValidationID: cb58(v.Validation), ValidationIDHex: hash(v.Validation), NodeID: ids.NodeID(v.Node).String(), SubnetID: cb58(v.Subnet),
		Weight: uint64(v.Weight), RemainingBalance: balance, CreationTimestamp: v.Start, BlsCredentials: BlsKey{PublicKey: hexutil.Encode(v.BLS)},
		RemainingBalanceOwner: balanceOwner(rules, v.BalanceOwner), DeactivationOwner: balanceOwner(rules, v.DeactivationOwner),
	}
}

func balanceOwner(rules *primary.Network, raw []byte) BalanceOwner {
	o := store.ParseOwners(raw)
	return BalanceOwner{bech32s(rules, o.Addresses), o.Threshold}
}
