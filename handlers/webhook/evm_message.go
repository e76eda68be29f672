package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/data"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
)

// AddressEvent is the event of an EVM transaction.
type AddressEvent struct {
	Transaction EVMTransaction `json:"transaction"`
	Logs        []EVMLog       `json:"logs,omitempty"`
}

// EVMTransaction is a transaction in the form of webhooks.
type EVMTransaction struct {
	BlockHash                string       `json:"blockHash"`
	BlockNumber              string       `json:"blockNumber"`
	From                     string       `json:"from"`
	Gas                      string       `json:"gas"`
	GasPrice                 string       `json:"gasPrice"`
	MaxFeePerGas             string       `json:"maxFeePerGas"`
	MaxPriorityFeePerGas     string       `json:"maxPriorityFeePerGas"`
	TxHash                   string       `json:"txHash"`
	TxStatus                 string       `json:"txStatus"`
	Input                    string       `json:"input"`
	Nonce                    string       `json:"nonce"`
	To                       string       `json:"to"`
	TransactionIndex         int          `json:"transactionIndex"`
	Value                    string       `json:"value"`
	Type                     uint8        `json:"type"`
	ChainID                  string       `json:"chainId"`
	ReceiptCumulativeGasUsed string       `json:"receiptCumulativeGasUsed"`
	ReceiptGasUsed           string       `json:"receiptGasUsed"`
	ReceiptEffectiveGasPrice string       `json:"receiptEffectiveGasPrice"`
	ReceiptRoot              string       `json:"receiptRoot"`
	ContractAddress          string       `json:"contractAddress,omitempty"`
	BlockTimestamp           int64        `json:"blockTimestamp"`
	ERC20Transfers           []Transfer   `json:"erc20Transfers"`
	ERC721Transfers          []Transfer   `json:"erc721Transfers"`
	ERC1155Transfers         []Transfer   `json:"erc1155Transfers"`
	InternalTransactions     []Internal   `json:"internalTransactions,omitempty"`
	AccessList               []AccessList `json:"accessList,omitempty"`
	NetworkToken             NetworkToken `json:"networkToken"`
}

// Transfer is a transfer of a token.
type Transfer struct {
	TransactionHash string `json:"transactionHash"`
	Type            string `json:"type"`
	From            string `json:"from"`
	To              string `json:"to"`
	Value           string `json:"value"`
	TokenID         string `json:"tokenId,omitempty"`
	BlockTimestamp  int64  `json:"blockTimestamp"`
	LogIndex        int    `json:"logIndex"`
	ERC20Token      *Token `json:"erc20Token,omitempty"`
	ERC721Token     *Token `json:"erc721Token,omitempty"`
	ERC1155Token    *Token `json:"erc1155Token,omitempty"`
}

// Token is the token of a transfer.
type Token struct {
	Address           string `json:"address"`
	Name              string `json:"name"`
	Symbol            string `json:"symbol"`
	Decimals          int    `json:"decimals"`
	ValueWithDecimals string `json:"valueWithDecimals"`
}

// Internal is a call within a transaction; the first is the transaction's own.
type Internal struct {
	From            string `json:"from"`
	To              string `json:"to"`
	InternalTxType  string `json:"internalTxType"`
	Value           string `json:"value"`
	GasUsed         string `json:"gasUsed"`
	GasLimit        string `json:"gasLimit"`
	TransactionHash string `json:"transactionHash"`
}

// AccessList is an entry of a transaction's access list.
type AccessList struct {
	AccessAddresses string   `json:"accessAddresses"`
	StorageKeys     []string `json:"storageKeys"`
}

// NetworkToken is the amount of the chain's own token that a transaction moved.
type NetworkToken struct {
	TokenName         string `json:"tokenName"`
	TokenSymbol       string `json:"tokenSymbol"`
	TokenDecimals     int    `json:"tokenDecimals"`
	ValueWithDecimals string `json:"valueWithDecimals"`
}

// EVMLog is a log. Like the live service, it has null for missing topics.
type EVMLog struct {
	Address          string  `json:"address"`
	Topic0           *string `json:"topic0"`
	Topic1           *string `json:"topic1"`
	Topic2           *string `json:"topic2"`
	Topic3           *string `json:"topic3"`
	Data             string  `json:"data"`
	TransactionIndex int     `json:"transactionIndex"`
	LogIndex         uint    `json:"logIndex"`
	Removed          bool    `json:"removed"`
}

const nativeDecimals = 18

// addressActivity builds the event of a transaction.
func (m *writer) addressActivity(ctx context.Context, w *outbox.Webhook, v *outbox.Message) (*AddressEvent, error) {
	chain := m.world.ChainAt(v.Tx)
	if chain == nil {
		return nil, store.Damaged(fmt.Errorf("webhook_message: there is no chain %d", v.Tx))
	}
	row, err := m.world.DB.Transaction(ctx, v.Tx)
	if err != nil {
		return nil, err
	}
	t, err := chain.Receipt(ctx, common.BytesToHash(row.Hash))
	if err != nil {
		return nil, err
	}
	event := &AddressEvent{Transaction: evmTransaction(chain, t)}
	if err := m.addTransfers(ctx, &event.Transaction, t); err != nil {
		return nil, err
	}
	if w.Internal && chain.Kind == evm.KindC {
		if event.Transaction.InternalTransactions, err = internals(ctx, chain, t); err != nil {
			return nil, err
		}
	}
	if w.Logs {
		for _, log := range t.Logs {
			event.Logs = append(event.Logs, evmLog(log))
		}
	}
	return event, nil
}

