package etherscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

const noTransactions = "No transactions found"

// included holds what txlist and the lists of transfers show of a transaction.
func (h *history) included(tx *reader.Transaction) row {
	price := new(big.Int).Add(tx.Block.Executed.BaseFee, tx.GasTipCap())
	if most := tx.GasFeeCap(); price.Cmp(most) > 0 {
		price = most
	}
	r := row{
		"blockNumber": fmt.Sprint(tx.Block.Number), "blockHash": tx.Block.Hash.Hex(), "timeStamp": fmt.Sprint(tx.Block.Header.Time), "hash": common.BytesToHash(tx.Row.Hash).Hex(),
		"nonce": fmt.Sprint(tx.Nonce()), "transactionIndex": fmt.Sprint(tx.Index()), "gas": fmt.Sprint(tx.Gas()), "gasPrice": price.String(),
		"cumulativeGasUsed": fmt.Sprint(tx.Row.GasTotal), "gasUsed": fmt.Sprint(tx.Row.GasUsed), "confirmations": fmt.Sprint(h.head() - tx.Block.Number + 1),
		"methodId": "0x", "functionName": "",
	}
	if data := tx.Data(); len(data) >= 4 {
		r["methodId"] = hexutil.Encode(data[:4])
		if name, known := contracts.MethodName([4]byte(data)); known && tx.To() != nil {
			r["functionName"] = name
		}
	}
	return r
}

func (h *history) native(tx *reader.Transaction) row {
	r := h.included(tx)
	r["from"], r["to"], r["value"], r["input"], r["contractAddress"] = low(tx.Sender), "", tx.Value().String(), hexutil.Encode(tx.Data()), lower(tx.Row.Created)
	if to := tx.To(); to != nil {
		r["to"] = low(*to)
	}
	r["txreceipt_status"], r["isError"] = "1", "0"
	if tx.Row.Status == 0 {
		r["txreceipt_status"], r["isError"] = "0", "1"
	}
	return r
}

func (h *history) internal(c *store.Call) row {
	tx := h.at[c.ID.Block()+store.Position(c.Tx)]
	r := row{
		"blockNumber": fmt.Sprint(tx.Block.Number), "timeStamp": fmt.Sprint(tx.Block.Header.Time), "hash": common.BytesToHash(tx.Row.Hash).Hex(), "from": lower(c.Sender),
		"to": lower(c.Recipient), "value": new(big.Int).SetBytes(c.Value).String(), "contractAddress": "", "input": "", "type": strings.ToLower(c.Type), "gas": fmt.Sprint(c.Gas),
		"gasUsed": fmt.Sprint(c.GasUsed), "traceId": fmt.Sprint(int64(c.ID) & 0xffff), "isError": "0", "errCode": c.Error,
	}
	if c.Reverted {
		r["isError"] = "1"
	}
	if strings.HasPrefix(c.Type, "CREATE") {
		r["to"], r["contractAddress"] = "", r["to"]
	}
	return r
}

func (h *history) transfer(t *store.Transfer) row {
	r, token := h.included(h.at[t.ID.Block()+store.Position(t.Tx)]), h.tokens[t.Asset.Token()]
	r["from"], r["to"], r["contractAddress"], r["tokenName"], r["tokenSymbol"], r["input"] = lower(t.Sender), lower(t.Recipient), lower(token.Address), token.Name, token.Symbol, "deprecated"
	amount, item := new(big.Int).SetBytes(t.Amount).String(), new(big.Int).SetBytes(t.Asset.Item()).String()
	switch t.Standard {
	case store.ERC20:
		r["value"], r["tokenDecimal"] = amount, fmt.Sprint(token.Decimals)
	case store.ERC721:
		r["tokenID"], r["tokenDecimal"] = item, fmt.Sprint(token.Decimals)
	case store.ERC1155:
		r["tokenID"], r["tokenValue"] = item, amount
	}
	return r
}

// numbered is a row with its block.
type numbered struct {
	block uint64
	row   row
}

