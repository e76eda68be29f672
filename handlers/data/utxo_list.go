package data

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
)

type utxos struct {
	NextPageToken string      `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	UTXOs         []anyOutput `json:"utxos"`
	ChainInfo     ChainInfo   `json:"chainInfo"`
}

// addressesBody names more addresses than a query can.
type addressesBody struct {
	Addresses string `json:"addresses" doc:"P-, X- or C-Chain addresses, separated by commas, with their chain's prefix or without; at most 1,024."`
}

// Canonical is the addresses without the chains' prefixes, each once, in order.
func (b *addressesBody) Canonical() any {
	given, problems := handlers.ReadList[handlers.PrimaryAddress](ownersInBody, b.Addresses)
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

// ownersParam names whose outputs a query is about; ownersInBody reads the same from a body.
var (
	ownersParam = handlers.Param{Name: "addresses", Kind: handlers.KindPrimary, List: true, MaxItems: mostAddresses, Required: true,
		Doc: "P-, X- or C-Chain addresses, with their chain's prefix or without: the chain of the path counts. One that is given twice counts once, one of the other network is refused."}
	ownersInBody = handlers.Param{Name: "addresses", Kind: handlers.KindPrimary, MaxItems: 1024}
)

func (a *primaryAPI) utxoOperations() []handlers.Operation {
	filters := with(
		handlers.Param{Name: "assetId", Kind: handlers.KindID, Doc: "Only outputs of this asset."},
		handlers.Param{Name: "minUtxoAmount", Kind: handlers.KindAmount, Min: "0", Doc: "Only outputs with this amount or more."},
		handlers.Param{Name: "includeSpent", Kind: handlers.KindBoolean, Default: "false", Doc: "Also outputs that were spent."},
		handlers.Param{Name: "sortBy", Kind: handlers.KindEnum, Enum: []string{"timestamp", "amount"}, Default: "timestamp",
			Doc: "timestamp is when the output was made. Ties go by amount, time and place."},
		sortOrderParam)
	const summary = "List outputs that addresses own on a chain: those that it made, and on the C-Chain those that were exported to it. " +
		"What is staked is none until it is returned"
	answer := reflect.TypeFor[utxos]()
	return []handlers.Operation{
		{ID: "listUtxos", Path: primaryBlocksPath + "/utxos", Summary: summary,
			Params: with(pathNetworkParam, primaryParam, ownersParam, handlers.Paging(10, 100), filters), Answer: answer, Handle: a.onPrimary(a.listUTXOs)},
		{ID: "listUtxosByBody", Method: http.MethodPost, Path: primaryBlocksPath + "/utxos", Summary: "The same for more addresses",
			Params: with(pathNetworkParam, primaryParam, handlers.Paging(10, 1024), filters), Body: reflect.TypeFor[addressesBody](),
			Answer: answer, Handle: a.onPrimary(a.listUTXOs)},
	}
}

// owners are the addresses of a query or a body, each once, sorted.
func owners(r *handlers.Request, l *sim.Ledger) ([]ids.ShortID, error) {
	given := handlers.List[handlers.PrimaryAddress](r, "addresses")
	if r.HTTP.Method == http.MethodPost {
		var problems []string
		given, problems = handlers.ReadList[handlers.PrimaryAddress](ownersInBody, handlers.Body[addressesBody](r).Addresses)
		if len(problems) > 0 {
			return nil, handlers.BadRequest(problems...)
		}
	}
	all, err := addressesIn(given, l, "addresses")
	slices.SortFunc(all, func(a, b ids.ShortID) int { return bytes.Compare(a[:], b[:]) })
	return all, err
}

func (a *primaryAPI) listUTXOs(r *handlers.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Ledger)
	if err != nil {
		return nil, err
	}
	b := a.view(r, c.Ledger)
	p, err := b.utxoSet(c.kind, addresses, r.Bool("includeSpent"))
	if err != nil {
		return nil, err
	}
	asset, least := handlers.Value[ids.ID](r, "assetId"), r.Amount("minUtxoAmount")
	if least != nil && !least.IsUint64() { // no output holds so much
		return &jsonPage{name: "utxos", more: c.more()}, nil
	}
	found, next := pageOf(r, p.keyset(b.chainReader, c.kind, r.Text("sortBy")), func(o *utxoEntry) bool {
		return (!r.Given("assetId") || o.asset == asset) && (least == nil || uint64(o.Amount) >= least.Uint64())
	})
	page := &jsonPage{next: next, name: "utxos", items: make([]rawJSON, len(found)), more: c.more()}
	for i, o := range found {
		if page.items[i], err = b.text(c.kind, o.ID, o.Spent == nil); err != nil {
			return nil, err
		}
	}
	return page, nil
}
