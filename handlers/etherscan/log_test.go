package etherscan

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
)

// logRow shows a log as getLogs does.
func logRow(tx *reader.Transaction, l *types.Log) row {
	short := func(n uint) string {
		if n == 0 {
			return "0x"
		}
		return fmt.Sprintf("%#x", n)
	}
	topics := []any{}
	for _, topic := range l.Topics {
		topics = append(topics, topic.Hex())
	}
	return row{
		"address": low(l.Address), "topics": topics, "data": hexutil.Encode(l.Data), "blockNumber": fmt.Sprintf("%#x", tx.Block.Number), "blockHash": tx.Block.Hash.Hex(),
		"timeStamp": fmt.Sprintf("%#x", tx.Block.Header.Time), "gasPrice": hexutil.EncodeBig(tx.Price()), "gasUsed": fmt.Sprintf("%#x", tx.Row.GasUsed), "logIndex": short(l.Index),
		"transactionHash": tx.Hash().Hex(), "transactionIndex": short(uint(tx.Index())),
	}
}

// wantLogs compares the logs of a query, all of them and in pages, with those that pass.
func (s *scanner) wantLogs(h *history, query string, passes func(l *types.Log) bool) (found int) {
	s.Helper()
	var want []row
	for _, tx := range h.txs {
		for _, l := range tx.Logs {
			if passes(l) {
				want = append(want, logRow(tx, l))
			}
		}
	}
	query = "module=logs&action=getLogs" + query
	if len(want) == 0 {
		s.refuses(query, "No records found", "[]")
		return 0
	}
	s.want(query, want)
	size := len(want)/3 + 1
	for from := 0; from < len(want); from += size {
		s.want(fmt.Sprintf("%s&page=%d&offset=%d", query, from/size+1, size), want[from:min(from+size, len(want))])
	}
	s.refuses(fmt.Sprintf("%s&page=4&offset=%d", query, size), "No records found", "[]")
	return len(want)
}

// TestLogs compares getLogs with every log of the chain, by address, by topics that are joined in every way, and by blocks.
func TestLogs(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		if n := s.wantLogs(h, "&fromBlock=0", func(*types.Log) bool { return true }); n < 300 {
			t.Fatalf("%d logs", n)
		}
		var all []*types.Log
		for _, tx := range h.txs {
			all = append(all, tx.Logs...)
		}
		random := rand.New(rand.NewPCG(6, s.chain.Row.EVMID))
		found := 0
		for range 60 {
			example, other := all[random.IntN(len(all))], all[random.IntN(len(all))]
			query, tests := "", []func(*types.Log) bool{}
			if random.IntN(3) == 0 {
				query += "&address=" + example.Address.Hex()
				tests = append(tests, func(l *types.Log) bool { return l.Address == example.Address })
			}
			if random.IntN(3) == 0 {
				from, to := min(example.BlockNumber, other.BlockNumber), max(example.BlockNumber, other.BlockNumber)
				query += fmt.Sprintf("&fromBlock=%d&toBlock=%#x", from, to)
				tests = append(tests, func(l *types.Log) bool { return l.BlockNumber >= from && l.BlockNumber <= to })
			}
			joined := func(*types.Log) bool { return true }
			before := -1
			for i := range 4 {
				topics := example.Topics
				if random.IntN(3) == 0 {
					topics = other.Topics
				}
				if i >= len(topics) || random.IntN(2) == 0 {
					continue
				}
				topic, left := topics[i], joined
				has := func(l *types.Log) bool { return i < len(l.Topics) && l.Topics[i] == topic }
				query += fmt.Sprintf("&topic%d=%s", i, topic)
				operator := []string{"", "and", "or", "OR"}[random.IntN(4)]
				if before >= 0 && operator != "" {
					query += fmt.Sprintf("&topic%d_%d_opr=%s", before, i, operator)
				}
				switch {
				case before < 0:
					joined = has
				case strings.EqualFold(operator, "or"):
					joined = func(l *types.Log) bool { return left(l) || has(l) }
				default:
					joined = func(l *types.Log) bool { return left(l) && has(l) }
				}
				before = i
			}
			if query == "" || !strings.Contains(query, "address") && before < 0 && !strings.Contains(query, "fromBlock") {
				continue
			}
			if s.wantLogs(h, query, func(l *types.Log) bool {
				for _, test := range tests {
					if !test(l) {
						return false
					}
				}
				return joined(l)
			}) > 0 {
				found++
			}
		}
		if found < 20 {
			t.Errorf("%d filters find logs", found)
		}
		s.wantLogs(h, "&toBlock=latest&topic0="+hex.EncodeToString(all[0].Topics[0][:]), func(l *types.Log) bool { return len(l.Topics) > 0 && l.Topics[0] == all[0].Topics[0] })
		s.refuses("module=logs&action=getLogs&topic0=0x12", "No records found", "[]")
		s.refuses("module=logs&action=getLogs&topic1_2_opr=or&topic1="+common.Hash{1}.Hex()+"&topic2="+common.Hash{2}.Hex(), "No records found", "[]")
	})
}

// TestWrongLogs: what getLogs refuses, and how.
func TestWrongLogs(t *testing.T) {
	s := reading(t)
	for query, reason := range map[string]string{
		"":                                    "Error! Missing address and/or topic parameters",
		"&toBlock=latest":                     "Error! Missing address and/or topic parameters",
		"&address=0x12":                       "Error! Invalid address format",
		"&topic0=0xzz":                        "Error! Invalid topic0 format",
		"&topic3=" + strings.Repeat("ab", 33): "Error! Invalid topic3 format",
		"&topic0=0x1a&topic1=0x2b&topic0_1_opr=xor": "Error! Invalid topic operator: expected and or or",
		"&topic0=0x1a&fromBlock=first":              "Error! Invalid block number",
		"&topic0=0x1a&toBlock=last":                 "Error! Invalid block number",
		"&topic0=0x1a&page=x":                       "Error! Invalid page or offset",
	} {
		s.rejects("module=logs&action=getLogs"+query, reason)
	}
}

// TestSearch: the index is asked for no more logs than the request's address and its topics up to the last, unless an "or" may want others.
func TestSearch(t *testing.T) {
	a, one, two := common.Address{1}, common.Hash{1}, common.Hash{2}
	of := []common.Address{a}
	for _, c := range []struct {
		address *common.Address
		filter  topicFilter
		want    reader.LogFilter
	}{
		{nil, topicFilter{}, reader.LogFilter{}},
		{&a, topicFilter{}, reader.LogFilter{Addresses: of}},
		{&a, topicFilter{topics: [4]*common.Hash{&one, nil, &two}}, reader.LogFilter{Addresses: of, Topics: [][]common.Hash{{one}, nil, {two}}}},
		{nil, topicFilter{topics: [4]*common.Hash{3: &two}}, reader.LogFilter{Topics: [][]common.Hash{nil, nil, nil, {two}}}},
		{&a, topicFilter{topics: [4]*common.Hash{&one, &two}, or: [4]bool{1: true}}, reader.LogFilter{Addresses: of}},
	} {
		if have := c.filter.search(c.address); !reflect.DeepEqual(*have, c.want) {
			t.Errorf("%+v: %+v, want %+v", c.filter, *have, c.want)
		}
	}
}