// lists compares a list, its order, its pages and its ranges of blocks with all of its rows, the oldest first.
func (s *scanner) lists(random *rand.Rand, query string, all []numbered, head uint64) {
	s.Helper()
	from, to := random.Uint64N(head+2), random.Uint64N(head+2)
	if from > to && random.IntN(4) > 0 {
		from, to = to, from
	}
	for _, part := range []struct {
		query    string
		from, to uint64
	}{
		{"", 0, head},
		{"&sort=desc", 0, head},
		{"&sort=asc&startblock=earliest&endblock=latest", 0, head},
		{fmt.Sprintf("&startblock=%d", from), from, head},
		{fmt.Sprintf("&sort=DESC&endblock=%#x", to), 0, to},
		{fmt.Sprintf("&startblock=%d&endblock=%d&sort=desc", from, to), from, to},
	} {
		var want []row
		for _, n := range all {
			if n.block >= part.from && n.block <= part.to {
				want = append(want, n.row)
			}
		}
		if strings.Contains(strings.ToLower(part.query), "sort=desc") {
			slices.Reverse(want)
		}
		if len(want) == 0 {
			s.refuses(query+part.query, noTransactions, "[]")
			continue
		}
		s.want(query+part.query, want)
		size := 1 + random.IntN(len(want)+2)
		for page := 1; ; page++ {
			at := fmt.Sprintf("%s&page=%d&offset=%d", query+part.query, page, size)
			if first := (page - 1) * size; first < len(want) {
				s.want(at, want[first:min(first+size, len(want))])
				continue
			}
			s.refuses(at, noTransactions, "[]")
			break
		}
	}
}

// TestLists compares the lists of every address with the chain: transactions, internal ones, and transfers of each standard.
func TestLists(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		random := rand.New(rand.NewPCG(1, s.chain.Row.EVMID))
		listed := map[string]int{}
		list := func(action, about string, all []numbered) {
			listed[action] += len(all)
			s.lists(random, "module=account&action="+action+about, all, h.head())
		}
		for i, address := range h.addresses {
			of := map[string][]numbered{"txlist": nil, "txlistinternal": nil, "tokentx": nil, "tokennfttx": nil, "token1155tx": nil}
			for _, tx := range h.txs {
				if to := tx.To(); tx.Sender == address || to != nil && *to == address || bytes.Equal(tx.Row.Created, address[:]) {
					of["txlist"] = append(of["txlist"], numbered{tx.Block.Number, h.native(tx)})
				}
			}
			for j := range h.calls {
				if c := &h.calls[j]; c.Type != "SELFDESTRUCT" && (bytes.Equal(c.Sender, address[:]) || bytes.Equal(c.Recipient, address[:])) {
					of["txlistinternal"] = append(of["txlistinternal"], numbered{c.ID.Number(), h.internal(c)})
				}
			}
			for j := range h.transfers {
				if x := &h.transfers[j]; bytes.Equal(x.Sender, address[:]) || bytes.Equal(x.Recipient, address[:]) {
					action := transferAction[x.Standard]
					of[action] = append(of[action], numbered{x.ID.Number(), h.transfer(x)})
				}
			}
			for action, all := range of {
				switch {
				case i%3 == 0:
					list(action, "&address="+address.Hex(), all)
				case len(all) > 0:
					s.want("module=account&action="+action+"&address="+address.Hex(), rowsOf(all))
				}
			}
		}
		var calls []numbered
		for i := range h.calls {
			if c := &h.calls[i]; c.Type != "SELFDESTRUCT" {
				calls = append(calls, numbered{c.ID.Number(), h.internal(c)})
			}
		}
		s.want("module=account&action=txlistinternal&startblock=0", rowsOf(calls))
		s.want("module=account&action=txlistinternal&endblock=latest", rowsOf(calls))
		for action, n := range listed {
			if n < 20 {
				t.Errorf("%d rows of %s", n, action)
			}
		}
	})
}

var transferAction = map[store.Standard]string{store.ERC20: "tokentx", store.ERC721: "tokennfttx", store.ERC1155: "token1155tx"}

func rowsOf(all []numbered) (list []row) {
	for _, n := range all {
		list = append(list, n.row)
	}
	return list
}

// TestTransfersOfTokens: of a token, and of an address in a token; under the action of another standard a token has none.
func TestTransfersOfTokens(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		random := rand.New(rand.NewPCG(2, s.chain.Row.EVMID))
		for id, token := range h.tokens { // of some there are no transfers
			of, everyone := map[string][]numbered{}, []numbered(nil)
			for i := range h.transfers {
				if x := &h.transfers[i]; x.Asset.Token() == id {
					n := numbered{x.ID.Number(), h.transfer(x)}
					everyone = append(everyone, n)
					for _, address := range slices.Compact([]string{lower(x.Sender), lower(x.Recipient)}) {
						of[address] = append(of[address], n)
					}
				}
			}
			for standard, action := range transferAction {
				query := "module=account&action=" + action + "&contractaddress=" + lower(token.Address)
				if standard != id.Standard() {
					s.refuses(query, noTransactions, "[]")
					continue
				}
				s.lists(random, query, everyone, h.head())
				for address, all := range of {
					s.want(query+"&address="+address, rowsOf(all))
				}
				s.refuses(query+"&address="+nobody, noTransactions, "[]")
			}
		}
		s.refuses("module=account&action=tokentx&contractaddress="+nobody, noTransactions, "[]")
	})
}

