package primary

import (
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Interaction names the primary chains on which an address appeared in a transaction or the genesis. On the C-Chain only atomic
// transactions count.
type Interaction struct {
	Address       string   `json:"address"`
	BlockchainIDs []string `json:"blockchainIds" format:"cb58"`
}

type interactions struct {
	Addresses []Interaction `json:"addresses" doc:"Unused addresses have no chains; the upstream dialect omits them."`
}

func (a *primaryAPI) interactionOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "listChainIds", Path: "/v1/networks/{network}/addresses:listChainIds", Spec: "Primary network",
		Summary: "List the primary chains on which a transaction or the genesis used addresses",
		Params: data.JoinParams(data.PathNetworkParam, rest.Param{Name: "addresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: 64, Required: true,
			Doc: "X- or P-Chain addresses, with or without their chain's prefix. Duplicates count once; addresses of the other network are an error."}),
		Answer: reflect.TypeFor[interactions](), Handle: a.OnNetwork(a.listInteractions),
	}}
}

func (a *primaryAPI) listInteractions(r *rest.Request, n *sim.Network) (any, error) {
	for _, p := range rest.List[schema.PrimaryAddress](r, "addresses") {
		if p.Chain == txs.CChain.String() {
			return nil, rest.BadRequest("addresses " + p.String() + " is not allowed: expected a P- or X-Chain address in bech32")
		}
	}
	addresses, err := data.AddressesOf(r, n, "addresses")
	if err != nil {
		return nil, err
	}
	answer, b := interactions{Addresses: []Interaction{}}, a.view(r, n)
	for _, address := range addresses {
		found := Interaction{Address: n.Rules.Bech32(address), BlockchainIDs: []string{}}
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			used, err := b.used(kind, address)
			if err != nil {
				return nil, err
			}
			if used {
				found.BlockchainIDs = append(found.BlockchainIDs, n.Rules.BlockchainID(kind).String())
			}
		}
		if len(found.BlockchainIDs) > 0 || r.Dialect() == schema.Spec {
			answer.Addresses = append(answer.Addresses, found)
		}
	}
	return answer, nil
}

// used reports whether a chain's transactions or genesis involve an address.
func (b *chainView) used(kind txs.Chain, address ids.ShortID) (bool, error) {
	chain := b.Chain(kind)
	transactions, err := b.DB.ActivityOf(b.Ctx, chain, address[:], store.Last(chain), 1)
	if err != nil || len(transactions) > 0 {
		return err == nil, err
	}
	genesisUTXO, err := b.GenesisUTXO(kind, []ids.ShortID{address})
	return genesisUTXO != nil, err
}