func evmTransaction(c *reader.Chain, t *reader.Transaction) EVMTransaction {
	// The live service shows the fee cap as the price, and an older transaction's price as both caps: for types 0 and 1 they are the same.
	shown := EVMTransaction{
		BlockHash: t.Block.Hash.Hex(), BlockNumber: data.Decimals(t.Block.Number), From: t.Sender.Hex(), Gas: data.Decimals(t.Gas()),
		GasPrice: t.GasFeeCap().String(), MaxFeePerGas: t.GasFeeCap().String(), MaxPriorityFeePerGas: t.GasTipCap().String(),
		TxHash: t.Hash().Hex(), TxStatus: data.Decimals(t.Row.Status), Input: hexutil.Encode(t.Data()), Nonce: data.Decimals(t.Nonce()),
		TransactionIndex: t.Index(), Value: t.Value().String(), Type: t.Type(), ChainID: data.Decimals(c.Row.EVMID),
		ReceiptCumulativeGasUsed: data.Decimals(t.Row.GasTotal), ReceiptGasUsed: data.Decimals(t.Row.GasUsed), ReceiptEffectiveGasPrice: t.Price().String(),
		ReceiptRoot: t.Block.Results.ReceiptHash.Hex(), BlockTimestamp: t.Block.Row.Time,
		ERC20Transfers: []Transfer{}, ERC721Transfers: []Transfer{}, ERC1155Transfers: []Transfer{},
		NetworkToken: NetworkToken{c.Row.TokenName, c.Row.TokenSymbol, nativeDecimals, price.Decimal(t.Value(), nativeDecimals)},
	}
	to := t.To()
	if to == nil {
		created := common.BytesToAddress(t.Row.Created)
		to, shown.ContractAddress = &created, created.Hex()
	}
	shown.To = strings.ToLower(to.Hex())
	for _, entry := range t.AccessList() {
		shown.AccessList = append(shown.AccessList, accessList(entry))
	}
	return shown
}

func accessList(entry types.AccessTuple) AccessList {
	shown := AccessList{entry.Address.Hex(), []string{}}
	for _, key := range entry.StorageKeys {
		shown.StorageKeys = append(shown.StorageKeys, key.Hex())
	}
	return shown
}

// addTransfers adds the transfers that the index found in a transaction's logs. Their indices count within the transaction.
func (m *writer) addTransfers(ctx context.Context, shown *EVMTransaction, t *reader.Transaction) error {
	if len(t.Logs) == 0 {
		return nil
	}
	rows, err := m.world.DB.TransfersOfTransaction(ctx, t.Row.ID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(x, y store.TransferView) int { return x.Log - y.Log })
	for i := range rows {
		row := &rows[i]
		token, err := m.world.DB.Token(ctx, row.Asset.Token())
		if err != nil {
			return err
		}
		amount := new(big.Int).SetBytes(row.Amount)
		moved := Transfer{
			TransactionHash: t.Hash().Hex(), From: common.BytesToAddress(row.Sender).Hex(), To: common.BytesToAddress(row.Recipient).Hex(),
			Value: amount.String(), BlockTimestamp: t.Block.Row.Time, LogIndex: row.Log - int(t.Logs[0].Index),
		}
		of := &Token{common.BytesToAddress(token.Address).Hex(), token.Name, token.Symbol, token.Decimals, price.Decimal(amount, token.Decimals)}
		switch row.Standard {
		case store.ERC20:
			moved.Type, moved.ERC20Token = "ERC20", of
			shown.ERC20Transfers = append(shown.ERC20Transfers, moved)
		case store.ERC721:
			moved.Type, moved.ERC721Token, moved.TokenID = "ERC721", of, new(big.Int).SetBytes(row.Asset.Item()).String()
			shown.ERC721Transfers = append(shown.ERC721Transfers, moved)
		default:
			moved.Type, moved.ERC1155Token, moved.TokenID = "ERC1155", of, new(big.Int).SetBytes(row.Asset.Item()).String()
			shown.ERC1155Transfers = append(shown.ERC1155Transfers, moved)
		}
	}
	return nil
}

// frame is a call in the tracer's result.
type frame struct {
	Type    string         `json:"type"`
	From    common.Address `json:"from"`
	To      common.Address `json:"to"`
	Value   *hexutil.Big   `json:"value"`
	Gas     hexutil.Uint64 `json:"gas"`
	GasUsed hexutil.Uint64 `json:"gasUsed"`
	Calls   []frame        `json:"calls"`
}

// internals returns a transaction's calls in the order in which they began, its own first.
func internals(ctx context.Context, c *reader.Chain, t *reader.Transaction) ([]Internal, error) {
	trace, err := c.TraceTransaction(ctx, t, &reader.TraceConfig{Tracer: new("callTracer")})
	if err != nil {
		return nil, err
	}
	var top frame
	if err := json.Unmarshal(trace.JSON(), &top); err != nil {
		return nil, err
	}
	return top.append(nil, t.Hash().Hex()), nil
}

func (f *frame) append(all []Internal, hash string) []Internal {
	value := new(big.Int)
	if f.Value != nil {
		value = f.Value.ToInt()
	}
	all = append(all, Internal{f.From.Hex(), f.To.Hex(), f.Type, value.String(), data.Decimals(uint64(f.GasUsed)), data.Decimals(uint64(f.Gas)), hash})
	for i := range f.Calls {
		all = f.Calls[i].append(all, hash)
	}
	return all
}

func evmLog(log *types.Log) EVMLog {
	shown := EVMLog{Address: log.Address.Hex(), Data: hexutil.Encode(log.Data), TransactionIndex: int(log.TxIndex), LogIndex: log.Index}
	topics := []**string{&shown.Topic0, &shown.Topic1, &shown.Topic2, &shown.Topic3}
	for i, topic := range log.Topics {
		text := topic.Hex()
		*topics[i] = &text
	}
	return shown
}
