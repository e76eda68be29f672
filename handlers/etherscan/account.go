package etherscan

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

var accountActions = map[string]action{
	"account.balance":             {handle: with(addressIn("address"), balance)},
	"account.balancemulti":        {handle: balances},
	"account.balancehistory":      {handle: with(addressIn("address"), balance)},
	"account.txlist":              {handle: with(addressIn("address"), transactions)},
	"account.txlistinternal":      {handle: internals},
	"account.getminedblocks":      {handle: with(addressIn("address"), minedBlocks)},
	"account.tokenbalance":        {handle: with(addressIn("address"), tokenBalance)},
	"account.addresstokenbalance": {handle: with(addressIn("address"), tokenBalances)},
	"account.tokenbalancehistory": {handle: with(addressIn("address"), tokenBalance)},
}

// wei formats an amount without leading zeros, or none, in decimal.
func wei(amount []byte) string { return new(big.Int).SetBytes(amount).String() }

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// hexAddress formats an address in lower case, as Etherscan does; "" for none.
func hexAddress(address []byte) string {
	if address == nil {
		return ""
	}
	return strings.ToLower(common.BytesToAddress(address).Hex())
}

func hexHash(hash []byte) string { return common.BytesToHash(hash).Hex() }

// atBlock returns the block after which the request wants a balance: blockno or tag, by default the newest.
func (r *request) atBlock() (uint64, error) {
	name := "tag"
	if r.values.given("blockno") {
		name = "blockno"
	}
	return r.values.block(name, store.MaxNumber)
}

// balanceOf reads an account's balance after a block.
func (r *request) balanceOf(address common.Address, block uint64) (string, error) {
	row, err := r.db().Account(r.Context(), r.chain.Row.ID, address[:], block)
	if errors.Is(err, store.ErrNotFound) {
		return "0", nil
	}
	return wei(row.Balance), err
}

func balance(r *request, address common.Address) (any, error) {
	block, err := r.atBlock()
	if err != nil {
		return nil, err
	}
	return r.balanceOf(address, block)
}

// maxBalances is how many addresses balancemulti takes.
const maxBalances = 20

type accountBalance struct {
	Account string `json:"account"`
	Balance string `json:"balance"`
}

func balances(r *request) (any, error) {
	block, err := r.atBlock()
	if err != nil {
		return nil, err
	}
	texts := strings.Split(r.values["address"], ",")
	if len(texts) > maxBalances {
		return nil, refusal("Error! Maximum of 20 addresses in a single batch")
	}
	var all []accountBalance
	for _, text := range texts {
		address, err := parseAddress(strings.TrimSpace(text))
		if err != nil {
			return nil, refusal("Error! Invalid multi address format")
		}
		amount, err := r.balanceOf(address, block)
		if err != nil {
			return nil, err
		}
		all = append(all, accountBalance{strings.TrimSpace(text), amount})
	}
	return all, nil
}

// part is the part of the chain that a list covers: the blocks from startblock to endblock.
func (r *request) part(p page) (i store.AddressHistory, err error) {
	first, err := r.values.block("startblock", 0)
	if err != nil {
		return i, err
	}
	last, err := r.values.block("endblock", store.MaxNumber)
	if err != nil {
		return i, err
	}
	chain := r.chain.Row.ID
	return store.AddressHistory{High: store.At(chain, last, store.MaxIndex), Low: store.At(chain, first, 0), Limit: p.end(), Ascending: !p.descending}, nil
}

// owner reads the address whose rows a list has, which may be absent if one of other parameters chooses them.
func (r *request) owner(others ...string) ([]byte, error) {
	if !r.values.given("address") && slices.ContainsFunc(others, r.values.given) {
		return nil, nil
	}
	address, err := r.values.address("address")
	return address[:], err
}

// list is a page of the positions of rows.
func (r *request) list(find func(store.AddressHistory) ([]store.Position, error), address []byte) ([]store.Position, error) {
	p, err := r.values.page(maxRows)
	if err != nil {
		return nil, err
	}
	i, err := r.part(p)
	if err != nil || i.Low > i.High {
		return nil, err
	}
	i.Address = address
	all, err := find(i)
	return of(p, all), err
}

