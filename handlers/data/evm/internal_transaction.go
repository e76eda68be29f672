package evm

import (
	"reflect"
	"strconv"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// InternalDetails is a call inside a transaction that moved value or created a contract.
type InternalDetails struct {
	From           RichAddress `json:"from"`
	To             RichAddress `json:"to"`
	InternalTxType string      `json:"internalTxType" enum:"UNKNOWN,CALL,CREATE,CREATE2,CREATE3,CALLCODE,DELEGATECALL,STATICCALL"`
	Value          string      `json:"value" format:"uint"`
	IsReverted     bool        `json:"isReverted" doc:"Whether this call, or a call around it, was reverted."`
	GasUsed        string      `json:"gasUsed" format:"uint"`
	GasLimit       string      `json:"gasLimit" format:"uint"`
}

// Location names the chain, block and transaction of an event.
type Location struct {
	BlockNumber                string `json:"blockNumber" format:"uint"`
	BlockTimestamp             int64  `json:"blockTimestamp"`
	BlockTimestampMilliseconds uint64 `json:"blockTimestampMilliseconds"`
	BlockHash                  string `json:"blockHash" format:"hash"`
	TxHash                     string `json:"txHash" format:"hash"`
}

// InternalTransaction is an internal transaction in a list.
type InternalTransaction struct {
	Location
	InternalDetails
}

type internalTransactions struct {
	NextPageToken string                `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []InternalTransaction `json:"transactions"`
}

func (a *chainAPI) internalOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "listInternalTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listInternals", Spec: "Transactions",
		Summary: "List the internal transactions from or to an address: calls with value, and creations",
		Params:  data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100)),
		Answer:  reflect.TypeFor[internalTransactions](), Handle: a.onView(a.listInternals),
	}}
}

func (a *chainAPI) listInternals(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	address := r.Address("address")
	high, low := data.Span(r, c)
	at, err := a.World.DB.InternalHistoryIDs(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	rows, err := data.Cached(at, a.calls, func(high, low store.Position, limit int) ([]store.CallView, error) {
		return a.World.DB.InternalHistory(r.Context(), address[:], high, low, limit)
	}, func(v *store.CallView) (store.Position, *callFacts, error) {
		place, err := a.blocks.location(c, v.ID, &v.Inclusion)
		return v.ID, &callFacts{place: place, shown: internalDetails(&v.Call), from: hexAddressOf(v.Sender), to: hexAddressOf(v.Recipient)}, err
	})
	return internalTransactions{next, data.List(rows, func(f **callFacts) InternalTransaction {
		return InternalTransaction{(*f).place, s.internal(*f)}
	})}, err
}

// callFacts is a decoded call without the parts that depend on the request.
type callFacts struct {
	place    Location
	shown    InternalDetails
	from, to hexAddress
}

func (s *tokenView) internals(calls []store.Call) []InternalDetails {
	return data.List(calls, func(c *store.Call) InternalDetails {
		return s.internal(&callFacts{shown: internalDetails(c), from: hexAddressOf(c.Sender), to: hexAddressOf(c.Recipient)})
	})
}

func (s *tokenView) internal(f *callFacts) InternalDetails {
	shown := f.shown
	shown.From, shown.To = s.known(f.from), s.known(f.to)
	return shown
}

func internalDetails(c *store.Call) InternalDetails {
	return InternalDetails{
		InternalTxType: c.Type, Value: data.Amount(c.Value), IsReverted: c.Reverted,
		GasUsed: strconv.FormatUint(c.GasUsed, 10), GasLimit: strconv.FormatUint(c.Gas, 10),
	}
}
