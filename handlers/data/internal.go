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

func (a *api) internalOperations() []handlers.Operation {
	return []handlers.Operation{{
		ID: "listInternalTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listInternals", Spec: "Transactions",
		Summary: "List the internal transactions from or to an address: calls with value, and creations",
		Params:  with(chainParam, addressParam, rangeParams, handlers.Paging(10, 100)),
		Answer:  reflect.TypeFor[internalTransactions](), Handle: a.onChain(a.listInternals),
	}}
}

func (a *api) listInternals(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.scene(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	address := r.Address("address")
	high, low := span(r, c)
	rows, err := a.world.DB.InternalHistory(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	rows, next := cut(r, rows, func(v *store.CallView) []byte { return within(v.ID) })
	answer := internalTransactions{NextPageToken: next, Transactions: make([]InternalTransaction, len(rows))}
	for i := range rows {
		place, err := a.location(c, rows[i].ID, &rows[i].Place)
		if err != nil {
			return nil, err
		}
		answer.Transactions[i] = InternalTransaction{place, s.internal(&rows[i].Call)}
	}
	return answer, nil
}

func (a *api) location(c *evm.Chain, at store.Position, p *store.Place) (Location, error) {
	f, err := a.facts(at, c.Kind, p.Hash, p.Header)
	if err != nil {
		return Location{}, err
	}
	return Location{BlockNumber: f.number, BlockTimestamp: f.time, BlockTimestampMilliseconds: f.millis, BlockHash: f.hash, TxHash: hash(p.TxHash)}, nil
}

func (s *scene) internals(calls []store.Call) []InternalDetails {
	return list(calls, s.internal)
}

func (s *scene) internal(c *store.Call) InternalDetails {
	return InternalDetails{
		From: s.rich(c.Sender), To: s.rich(c.Recipient), InternalTxType: c.Type, Value: amount(c.Value), IsReverted: c.Reverted,
		GasUsed: strconv.FormatUint(c.GasUsed, 10), GasLimit: strconv.FormatUint(c.Gas, 10),
	}
}
