package data

import (
	"reflect"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// TransactionDetails is a transaction with the part that an address took in it.
type TransactionDetails struct {
	NativeTransaction    NativeTransaction        `json:"nativeTransaction"`
	Erc20Transfers       []Erc20TransferDetails   `json:"erc20Transfers,omitempty"`
	Erc721Transfers      []Erc721TransferDetails  `json:"erc721Transfers,omitempty"`
	Erc1155Transfers     []Erc1155TransferDetails `json:"erc1155Transfers,omitempty"`
	InternalTransactions []InternalDetails        `json:"internalTransactions,omitempty"`
}

type transactionDetails struct {
	NextPageToken string               `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []TransactionDetails `json:"transactions"`
}

func (a *chainAPI) historyOperations() []handlers.Operation {
	return []handlers.Operation{{
		ID: "listAddressTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions",
		Summary: "List the transactions in which an address took any part, with that part",
		Params: with(chainParam, addressParam, rangeParams, handlers.Paging(10, 100),
			handlers.Param{Name: "sortOrder", Kind: handlers.KindEnum, Enum: []string{"asc", "desc"}, Default: "desc", Doc: "By time; desc is newest first."}),
		Answer: reflect.TypeFor[transactionDetails](), Handle: a.onChain(a.listAddressTransactions),
	}}
}

// listAddressTransactions reads the transactions of the page, and then all transfers and all calls in them.
func (a *chainAPI) listAddressTransactions(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	part := interval(r, c)
	rows, err := a.world.DB.WholeHistory(r.Context(), part)
	if err != nil {
		return nil, err
	}
	rows, next := cut(r, rows, func(t *store.TransactionView) []byte { return within(t.ID) })
	if len(rows) == 0 {
		return transactionDetails{Transactions: []TransactionDetails{}}, nil
	}
	transfers, err := a.world.DB.HistoryTransfers(r.Context(), part)
	if err != nil {
		return nil, err
	}
	calls, err := a.world.DB.HistoryCalls(r.Context(), part)
	if err != nil {
		return nil, err
	}
	answer := transactionDetails{NextPageToken: next, Transactions: make([]TransactionDetails, len(rows))}
	for i := range rows {
		d := &answer.Transactions[i]
		facts, err := a.blocks.cachedTransaction(c, &rows[i])
		if err != nil {
			return nil, err
		}
		d.NativeTransaction = s.nativeTransaction(facts)
		var moved []store.TransferView
		var called []store.Call
		moved, transfers = take(transfers, func(v *store.TransferView) bool { return v.Transaction() == rows[i].ID })
		called, calls = take(calls, func(v *store.Call) bool { return v.ID.Block()+store.Position(v.Tx) == rows[i].ID })
		d.Erc20Transfers, d.Erc721Transfers, d.Erc1155Transfers = s.details(moved)
		d.InternalTransactions = s.internals(called)
	}
	return answer, nil
}

// interval is the part of the address's history that a page may show.
func interval(r *handlers.Request, c *evm.Chain) store.Interval {
	address := r.Address("address")
	i := store.Interval{Address: address[:], Limit: r.PageSize() + 1, Ascending: r.Text("sortOrder") == "asc"}
	n, resumed := r.PositionNumber()
	i.High, i.Low = bounds(r, c)
	switch at := store.First(c.Row.ID) + store.Position(n); {
	case resumed && i.Ascending:
		i.Low = max(i.Low, at+1)
	case resumed:
		i.High = min(i.High, at-1)
	}
	return i
}

// take splits off the rows at the beginning that belong to one transaction.
func take[T any](rows []T, belongs func(*T) bool) (own, rest []T) {
	n := 0
	for n < len(rows) && belongs(&rows[n]) {
		n++
	}
	return rows[:n], rows[n:]
}
