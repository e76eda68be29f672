package primary

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
)

type utxos struct {
	NextPageToken string      `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	UTXOs         []anyOutput `json:"utxos"`
	ChainInfo     ChainInfo   `json:"chainInfo"`
}

// addressesBody names more addresses than a query can hold.
type addressesBody struct {
	Addresses string `json:"addresses" doc:"P-, X- or C-Chain addresses, separated by commas, with or without their chain's prefix; at most 1,024."`
}

// Canonical returns the addresses without chain prefixes, sorted, without duplicates.
func (b *addressesBody) Canonical() any {
	given, problems := rest.ReadList[schema.PrimaryAddress](ownersInBody, b.Addresses)
	if len(problems) > 0 {
		return b
	}
	var texts []string
	for _, address := range given {
		texts = append(texts, fmt.Sprint(address.Canonical()))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// ownersParam names the owners of a query's outputs; ownersInBody reads them from a body.
var (
	ownersParam = rest.Param{Name: "addresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: mostAddresses, Required: true,
		Doc: "P-, X- or C-Chain addresses, with or without their chain's prefix; only the chain in the path matters. Duplicates count once; addresses of the other network are an error."}
	ownersInBody = rest.Param{Name: "addresses", Kind: schema.KindPrimaryAddress, MaxItems: 1024}
)

func (a *primaryAPI) utxoOperations() []rest.Operation {
	filters := data.JoinParams(
		rest.Param{Name: "assetId", Kind: schema.KindID, Doc: "Only outputs of this asset."},
		rest.Param{Name: "minUtxoAmount", Kind: schema.KindAmount, Min: "0", Doc: "Only outputs of at least this amount."},
		rest.Param{Name: "includeSpent", Kind: schema.KindBoolean, Default: "false", Doc: "Include spent outputs."},
		rest.Param{Name: "sortBy", Kind: schema.KindEnum, Enum: []string{"timestamp", "amount"}, Default: "timestamp",
			Doc: "timestamp is when a transaction created the output. Ties go by utxoId, in the same direction."},
		data.SortOrderParam)
	const summary = "List the outputs of addresses on a chain, including outputs that it created for another chain or can import. Both chains list outputs between " +
		"them; the P-Chain also lists staked outputs, with staked true"
	answer := reflect.TypeFor[utxos]()
	return []rest.Operation{
		{ID: "listUtxos", Path: primaryBlocksPath + "/utxos", Summary: summary,
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, ownersParam, rest.Paging(10, 100), filters), Answer: answer, Handle: a.onPrimary(a.listUTXOs)},
		{ID: "listUtxosByBody", Method: http.MethodPost, Path: primaryBlocksPath + "/utxos", Summary: "The same for more addresses",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, rest.Paging(10, 1024), filters), Body: reflect.TypeFor[addressesBody](),
			Answer: answer, Handle: a.onPrimary(a.listUTXOs)},
	}
}

// owners returns the addresses of a query or a body, sorted, without duplicates.
func owners(r *rest.Request, n *sim.Network) ([]ids.ShortID, error) {
	given := rest.List[schema.PrimaryAddress](r, "addresses")
	if r.HTTP.Method == http.MethodPost {
		var problems []string
		given, problems = rest.ReadList[schema.PrimaryAddress](ownersInBody, rest.Body[addressesBody](r).Addresses)
		if len(problems) > 0 {
			return nil, rest.BadRequest(problems...)
		}
	}
	all, err := data.AddressesIn(given, n, "addresses")
	slices.SortFunc(all, func(a, b ids.ShortID) int { return bytes.Compare(a[:], b[:]) })
	return all, err
}

func (a *primaryAPI) listUTXOs(r *rest.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Network)
	if err != nil {
		return nil, err
	}
	b := a.view(r, c.Network)
	p, err := b.UTXOSet(c.kind, addresses, r.Bool("includeSpent"))
	if err != nil {
		return nil, err
	}
	asset, least := rest.Value[ids.ID](r, "assetId"), r.Amount("minUtxoAmount")
	if least != nil && !least.IsUint64() { // no output holds that much
		return &data.JSONPage{Name: "utxos", More: c.more()}, nil
	}
	found, next := data.PageOf(r, p.Keyset(b.ChainReader, r.Text("sortBy")), func(o *query.UTXOEntry) bool {
		return (!r.Given("assetId") || o.Asset == asset) && (least == nil || o.Held >= least.Uint64())
	})
	shown, err := data.TryList(found, func(o *query.UTXOEntry) (data.RawJSON, error) { return b.text(c.kind, o.ID, o.Spent == nil) })
	return &data.JSONPage{Next: next, Name: "utxos", Items: shown, More: c.more()}, err
}
