package evm

import (
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TransactionDetails is a transaction and the transfers that involve one address.
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

// TransactionDetailsV2 adds the tokens' reputation to TransactionDetails.
type TransactionDetailsV2 struct {
	TransactionDetails
	Erc20Transfers []Erc20TransferDetailsV2 `json:"erc20Transfers,omitempty"`
}

// Erc20TransferDetailsV2 is an ERC-20 transfer with the token's reputation.
type Erc20TransferDetailsV2 struct {
	Erc20TransferDetails
	Erc20Token Erc20TokenV2 `json:"erc20Token"`
}

// Erc20TokenV2 is a transferred ERC-20 with its reputation.
type Erc20TokenV2 struct {
	Erc20Token
	TokenReputation *string `json:"tokenReputation" enum:"Malicious,Benign" doc:"Only the C-Chain has Benign tokens; null when nothing is known."`
}

type transactionDetailsV2 struct {
	NextPageToken string                 `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []TransactionDetailsV2 `json:"transactions"`
}

func (a *chainAPI) historyOperations() []rest.Operation {
	params := data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100),
		rest.Param{Name: "sortOrder", Kind: schema.KindEnum, Enum: []string{"asc", "desc"}, Default: "desc", Doc: "Order by time; desc lists the newest first."})
	return []rest.Operation{
		{ID: "listAddressTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions",
			Summary: "List the transactions that involve an address, with its part in each",
			Params:  params, Answer: reflect.TypeFor[transactionDetails](), Handle: a.onView(a.listAddressTransactions)},
		{ID: "listTransactionsV2", Path: "/v2/chains/{chainId}/addresses/{address}/transactions",
			Summary: "List the transactions that involve an address, with its part in each and the tokens' reputation",
			Params: data.JoinParams(params, rest.Param{Name: "filterSpamTokens", Kind: schema.KindBoolean, Default: "true",
				Doc: "Leave out the transfers of malicious tokens, but not their transactions."}),
			Answer: reflect.TypeFor[transactionDetailsV2](), Handle: a.onView(a.listAddressTransactionsV2)},
	}
}

func (a *chainAPI) listAddressTransactions(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	next, page, err := a.addressTransactions(r, c, s)
	return transactionDetails{next, data.List(page, func(t *addressTransaction) TransactionDetails { return s.transactionDetails(t, t.transfers) })}, err
}

func (a *chainAPI) listAddressTransactionsV2(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	next, page, err := a.addressTransactions(r, c, s)
	return transactionDetailsV2{next, data.List(page, func(t *addressTransaction) TransactionDetailsV2 {
		shown := slices.DeleteFunc(slices.Clone(t.transfers), func(v store.TransferView) bool { return !s.shows(s.TokenOf(v.Asset), nil) })
		d := TransactionDetailsV2{TransactionDetails: s.transactionDetails(t, shown)}
		for _, transfer := range d.TransactionDetails.Erc20Transfers {
			token := s.At(c.Row.ID, common.HexToAddress(transfer.Erc20Token.Address))
			d.Erc20Transfers = append(d.Erc20Transfers, Erc20TransferDetailsV2{transfer, Erc20TokenV2{transfer.Erc20Token, reputation(c, token)}})
		}
		return d
	})}, err
}

// addressTransaction is a transaction with an address's transfers and calls in it.
type addressTransaction struct {
	native    NativeTransaction
	transfers []store.TransferView
	calls     []store.Call
}

func (s *tokenView) transactionDetails(t *addressTransaction, transfers []store.TransferView) TransactionDetails {
	d := TransactionDetails{NativeTransaction: t.native, InternalTransactions: s.internals(t.calls)}
	d.Erc20Transfers, d.Erc721Transfers, d.Erc1155Transfers = s.details(transfers)
	return d
}

// addressTransactions reads the page's transactions, then all their transfers and calls.
func (a *chainAPI) addressTransactions(r *rest.Request, c *reader.Chain, s *tokenView) (next string, page []addressTransaction, err error) {
	part := interval(r, c)
	rows, err := a.World.DB.WholeHistory(r.Context(), part)
	if err != nil {
		return "", nil, err
	}
	rows, next = data.CutPage(r, rows, func(t *store.TransactionView) []byte { return data.Within(t.ID) })
	if len(rows) == 0 {
		return next, nil, nil
	}
	transfers, err := a.World.DB.HistoryTransfers(r.Context(), part)
	if err != nil {
		return "", nil, err
	}
	calls, err := a.World.DB.HistoryCalls(r.Context(), part)
	if err != nil {
		return "", nil, err
	}
	page = make([]addressTransaction, len(rows))
	for i := range rows {
		facts, err := a.blocks.cachedTransaction(c, &rows[i])
		if err != nil {
			return "", nil, err
		}
		t := &page[i]
		t.native = s.nativeTransaction(facts)
		t.transfers, transfers = take(transfers, func(v *store.TransferView) bool { return v.Transaction() == rows[i].ID })
		t.calls, calls = take(calls, func(v *store.Call) bool { return v.ID.Block()+store.Position(v.Tx) == rows[i].ID })
	}
	return next, page, nil
}

// interval returns the part of the address's history that a page may cover.
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

// take splits off the leading rows that belong to one transaction.
func take[T any](rows []T, belongs func(*T) bool) (own, rest []T) {
	n := 0
	for n < len(rows) && belongs(&rows[n]) {
		n++
	}
	return rows[:n], rows[n:]
}