// inParts makes the rows at positions, some at a time.
func (r *request) inParts(at []store.Position, none error, read func(part []store.Position, head uint64) ([]any, error)) (any, error) {
	if len(at) == 0 {
		return nil, none
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	parts := slices.Collect(slices.Chunk(at, store.MaxTransactionsAt))
	return &rows{len(parts), func(i int) ([]any, error) { return read(parts[i], head.Number) }}, nil
}

// confirmations counts the blocks from a block to the head, both included.
func confirmations(head, number uint64) string { return decimal(max(head, number) - number + 1) }

func transactions(r *request, address common.Address) (any, error) {
	at, err := r.list(func(i store.AddressHistory) ([]store.Position, error) { return r.db().HistoryNativeIDs(r.Context(), i) }, address[:])
	if err != nil {
		return nil, err
	}
	return r.inParts(at, errNoTransactions, func(part []store.Position, head uint64) ([]any, error) {
		found, err := r.db().TransactionsAt(r.Context(), part)
		if err != nil {
			return nil, err
		}
		list := make([]any, len(found))
		for i := range found {
			if list[i], err = r.transaction(&found[i], head); err != nil {
				return nil, err
			}
		}
		return list, nil
	})
}

// internal is a row of txlistinternal. Of one transaction's, hash and traceId are absent.
type internal struct {
	BlockNumber     string `json:"blockNumber"`
	TimeStamp       string `json:"timeStamp"`
	Hash            string `json:"hash,omitempty"`
	From            string `json:"from"`
	To              string `json:"to"`
	Value           string `json:"value"`
	ContractAddress string `json:"contractAddress"`
	Input           string `json:"input"`
	Type            string `json:"type"`
	Gas             string `json:"gas"`
	GasUsed         string `json:"gasUsed"`
	TraceID         string `json:"traceId,omitempty"` // numbers the calls of a block that the index keeps
	IsError         string `json:"isError"`
	ErrCode         string `json:"errCode"`
}

// internalOf shows a call. The index keeps no input.
func internalOf(c *store.Call, time int64) *internal {
	i := &internal{
		BlockNumber: decimal(c.ID.Number()), TimeStamp: strconv.FormatInt(time, 10), From: hexAddress(c.Sender), To: hexAddress(c.Recipient),
		Value: wei(c.Value), Type: strings.ToLower(c.Type), Gas: decimal(c.Gas), GasUsed: decimal(c.GasUsed), IsError: "0", ErrCode: c.Error,
	}
	if c.Reverted {
		i.IsError = "1"
	}
	if c.Type == "CREATE" || c.Type == "CREATE2" {
		i.To, i.ContractAddress = "", i.To
	}
	return i
}

func internals(r *request) (any, error) {
	if r.values.given("txhash") {
		return internalsOf(r)
	}
	owner, err := r.owner("startblock", "endblock")
	if err != nil {
		return nil, err
	}
	at, err := r.list(func(i store.AddressHistory) ([]store.Position, error) {
		return r.db().HistoryInternalIDs(r.Context(), i)
	}, owner)
	if err != nil {
		return nil, err
	}
	return r.inParts(at, errNoTransactions, func(part []store.Position, _ uint64) ([]any, error) {
		found, err := r.db().CallViewsAt(r.Context(), part)
		list := make([]any, len(found))
		for i := range found {
			shown := internalOf(&found[i].Call, found[i].BlockTime)
			shown.Hash, shown.TraceID = hexHash(found[i].TxHash), strconv.Itoa(found[i].Call.ID.Index())
			list[i] = shown
		}
		return list, err
	})
}

// internalsOf lists the internal transactions of one transaction.
func internalsOf(r *request) (any, error) {
	hash, err := r.values.hash("txhash")
	if err != nil {
		return nil, err
	}
	tx, err := r.db().TransactionViewByHash(r.Context(), r.chain.Row.ID, hash[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNoTransactions
	}
	if err != nil {
		return nil, err
	}
	calls, err := r.db().InternalTransactions(r.Context(), tx.ID)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, errNoTransactions
	}
	list := make([]*internal, len(calls))
	for i := range calls {
		list[i] = internalOf(&calls[i], tx.BlockTime)
	}
	return list, nil
}

// minedBlock is a row of getminedblocks. The fees of a block go to its coinbase, and burn there.
type minedBlock struct {
	BlockNumber string `json:"blockNumber"`
	TimeStamp   string `json:"timeStamp"`
	BlockReward string `json:"blockReward"`
}

// mostExamined bounds the search for an address's blocks: no index has them, as on the real network no address ever is a block's coinbase
// save the one that burns the fees.
const mostExamined = 1 << 16

// minedBlocks lists the blocks with an address as their coinbase: those of the address that burns fees are all blocks, others a client made.
func minedBlocks(r *request, address common.Address) (any, error) {
	p, err := r.values.page(maxRows)
	if err != nil {
		return nil, err
	}
	chain := r.chain.Row.ID
	high, low := store.Last(chain), store.First(chain)+1<<16 // the genesis has no coinbase
	var found []*minedBlock
	for examined := 0; len(found) < p.end() && examined < mostExamined; {
		blocks, err := r.db().BlocksDown(r.Context(), high, low, 512)
		if err != nil {
			return nil, err
		}
		for i := range blocks {
			header, err := evm.DecodeHeader(r.chain.Kind, blocks[i].Header)
			if err != nil {
				return nil, err
			}
			if header.Coinbase == address && len(found) < p.end() {
				found = append(found, &minedBlock{decimal(blocks[i].ID.Number()), strconv.FormatInt(blocks[i].Time, 10), wei(blocks[i].Fees)})
			}
		}
		if len(blocks) < 512 {
			break
		}
		examined += len(blocks)
		high = blocks[len(blocks)-1].ID - 1
	}
	if found = of(p, found); len(found) == 0 {
		return nil, errNoTransactions
	}
	return found, nil
}