// TestInternalsOfTransactions lists the calls of each transaction, without its hash.
func TestInternalsOfTransactions(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		for _, tx := range h.txs {
			var want []row
			for i := range h.calls {
				if c := &h.calls[i]; c.Type != "SELFDESTRUCT" && c.ID.Block() == tx.Row.ID.Block() && c.Tx == tx.Index() {
					r := h.internal(c)
					delete(r, "hash")
					delete(r, "traceId")
					want = append(want, r)
				}
			}
			query := "module=account&action=txlistinternal&txhash=" + tx.Hash().Hex()
			if len(want) == 0 {
				s.refuses(query, noTransactions, "[]")
			} else {
				s.want(query, want)
			}
		}
		s.refuses("module=account&action=txlistinternal&txhash="+common.Hash{1}.Hex(), noTransactions, "[]")
	})
}

// TestStatuses compares both statuses of every transaction with its trace and its receipt.
func TestStatuses(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		failed := map[string]int{}
		for _, tx := range h.txs {
			hash := tx.Hash().Hex()
			s.want("module=transaction&action=gettxreceiptstatus&txhash="+hash, row{"status": fmt.Sprint(tx.Row.Status)})
			if tx.Row.Status == 1 {
				s.want("module=transaction&action=getstatus&txhash="+hash, row{"isError": "0", "errDescription": ""})
				continue
			}
			tracer := "callTracer"
			trace, err := s.chain.TraceTransaction(t.Context(), tx, &reader.TraceConfig{Tracer: &tracer})
			s.check(err)
			var top struct{ Error, RevertReason string }
			s.check(json.Unmarshal(trace.JSON(), &top))
			text := strings.TrimSuffix(top.Error+": "+top.RevertReason, ": ")
			failed[text]++
			s.want("module=transaction&action=getstatus&txhash="+hash, row{"isError": "1", "errDescription": text})
		}
		if len(failed) < 3 || failed[""] > 0 {
			s.Errorf("transactions failed for %v", failed)
		}
		unknown := common.Hash{1}.Hex()
		s.want("module=transaction&action=gettxreceiptstatus&txhash="+unknown, row{"status": ""})
		s.want("module=transaction&action=getstatus&txhash="+unknown, row{"isError": "0", "errDescription": ""})
	})
}

// code reads the code of a contract after a block.
func (s *scanner) code(b *reader.Block, address []byte) []byte {
	s.Helper()
	state, err := s.chain.State(s.Context(), b)
	s.check(err)
	return state.GetCode(common.BytesToAddress(address))
}

// TestCreations tells for every contract which transaction made it, and with which code.
func TestCreations(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		made := map[string]row{}
		creation := func(tx *reader.Transaction, address, factory, code string) {
			made[address] = row{
				"contractAddress": address, "contractCreator": low(tx.Sender), "txHash": tx.Hash().Hex(), "blockNumber": fmt.Sprint(tx.Block.Number),
				"timestamp": fmt.Sprint(tx.Block.Header.Time), "contractFactory": factory, "creationBytecode": code,
			}
		}
		for _, tx := range h.txs {
			if tx.Row.Created != nil && tx.Row.Status == 1 {
				creation(tx, lower(tx.Row.Created), "", hexutil.Encode(tx.Data()))
			}
		}
		for i := range h.calls {
			if c := &h.calls[i]; strings.HasPrefix(c.Type, "CREATE") && !c.Reverted && len(s.code(h.blocks[c.ID.Number()], c.Recipient)) > 0 {
				creation(h.at[c.ID.Block()+store.Position(c.Tx)], lower(c.Recipient), lower(c.Sender), "0x")
			}
		}
		var five []string
		var want []row
		for address, r := range made {
			s.want("module=contract&action=getcontractcreation&contractaddresses="+address, []row{r})
			if len(five) < 5 {
				five, want = append(five, address), append(want, r)
			}
		}
		s.want("module=contract&action=getcontractcreation&contractaddresses="+strings.Join(five, ",%20"), want)
		s.want("module=contract&action=getcontractcreation&contractaddresses="+nobody+","+five[0], want[:1])
		s.refuses("module=contract&action=getcontractcreation&contractaddresses="+nobody, "No data found", "null")
		s.rejects("module=contract&action=getcontractcreation&contractaddresses="+strings.Join(append(five, nobody), ","), "Error! Maximum of 5 contract addresses in a single batch")
		s.rejects("module=contract&action=getcontractcreation&contractaddresses="+five[0]+",0x12", "Error! Invalid address format")
	})
}
