package evm

import (
	"reflect"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
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

func (a *chainAPI) historyOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "listAddressTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions",
		Summary: "List the transactions in which an address took any part, with that part",
		Params: data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100),
			rest.Param{Name: "sortOrder", Kind: schema.KindEnum, Enum: []string{"asc", "desc"}, Default: "desc", Doc: "By time; desc is newest first."}),
		Answer: reflect.TypeFor[transactionDetails](), Handle: a.OnChain(a.listAddressTransactions),
	}}
}

// listAddressTransactions reads the transactions of the page, and then all transfers and all calls in them.
func (a *chainAPI) listAddressTransactions(r *rest.Request, c *reader.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	part := interval(r, c)
	rows, err := a.World.DB.WholeHistory(r.Context(), part)
	if err != nil {
		return nil, err
	}
	rows, next := data.CutPage(r, rows, func(t *store.TransactionView) []byte { return data.Within(t.ID) })
	if len(rows) == 0 {
		return transactionDetails{Transactions: []TransactionDetails{}}, nil
	}
	transfers, err := a.World.DB.HistoryTransfers(r.Context(), part)
	if err != nil {
		return nil, err
	}
	calls, err := a.World.DB.HistoryCalls(r.Context(), part)
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
func interval(r *rest.Request, c *reader.Chain) store.AddressHistory {
	address := r.Address("address")
	i := store.AddressHistory{Address: address[:], Limit: r.PageSize() + 1, Ascending: r.Text("sortOrder") == "asc"}
	n, resumed := r.PositionNumber()
	i.High, i.Low = data.Bounds(r, c)
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
