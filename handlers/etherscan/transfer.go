package etherscan

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

var transferActions = map[string]action{
	"account.tokentx":     {handle: transfers(store.ERC20)},
	"account.tokennfttx":  {handle: transfers(store.ERC721)},
	"account.token1155tx": {handle: transfers(store.ERC1155)},
}

// transfer is a row of tokentx, tokennfttx or token1155tx.
type transfer struct {
	BlockNumber       string  `json:"blockNumber"`
	TimeStamp         string  `json:"timeStamp"`
	Hash              string  `json:"hash"`
	Nonce             string  `json:"nonce"`
	BlockHash         string  `json:"blockHash"`
	From              string  `json:"from"`
	ContractAddress   string  `json:"contractAddress"`
	To                string  `json:"to"`
	Value             string  `json:"value,omitempty"`      // of an ERC-20
	TokenID           string  `json:"tokenID,omitempty"`    // of the others
	TokenValue        string  `json:"tokenValue,omitempty"` // of an ERC-1155
	TokenName         string  `json:"tokenName"`
	TokenSymbol       string  `json:"tokenSymbol"`
	TokenDecimal      *string `json:"tokenDecimal,omitempty"` // of an ERC-20 or ERC-721
	TransactionIndex  string  `json:"transactionIndex"`
	Gas               string  `json:"gas"`
	GasPrice          string  `json:"gasPrice"`
	GasUsed           string  `json:"gasUsed"`
	CumulativeGasUsed string  `json:"cumulativeGasUsed"`
	Input             string  `json:"input"` // always "deprecated"
	MethodID          string  `json:"methodId"`
	FunctionName      string  `json:"functionName"`
	Confirmations     string  `json:"confirmations"`
}

// transfers lists the transfers of a standard: of an address, of a token, or of an address in a token.
func transfers(standard store.Standard) func(*request) (any, error) {
	return func(r *request) (any, error) {
		owner, err := r.owner("contractaddress")
		if err != nil {
			return nil, err
		}
		token := store.TokenID(0)
		if r.values.given("contractaddress") {
			t, err := r.token()
			if err != nil {
				return nil, err
			}
			if t == nil || t.ID.Standard() != standard {
				return nil, errNoTransactions
			}
			token = t.ID
		}
		at, err := r.list(func(i store.AddressHistory) ([]store.Position, error) {
			return r.db().HistoryTransferIDs(r.Context(), i, standard, token)
		}, owner)
		if err != nil {
			return nil, err
		}
		tokens := map[store.TokenID]*store.Token{}
		return r.inParts(at, errNoTransactions, func(part []store.Position, head uint64) ([]any, error) {
			return r.transfersAt(part, head, tokens)
		})
	}
}

// token reads the token at contractaddress, nil if there is none.
func (r *request) token() (*store.Token, error) {
	address, err := r.values.address("contractaddress")
	if err != nil {
		return nil, err
	}
	t, err := r.db().TokenAt(r.Context(), r.chain.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return t, err
}

func (r *request) transfersAt(at []store.Position, head uint64, tokens map[store.TokenID]*store.Token) ([]any, error) {
	found, err := r.db().TransferViewsAt(r.Context(), at)
	if err != nil {
		return nil, err
	}
	places := make([]store.Position, len(found))
	for i := range found {
		places[i] = found[i].Transaction()
	}
	within, err := r.db().TransactionsAt(r.Context(), places)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(found))
	for i := range found {
		id := found[i].Asset.Token()
		if tokens[id] == nil {
			if tokens[id], err = r.db().Token(r.Context(), id); err != nil {
				return nil, err
			}
		}
		if list[i], err = r.transfer(&found[i], &within[i], tokens[id], head); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *request) transfer(v *store.TransferView, in *store.TransactionView, token *store.Token, head uint64) (*transfer, error) {
	tx, paid, err := r.priced(in)
	if err != nil {
		return nil, err
	}
	t := &transfer{
		BlockNumber: decimal(v.ID.Number()), TimeStamp: strconv.FormatInt(in.BlockTime, 10), Hash: hexHash(in.Transaction.Hash), Nonce: decimal(tx.Nonce()),
		BlockHash: hexHash(in.BlockHash), From: hexAddress(v.Sender), ContractAddress: hexAddress(token.Address), To: hexAddress(v.Recipient),
		TokenName: token.Name, TokenSymbol: token.Symbol, TransactionIndex: strconv.Itoa(in.ID.Index()), Gas: decimal(tx.Gas()),
		GasPrice: paid.String(), GasUsed: decimal(in.GasUsed), CumulativeGasUsed: decimal(in.GasTotal), Input: "deprecated",
		Confirmations: confirmations(head, v.ID.Number()),
	}
	t.MethodID, t.FunctionName = method(tx)
	decimals := strconv.Itoa(token.Decimals)
	switch v.Standard {
	case store.ERC20:
		t.Value, t.TokenDecimal = wei(v.Amount), &decimals
	case store.ERC721:
		t.TokenID, t.TokenDecimal = wei(v.Asset.Item()), &decimals
	case store.ERC1155:
		t.TokenID, t.TokenValue = wei(v.Asset.Item()), wei(v.Amount)
	}
	return t, nil
}

// balanceIn adds up what an address holds of a token after a block: of NFTs, how many.
func (r *request) balanceIn(t *store.Token, owner common.Address, block uint64) (*big.Int, error) {
	all, err := r.db().TokenBalancesOf(r.Context(), owner[:], t.ID, block)
	sum, counted := new(big.Int), ""
	for i := range all { // each asset's newest first
		if asset := string(all[i].Asset); asset != counted {
			counted = asset
			sum.Add(sum, new(big.Int).SetBytes(all[i].Amount))
		}
	}
	return sum, err
}

func tokenBalance(r *request, owner common.Address) (any, error) {
	block, err := r.atBlock()
	if err != nil {
		return nil, err
	}
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	if t == nil {
		return "0", nil
	}
	sum, err := r.balanceIn(t, owner, block)
	return sum.String(), err
}

type heldToken struct {
	TokenAddress  string `json:"TokenAddress"`
	TokenName     string `json:"TokenName"`
	TokenSymbol   string `json:"TokenSymbol"`
	TokenQuantity string `json:"TokenQuantity"`
	TokenDivisor  string `json:"TokenDivisor"` // decimals
}

// tokenBalances lists the ERC-20 tokens that an address holds.
func tokenBalances(r *request, owner common.Address) (any, error) {
	p, err := r.values.page(100)
	if err != nil {
		return nil, err
	}
	chain := r.chain.Row.ID
	after, before := store.NewTokenID(chain, store.ERC20, 0).Asset(nil), store.NewTokenID(chain, store.ERC20, store.MaxTokens).Asset(nil)
	held, err := r.db().ERC20Balances(r.Context(), owner[:], after, before, store.MaxNumber, p.end())
	if err != nil {
		return nil, err
	}
	held = of(p, held)
	if len(held) == 0 {
		return nil, errNoRecords
	}
	list := make([]*heldToken, len(held))
	for i := range held {
		t, err := r.db().Token(r.Context(), held[i].Asset.Token())
		if err != nil {
			return nil, err
		}
		list[i] = &heldToken{hexAddress(t.Address), t.Name, t.Symbol, wei(held[i].Amount), strconv.Itoa(t.Decimals)}
	}
	return list, nil
}
