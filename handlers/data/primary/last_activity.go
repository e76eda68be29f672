package primary

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// LastActivity is the newest transaction that created or spent an output of some addresses, or the genesis. If a transaction did both, the
// last output it created identifies it.
type LastActivity struct {
	Timestamp   int64  `json:"timestamp"`
	BlockNumber string `json:"blockNumber" format:"uint"`
	TxHash      string `json:"txHash" format:"cb58" doc:"For outputs of the genesis, which no transaction created: the id that they name as their transaction."`
	UTXOID      string `json:"utxoId" format:"cb58"`
	IsConsumed  bool   `json:"isConsumed" doc:"Whether the transaction spent the output."`
	ChainName   string `json:"chainName" enum:"p-chain,x-chain,c-chain"`
	Network     string `json:"network" enum:"mainnet,fuji"`
}

func (a *primaryAPI) lastActivityOperations() []rest.Operation {
	const path, summary = primaryBlocksPath + "/lastActivityTimestampByAddresses", "Find when a chain last created or spent outputs of addresses"
	answer := reflect.TypeFor[LastActivity]()
	return []rest.Operation{
		{ID: "getLastActivity", Path: path, Summary: summary, Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, ownersParam),
			Answer: answer, Handle: a.onPrimary(a.getLastActivity)},
		{ID: "getLastActivityByBody", Method: http.MethodPost, Path: path, Summary: "The same for more addresses",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam), Body: reflect.TypeFor[addressesBody](), Answer: answer, Handle: a.onPrimary(a.getLastActivity)},
	}
}

// activitiesAtOnce is the batch size: the first transaction is usually enough.
const activitiesAtOnce = 8

func (a *primaryAPI) getLastActivity(r *rest.Request, c *primaryChain) (any, error) {
	addresses, err := owners(r, c.Network)
	if err != nil {
		return nil, err
	}
	b := a.view(r, c.Network)
	f := store.TxRange{High: store.Last(c.number()), Low: store.First(c.number()), Limit: activitiesAtOnce}
	for {
		found, err := c.DB.ActivityIDs(r.Context(), query.Subjects(addresses), f)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			if shown, err := b.activity(c, at, addresses); shown != nil || err != nil {
				return shown, err
			}
			f.High = at - 1
		}
		if len(found) < f.Limit {
			return b.beginning(c, addresses)
		}
	}
}

// activity returns a transaction's effect on the outputs of some addresses, or nil if it had none.
func (b *chainView) activity(c *primaryChain, at store.Position, addresses []ids.ShortID) (*LastActivity, error) {
	t, err := b.TxUTXOs(c.kind, at)
	if err != nil {
		return nil, err
	}
	for _, spent := range []bool{false, true} {
		outputs := t.EmittedUTXOs
		if spent {
			outputs = t.ConsumedUTXOs
		}
		for _, o := range slices.Backward(outputs) {
			if slices.ContainsFunc(o.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(addresses, a) }) {
				return &LastActivity{t.Block.Unix, data.Decimals(at.Number()), data.CB58(t.Row.Hash), o.ID.String(), spent, data.ChainNames[c.kind], c.Name}, nil
			}
		}
	}
	return nil, nil
}

// beginning returns the genesis as the last activity of addresses that no transaction has used.
func (b *chainView) beginning(c *primaryChain, addresses []ids.ShortID) (*LastActivity, error) {
	u, err := b.GenesisUTXO(c.kind, addresses)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, rest.NotFound("neither a transaction nor the genesis of the %s of %s involves the addresses", data.ChainNames[c.kind], c.Name)
	}
	o, err := b.Output(u)
	if err != nil {
		return nil, err
	}
	return &LastActivity{o.Made.Unix, data.Decimals(o.Height), o.TxID.String(), o.ID.String(), false, data.ChainNames[c.kind], c.Name}, nil
}
