package etherscan

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var logActions = map[string]action{"logs.getlogs": {handle: logs}}

// maxLogs is the most logs on a page.
const maxLogs = 1_000

// event is a row of getLogs. Numbers are in hex; zero is "0x" where Etherscan writes it so.
type event struct {
	Address          string        `json:"address"`
	Topics           []common.Hash `json:"topics"`
	Data             hexutil.Bytes `json:"data"`
	BlockNumber      string        `json:"blockNumber"`
	BlockHash        string        `json:"blockHash"`
	TimeStamp        string        `json:"timeStamp"`
	GasPrice         string        `json:"gasPrice"`
	GasUsed          string        `json:"gasUsed"`
	LogIndex         string        `json:"logIndex"`
	TransactionHash  string        `json:"transactionHash"`
	TransactionIndex string        `json:"transactionIndex"`
}

// index formats an index of a log or a transaction.
func index(n int) string {
	if n == 0 {
		return "0x"
	}
	return hexutil.EncodeUint64(uint64(n))
}

// topicFilter holds the topics that a request names, and how each is joined to those before it.
type topicFilter struct {
	topics [reader.MaxTopics]*common.Hash
	or     [reader.MaxTopics]bool
}

// matches joins the topics from the first to the last: with the operator between a topic and the one before it, "and" if there is none.
func (f *topicFilter) matches(topics []common.Hash) bool {
	matched := true
	for i, wanted := range f.topics {
		if wanted == nil {
			continue
		}
		if equal := i < len(topics) && topics[i] == *wanted; f.or[i] { // never the first
			matched = matched || equal
		} else {
			matched = matched && equal
		}
	}
	return matched
}

// topics reads topic0 to topic3 and the operators, such as topic0_2_opr.
func (r *request) topics() (f topicFilter, err error) {
	before := -1
	for i := range f.topics {
		text := r.values["topic"+strconv.Itoa(i)]
		if text == "" {
			continue
		}
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil || len(b) > common.HashLength {
			return f, refusal(fmt.Sprintf("Error! Invalid topic%d format", i))
		}
		topic := common.BytesToHash(b)
		f.topics[i] = &topic
		if before >= 0 {
			switch operator := strings.ToLower(r.values[fmt.Sprintf("topic%d_%d_opr", before, i)]); operator {
			case "and", "":
			case "or":
				f.or[i] = true
			default:
				return f, refusal("Error! Invalid topic operator: expected and or or")
			}
		}
		before = i
	}
	return f, nil
}

// search returns the filter that finds at least the logs of the request: with "or" between topics, all of the address.
func (f *topicFilter) search(address *common.Address) *reader.LogFilter {
	wide := &reader.LogFilter{}
	if address != nil {
		wide.Addresses = []common.Address{*address}
	}
	if slices.Contains(f.or[:], true) {
		return wide
	}
	last := -1
	for i, topic := range f.topics {
		if topic != nil {
			last = i
		}
	}
	for i := range last + 1 {
		var choices []common.Hash
		if f.topics[i] != nil {
			choices = []common.Hash{*f.topics[i]}
		}
		wide.Topics = append(wide.Topics, choices)
	}
	return wide
}

func logs(r *request) (any, error) {
	var address *common.Address
	if r.values.given("address") {
		a, err := r.values.address("address")
		if err != nil {
			return nil, err
		}
		address = &a
	}
	wanted, err := r.topics()
	if err != nil {
		return nil, err
	}
	if address == nil && wanted == (topicFilter{}) && !r.values.given("fromblock") {
		return nil, refusal("Error! Missing address and/or topic parameters")
	}
	first, err := r.values.block("fromblock", 0)
	if err != nil {
		return nil, err
	}
	last, err := r.values.block("toblock", store.MaxNumber)
	if err != nil {
		return nil, err
	}
	p, err := r.values.page(maxLogs)
	if err != nil {
		return nil, err
	}
	at, err := r.find(wanted.search(address), &wanted, first, last, p)
	if err != nil {
		return nil, err
	}
	return r.inParts(at, errNoRecords, func(part []store.Position, _ uint64) ([]any, error) { return r.events(part) })
}

// find finds a page of logs, the oldest first, and stops at its end.
func (r *request) find(wide *reader.LogFilter, wanted *topicFilter, first, last uint64, p page) ([]store.Position, error) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var found []store.Position
	full := func() bool { return len(found) == p.end() }
	err := r.chain.EachLog(ctx, wide, first, last, func(at store.Position, l *types.Log) {
		if !full() && wanted.matches(l.Topics) {
			if found = append(found, at); full() {
				stop()
			}
		}
	})
	switch {
	case full() || err == nil:
		return of(p, found), nil
	case r.Context().Err() == nil && strings.HasPrefix(err.Error(), "query "):
		return nil, refusal("Error! " + err.Error())
	}
	return nil, err
}

// events makes the rows of logs.
func (r *request) events(at []store.Position) ([]any, error) {
	found, err := r.chain.LogsAt(r.Context(), at)
	if err != nil {
		return nil, err
	}
	places := make([]store.Position, len(found))
	for i, l := range found {
		places[i] = store.At(r.chain.Row.ID, l.BlockNumber, int(l.TxIndex))
	}
	within, err := r.db().TransactionsAt(r.Context(), places)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(found))
	for i, l := range found {
		v := &within[i]
		_, paid, err := r.priced(v)
		if err != nil {
			return nil, err
		}
		list[i] = &event{
			Address: hexAddress(l.Address[:]), Topics: append([]common.Hash{}, l.Topics...), Data: l.Data, BlockNumber: hexutil.EncodeUint64(l.BlockNumber), BlockHash: l.BlockHash.Hex(),
			TimeStamp: hexutil.EncodeUint64(uint64(v.BlockTime)), GasPrice: hexutil.EncodeBig(paid),
			GasUsed: hexutil.EncodeUint64(v.GasUsed), LogIndex: index(int(l.Index)), TransactionHash: l.TxHash.Hex(), TransactionIndex: index(int(l.TxIndex)),
		}
	}
	return list, nil
}
