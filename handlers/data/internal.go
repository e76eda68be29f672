package data

import (
	"reflect"
	"strconv"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// InternalDetails is a call inside a transaction that moved value, or that created a contract.
type InternalDetails struct {
	From           RichAddress `json:"from"`
	To             RichAddress `json:"to"`
	InternalTxType string      `json:"internalTxType" enum:"UNKNOWN,CALL,CREATE,CREATE2,CREATE3,CALLCODE,DELEGATECALL,STATICCALL"`
	Value          string      `json:"value" format:"uint"`
	IsReverted     bool        `json:"isReverted" doc:"Whether this call, or one around it, was undone."`
	GasUsed        string      `json:"gasUsed" format:"uint"`
	GasLimit       string      `json:"gasLimit" format:"uint"`
}

// Location says where something happened.
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

func (a *chainAPI) internalOperations() []handlers.Operation {
	return []handlers.Operation{{
		ID: "listInternalTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listInternals", Spec: "Transactions",
		Summary: "List the internal transactions from or to an address: calls with value, and creations",
		Params:  with(chainParam, addressParam, rangeParams, handlers.Paging(10, 100)),
		Answer:  reflect.TypeFor[internalTransactions](), Handle: a.onChain(a.listInternals),
	}}
}

func (a *chainAPI) listInternals(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	address := r.Address("address")
	high, low := span(r, c)
	at, err := a.world.DB.InternalHistoryIDs(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := cut(r, at, position)
	rows, err := cached(at, a.calls, func(high, low store.Position, limit int) ([]store.CallView, error) {
		return a.world.DB.InternalHistory(r.Context(), address[:], high, low, limit)
	}, func(v *store.CallView) (store.Position, *callFacts, error) {
		place, err := a.blocks.location(c, v.ID, &v.Place)
		return v.ID, &callFacts{place: place, shown: internalDetails(&v.Call), from: hexAddressOf(v.Sender), to: hexAddressOf(v.Recipient)}, err
	})
	if err != nil {
		return nil, err
	}
	return internalTransactions{next, list(rows, func(f **callFacts) InternalTransaction {
		return InternalTransaction{(*f).place, s.internal(*f)}
	})}, nil
}

// callFacts is a decoded call, without what depends on the request.
type callFacts struct {
	place    Location
	shown    InternalDetails
	from, to hexAddress
}

func (s *tokenView) internals(calls []store.Call) []InternalDetails {
	return list(calls, func(c *store.Call) InternalDetails {
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
		InternalTxType: c.Type, Value: amount(c.Value), IsReverted: c.Reverted,
		GasUsed: strconv.FormatUint(c.GasUsed, 10), GasLimit: strconv.FormatUint(c.Gas, 10),
	}
}
