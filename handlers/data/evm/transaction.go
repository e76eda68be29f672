package evm

import (
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// NativeTransaction is a transaction of an EVM chain.
type NativeTransaction struct {
	BlockNumber                string      `json:"blockNumber" format:"uint"`
	BlockTimestamp             int64       `json:"blockTimestamp"`
	BlockTimestampMilliseconds uint64      `json:"blockTimestampMilliseconds"`
	BlockMinDelayExcess        uint64      `json:"blockMinDelayExcess"`
	BlockHash                  string      `json:"blockHash" format:"hash"`
	ChainID                    string      `json:"chainId" format:"uint"`
	BlockIndex                 int         `json:"blockIndex"`
	TxHash                     string      `json:"txHash" format:"hash"`
	TxStatus                   string      `json:"txStatus" enum:"0,1" doc:"1 succeeded, 0 failed."`
	TxType                     uint8       `json:"txType"`
	GasLimit                   string      `json:"gasLimit" format:"uint"`
	GasUsed                    string      `json:"gasUsed" format:"uint"`
	GasPrice                   string      `json:"gasPrice" format:"uint"`
	Nonce                      string      `json:"nonce" format:"uint"`
	From                       RichAddress `json:"from"`
	To                         RichAddress `json:"to" doc:"For a creation, the created contract."`
	Method                     Method      `json:"method"`
	Value                      string      `json:"value" format:"uint"`
}

// Method is the contract function that a transaction calls.
type Method struct {
	CallType   string `json:"callType" enum:"NATIVE_TRANSFER,CONTRACT_CALL,CONTRACT_CREATION"`
	MethodHash string `json:"methodHash" doc:"The selector of a CONTRACT_CALL, otherwise empty."`
	MethodName string `json:"methodName,omitempty"`
}

// FullNativeTransaction is a transaction with its input and fees.
type FullNativeTransaction struct {
	NativeTransaction
	Input                string `json:"input" format:"hex"`
	BaseFeePerGas        string `json:"baseFeePerGas" format:"uint"`
	MaxFeePerGas         string `json:"maxFeePerGas,omitempty" format:"uint" doc:"For types 0 and 1, the gas price; in the upstream dialect, only for type 2."`
	MaxPriorityFeePerGas string `json:"maxPriorityFeePerGas,omitempty" format:"uint" doc:"For types 0 and 1, the gas price; in the upstream dialect, only for type 2."`
}

type transactions struct {
	NextPageToken string              `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []NativeTransaction `json:"transactions"`
}

func (a *chainAPI) transactionOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listTransactions", Path: "/v1/chains/{chainId}/transactions", Summary: "List the latest transactions of a chain", Spec: "Transactions",
			Params: data.JoinParams(data.ChainParam, data.StatusParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[transactions](), Handle: a.onView(a.listTransactions)},
		{ID: "getTransaction", Path: "/v1/chains/{chainId}/transactions/{txHash}", Summary: "Get a transaction with everything it did",
			Params: data.JoinParams(data.ChainParam, rest.Param{Name: "txHash", Kind: schema.KindHash}, data.CurrencyParam),
			Answer: reflect.TypeFor[TransactionAnswer](), Handle: a.OnChain(a.getTransaction)},
		{ID: "listNativeTransactions", Path: "/v1/chains/{chainId}/addresses/{address}/transactions:listNative", Spec: "Transactions",
			Summary: "List the transactions that an address sent or received", Params: data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100)),
			Answer: reflect.TypeFor[transactions](), Handle: a.onView(a.listNative)},
		{ID: "listBlockTransactions", Path: "/v1/chains/{chainId}/blocks/{blockId}/transactions", Summary: "List the transactions of a block",
			Params: data.JoinParams(data.ChainParam, rest.Param{Name: "blockId", Kind: schema.KindBlock}, rest.Paging(10, 100)[0],
				rest.Param{Name: "pageSize", Kind: schema.KindPageSize, Default: "0", Min: "0", Max: "100",
					Doc: "The maximum number of items on a page; 0 for the whole block."}),
			Answer: reflect.TypeFor[transactions](), Handle: a.onView(a.listBlockTransactions)},
		{ID: "listAllTransactions", Path: "/v1/transactions", Summary: "List the latest transactions of all chains",
			Params: data.JoinParams(data.NetworkParam, data.StatusParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[transactions](), Handle: a.listAllTransactions},
		{ID: "listAllLatestTransactions", Path: "/v1/chains/allTransactions", Summary: "The same, under its deprecated path", Deprecated: true,
			Params: data.JoinParams(data.NetworkParam, data.StatusParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[transactions](), Handle: a.listAllTransactions},
	}
}

// nativeTransaction returns a transaction in the shape of lists.
func (s *tokenView) nativeTransaction(f *nativeFacts) NativeTransaction {
	shown := f.shown
	shown.From, shown.To = s.known(f.from), s.known(f.to)
	return shown
}

// natives returns transactions in the shape of lists.
func (s *tokenView) natives(rows []*nativeFacts) []NativeTransaction {
	return data.List(rows, func(f **nativeFacts) NativeTransaction { return s.nativeTransaction(*f) })
}

func (a *chainAPI) listTransactions(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	high, low := data.Span(r, c)
	at, err := a.World.DB.HistoryIDs(r.Context(), outcome(r), high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	rows, err := a.blocks.transactionsAt(c, at, a.history(r))
	return transactions{next, s.natives(rows)}, err
}

// history reads the transactions with the outcome that the request filters by.
func (a *chainAPI) history(r *rest.Request) func(high, low store.Position, limit int) ([]store.TransactionView, error) {
	return func(high, low store.Position, limit int) ([]store.TransactionView, error) {
		return a.World.DB.History(r.Context(), outcome(r), high, low, limit)
	}
}

func outcome(r *rest.Request) store.Status {
	switch r.Text("status") {
	case "success":
		return store.Succeeded
	case "failed":
		return store.Failed
	}
	return store.AnyStatus
}

func (a *chainAPI) listNative(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	address := r.Address("address")
	high, low := data.Span(r, c)
	at, err := a.World.DB.NativeHistoryIDs(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	rows, err := a.blocks.transactionsAt(c, at, func(high, low store.Position, limit int) ([]store.TransactionView, error) {
		return a.World.DB.NativeHistory(r.Context(), address[:], high, low, limit)
	})
	return transactions{next, s.natives(rows)}, err
}

// listBlockTransactions lists the newest first, as all lists do, and the whole block if no page size is given.
func (a *chainAPI) listBlockTransactions(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	row, err := a.blockRow(r, c)
	if err != nil {
		return nil, err
	}
	high, _ := data.Span(r, c)
	limit := r.PageSize() + 1
	if r.PageSize() == 0 {
		limit = store.MaxIndex + 1
	}
	at, err := a.World.DB.HistoryIDs(r.Context(), store.AnyStatus, min(high, row.ID.End()), row.ID, limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if r.PageSize() > 0 {
		at, next = data.CutPage(r, at, data.Position)
	}
	rows, err := a.blocks.transactionsAt(c, at, a.history(r))
	return transactions{next, s.natives(rows)}, err
}

func (a *chainAPI) listAllTransactions(r *rest.Request) (any, error) {
	resumed, err := a.resumption(r)
	if err != nil {
		return nil, err
	}
	rows, from, next, err := merge(r, a.ChainsOf(r), func(c *reader.Chain, high, low store.Position, limit int) ([]*nativeFacts, error) {
		at, err := a.World.DB.HistoryIDs(r.Context(), outcome(r), high, low, limit)
		if err != nil {
			return nil, err
		}
		return a.blocks.transactionsAt(c, at, a.history(r))
	}, func(f **nativeFacts) (store.Position, int64) { return (*f).at, (*f).shown.BlockTimestamp }, resumed)
	if err != nil {
		return nil, err
	}
	s, err := a.view(r, 0)
	if err != nil {
		return nil, err
	}
	answer := transactions{NextPageToken: next, Transactions: make([]NativeTransaction, len(rows))}
	for i := range rows {
		s.Chain = from[i].Row.ID
		answer.Transactions[i] = s.nativeTransaction(rows[i])
	}
	return answer, nil
}

// TransactionAnswer is a transaction with its transfers, calls and messages.
type TransactionAnswer struct {
	Erc20Transfers       []Erc20TransferDetails   `json:"erc20Transfers"`
	Erc721Transfers      []Erc721TransferDetails  `json:"erc721Transfers"`
	Erc1155Transfers     []Erc1155TransferDetails `json:"erc1155Transfers"`
	InternalTransactions []InternalDetails        `json:"internalTransactions"`
	NetworkTokenDetails  NetworkTokenDetails      `json:"networkTokenDetails"`
	NativeTransaction    FullNativeTransaction    `json:"nativeTransaction"`

	TeleporterMessageInfo *TeleporterMessageInfo `json:"teleporterMessageInfo,omitempty" doc:"Only for a transaction that sent or delivered a cross-chain message."`
}

// NetworkTokenDetails holds the native token's price now and at the time of the transaction.
type NetworkTokenDetails struct {
	NetworkToken    NetworkToken `json:"networkToken"`
	CurrentPrice    *data.Price  `json:"currentPrice,omitempty"`
	HistoricalPrice *data.Price  `json:"historicalPrice,omitempty" doc:"The price in the transaction's hour, if that is more than a day ago."`
}

// wholeFacts is a transaction with its transfers and calls, without the parts that depend on the request.
type wholeFacts struct {
	native    *nativeFacts
	more      FullNativeTransaction // fields that only the response about one transaction shows
	time      int64
	transfers []store.TransferView
	changing  bool // whether transfers include NFTs, whose owners and metadata change
	calls     []store.Call
	message   *TeleporterMessageInfo
}

func (a *chainAPI) getTransaction(r *rest.Request, c *reader.Chain) (any, error) {
	id := r.Hash("txHash")
	if f, ok := a.whole.Get(txName{c.Row.ID, id}); ok && !f.changing {
		return a.transaction(r, c, f)
	}
	row, err := a.World.DB.TransactionViewByHash(r.Context(), c.Row.ID, id[:])
	if err != nil {
		return nil, data.OrNotFound(err, rest.NotFound("transaction %s does not exist on chain %d", id, c.Row.EVMID))
	}
	return a.transactionIn(r, c, row)
}

// maxWhole bounds the length of input and transfers of a cached transaction.
const maxWhole = 4096

// transactionIn responds with a transaction that was found.
func (a *chainAPI) transactionIn(r *rest.Request, c *reader.Chain, row *store.TransactionView) (any, error) {
	f, err := a.readWhole(r, c, row)
	if err != nil {
		return nil, err
	}
	if len(f.more.Input)+len(f.transfers) < maxWhole {
		a.whole.Add(txName{c.Row.ID, common.BytesToHash(row.Transaction.Hash)}, f)
	}
	return a.transaction(r, c, f)
}

// readWhole reads a transaction's transfers and calls. A plain transfer has none: it uses the least gas there is.
func (a *chainAPI) readWhole(r *rest.Request, c *reader.Chain, row *store.TransactionView) (*wholeFacts, error) {
	f := &wholeFacts{time: row.BlockTime}
	var err error
	if f.native, f.more, err = a.blocks.full(c, row); err != nil {
		return nil, err
	}
	if row.Logs > 0 {
		if f.transfers, err = a.World.DB.TransfersOfTransaction(r.Context(), row.ID); err != nil {
			return nil, err
		}
		if f.message, err = a.messageInfo(r, row.ID); err != nil {
			return nil, err
		}
		f.changing = slices.ContainsFunc(f.transfers, func(v store.TransferView) bool { return v.Standard != store.ERC20 })
	}
	if len(row.Recipient) == 0 || row.GasUsed > params.TxGas {
		f.calls, err = a.World.DB.InternalTransactions(r.Context(), row.ID)
	}
	return f, err
}

// transaction builds the full response about one transaction.
func (a *chainAPI) transaction(r *rest.Request, c *reader.Chain, f *wholeFacts) (any, error) {
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	answer := TransactionAnswer{NativeTransaction: f.more, InternalTransactions: s.internals(f.calls), TeleporterMessageInfo: f.message.in(r.Dialect())}
	answer.NativeTransaction.NativeTransaction = s.nativeTransaction(f.native)
	if price := answer.NativeTransaction.GasPrice; r.Dialect() == schema.Spec && f.more.MaxFeePerGas == "" {
		answer.NativeTransaction.MaxFeePerGas, answer.NativeTransaction.MaxPriorityFeePerGas = price, price
	}
	answer.Erc20Transfers, answer.Erc721Transfers, answer.Erc1155Transfers = s.details(f.transfers)
	series := s.Native[c.Row.ID]
	answer.NetworkTokenDetails = NetworkTokenDetails{NetworkToken: networkToken(r, c), CurrentPrice: s.CurrentPrice(series)}
	if f.time < a.World.Clock.Unix()-metric.SecondsPerDay {
		answer.NetworkTokenDetails.HistoricalPrice = s.Price(series, f.time)
	}
	return answer, nil
}
