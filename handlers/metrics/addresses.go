package metrics

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// AddressDetails is an address with the value it is sorted by.
type AddressDetails struct {
	Address string `json:"address" format:"address"`
	SortKey string `json:"sortKey" format:"uint"`
}

// Bridgers lists the addresses that bridged more than a threshold.
type Bridgers struct {
	NextPageToken string           `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Addresses     []AddressDetails `json:"addresses"`
}

// PChainAddressDetails lists one validator's addresses with the value they are sorted by.
type PChainAddressDetails struct {
	Addresses []string `json:"addresses" doc:"The owners of its rewards; for an L1 validator, of its remaining balance."`
	SortKey   string   `json:"sortKey" format:"uint" doc:"When it began to validate, Unix seconds."`
}

// ValidatorAddresses lists the addresses of a subnet's validators.
type ValidatorAddresses struct {
	NextPageToken string                 `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Addresses     []PChainAddressDetails `json:"addresses"`
}

// bridgedBTC is BTC.b's contract on the C-Chain.
var bridgedBTC = common.HexToAddress("0x152b9d0FdC40C096757F570A51E494bd4b943E50")

func (a *api) addressOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listBTCbBridgers", Method: http.MethodGet, Path: "/v2/chains/43114/btcb/bridged:getAddresses",
			Summary: "List the addresses that received bridged BTC.b, by net amount",
			Params: append([]rest.Param{{Name: "threshold", Kind: schema.KindAmount, Min: "0", Required: true, Doc: "The minimum amount, in the smallest unit."}},
				rest.Paging(1000, 5000)...),
			Answer: reflect.TypeFor[Bridgers](), Handle: a.bridgers},
		{ID: "listSubnetValidatorAddresses", Path: "/v2/subnets/{subnetId}/validators:getAddresses",
			Summary: "List the addresses of a subnet's validators in a period, the latest first",
			Params: append([]rest.Param{{Name: "subnetId", Kind: schema.KindID}, timeRange[0], timeRange[1],
				{Name: "network", Kind: schema.KindNetwork, Doc: "The subnet's network; both networks have a primary network."}}, rest.Paging(1000, 5000)...),
			AllNetworks: true, Answer: reflect.TypeFor[ValidatorAddresses](), Handle: a.validatorAddresses},
	}
}

func (a *api) bridgers(r *rest.Request) (any, error) {
	c := a.world.ChainNamed(strconv.FormatUint(fixtures.Networks[0].CChainEVMID, 10))
	answer := Bridgers{Addresses: []AddressDetails{}}
	token, err := a.world.DB.TokenAt(r.Context(), c.Row.ID, bridgedBTC[:])
	if errors.Is(err, store.ErrNotFound) {
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	minted, err := query.NetMinted(r.Context(), a.world.DB, token)
	if err != nil {
		return nil, err
	}
	type bridger struct {
		address common.Address
		amount  *uint256.Int
	}
	var all []bridger
	least, over := uint256.FromBig(r.Amount("threshold"))
	for address, amount := range minted {
		if amount.Sign() > 0 && !over && !amount.Lt(least) {
			all = append(all, bridger{address, amount})
		}
	}
	slices.SortFunc(all, func(a, b bridger) int { return cmp.Or(b.amount.Cmp(a.amount), a.address.Cmp(b.address)) })
	from, _ := r.PositionNumber()
	page, next := pageOf(r, all, int(from), r.PageSize())
	for _, b := range page {
		answer.Addresses = append(answer.Addresses, AddressDetails{b.address.Hex(), b.amount.Dec()})
	}
	answer.NextPageToken = next
	return answer, nil
}

func (a *api) validatorAddresses(r *rest.Request) (any, error) {
	subnet := rest.Value[ids.ID](r, "subnetId")
	n := a.world.NetworkNamed(fixtures.MainnetName)
	if r.Given("network") {
		n = a.world.NetworkNamed(r.Text("network"))
	} else if there, err := n.HasSubnet(r.Context(), subnet); err != nil {
		return nil, err
	} else if !there {
		n = a.world.NetworkNamed(fixtures.FujiName)
	}
	if there, err := n.HasSubnet(r.Context(), subnet); err != nil || !there {
		return nil, missing(err, "subnet %s does not exist on %s", subnet, n.Name)
	}
	all, err := stays(r, n, subnet)
	if err != nil {
		return nil, err
	}
	from, _ := r.PositionNumber()
	page, next := pageOf(r, all, int(from), r.PageSize())
	answer := ValidatorAddresses{next, []PChainAddressDetails{}}
	for _, s := range page {
		shown := PChainAddressDetails{[]string{}, strconv.FormatInt(s.start, 10)}
		for _, owner := range store.ParseOutputOwners(s.owner).Addresses {
			shown.Addresses = append(shown.Addresses, n.Rules.Bech32(ids.ShortID(owner)))
		}
		answer.Addresses = append(answer.Addresses, shown)
	}
	return answer, nil
}

// stay is a validator's period in a subnet.
type stay struct {
	start, end int64
	id, owner  []byte
}

// stays returns a subnet's periods that overlap the request's time range, the latest first.
func stays(r *rest.Request, n *sim.Network, subnet ids.ID) (all []stay, err error) {
	add := func(s stay) {
		if s.end > r.Int("startTimestamp") && s.start < end(r) {
			all = append(all, s)
		}
	}
	stakers, err := n.DB.StakersOfSubnet(r.Context(), n.Chain(txs.PChain), subnet[:])
	if err != nil {
		return nil, err
	}
	for i := range stakers {
		if s := &stakers[i]; !s.Delegator {
			add(stay{s.Start, s.End, s.Tx, s.Owner})
		}
	}
	height, err := n.PHeight(r.Context())
	if err != nil {
		return nil, err
	}
	l1, err := n.DB.L1ValidatorsOfSubnet(r.Context(), subnet[:], height)
	for i := range l1 {
		if l1[i].ID.Chain() == n.Chain(txs.PChain) {
			add(stay{l1[i].Start, math.MaxInt64, l1[i].Validation, l1[i].BalanceOwner})
		}
	}
	slices.SortFunc(all, func(a, b stay) int { return cmp.Or(cmp.Compare(b.start, a.start), slices.Compare(b.id, a.id)) })
	return all, err
}
