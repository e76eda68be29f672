package evm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/evm/reader"
)

// moved is a transfer, read from a log.
type moved struct {
	standard         string
	tx               common.Hash
	from, to         common.Address
	log              uint
	token, id, value string
}

func (m moved) String() string {
	return fmt.Sprint(m.standard, m.tx, m.from, m.to, m.log, m.token, m.id, m.value)
}

// transfersIn reads transfers from the logs with its own ABI decoder.
func transfersIn(t *testing.T, transactions []*reader.Transaction) []moved {
	t.Helper()
	erc20, erc1155 := events(t, "Token"), events(t, "Items")
	var all []moved
	for _, tx := range transactions {
		for _, l := range tx.Logs {
			m := moved{tx: tx.Hash(), log: l.Index, token: l.Address.Hex(), id: "<nil>", value: "<nil>"}
			switch {
			case len(l.Topics) == 3 && l.Topics[0] == erc20["Transfer"].ID:
				m.standard, m.from, m.to = "ERC-20", common.Address(l.Topics[1][12:]), common.Address(l.Topics[2][12:])
				m.value = new(big.Int).SetBytes(l.Data).String()
				all = append(all, m)
			case len(l.Topics) == 4 && l.Topics[0] == erc20["Transfer"].ID:
				m.standard, m.from, m.to = "ERC-721", common.Address(l.Topics[1][12:]), common.Address(l.Topics[2][12:])
				m.id = l.Topics[3].Big().String()
				all = append(all, m)
			case len(l.Topics) == 4 && (l.Topics[0] == erc1155["TransferSingle"].ID || l.Topics[0] == erc1155["TransferBatch"].ID):
				m.standard, m.from, m.to = "ERC-1155", common.Address(l.Topics[2][12:]), common.Address(l.Topics[3][12:])
				all = append(all, items(t, erc1155, m, l)...)
			}
		}
	}
	return all
}

func events(t *testing.T, contract string) map[string]abi.Event {
	t.Helper()
	a, err := contracts.Load(contract)
	if err != nil {
		t.Fatal(err)
	}
	return a.ABI.Events
}

func items(t *testing.T, known map[string]abi.Event, m moved, l *types.Log) []moved {
	t.Helper()
	name := "TransferBatch"
	if l.Topics[0] == known["TransferSingle"].ID {
		name = "TransferSingle"
	}
	values, err := known[name].Inputs.NonIndexed().Unpack(l.Data)
	if err != nil {
		t.Fatal(err)
	}
	ids, one := values[0].(*big.Int)
	if one {
		m.id, m.value = ids.String(), values[1].(*big.Int).String()
		return []moved{m}
	}
	var all []moved
	for i, id := range values[0].([]*big.Int) {
		m.id, m.value = id.String(), values[1].([]*big.Int)[i].String()
		all = append(all, m)
	}
	return all
}

// seen reads a transfer out of an answer.
func seen(item datatest.Object) moved {
	for key, standard := range map[string]string{"erc20Token": "ERC-20", "erc721Token": "ERC-721", "erc1155Token": "ERC-1155"} {
		if item[key] == nil {
			continue
		}
		log, _ := strconv.ParseUint(fmt.Sprint(item["logIndex"]), 10, 32)
		return moved{standard: standard, tx: common.HexToHash(fmt.Sprint(item["txHash"])), log: uint(log),
			from:  common.HexToAddress(datatest.Dig(item, "from", "address").(string)),
			to:    common.HexToAddress(datatest.Dig(item, "to", "address").(string)),
			token: fmt.Sprint(datatest.Dig(item, key, "address")), id: fmt.Sprint(datatest.Dig(item, key, "tokenId")), value: fmt.Sprint(item["value"])}
	}
	return moved{}
}

// newest reverses transfers: by block and log the newest first, within a log the last item first.
func newest(all []moved, keep func(moved) bool) []string {
	var texts []string
	for _, m := range slices.Backward(all) {
		if keep(m) {
			texts = append(texts, m.String())
		}
	}
	return texts
}

func TestTransferListsAreTheLogs(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		all := transfersIn(t, s.txs)
		for _, a := range s.addresses {
			for name, standard := range map[string]string{"listErc20": "ERC-20", "listErc721": "ERC-721", "listErc1155": "ERC-1155"} {
				list := g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions:"+name), "transactions", 100)
				datatest.Same(t, name+" of "+a.Hex(), seenAll(list),
					newest(all, func(m moved) bool { return m.standard == standard && (m.from == a || m.to == a) }))
			}
		}
		tokens := map[string]bool{}
		for _, m := range all {
			tokens[m.token] = true
		}
		for token := range tokens {
			list := g.Pages(t, datatest.Path(c, "tokens", token, "transfers"), "transfers", 100)
			datatest.Same(t, "transfers of "+token, seenAll(list), newest(all, func(m moved) bool { return m.token == token }))
		}
	})
}

func seenAll(list []datatest.Object) []string {
	var all []string
	for _, item := range list {
		all = append(all, seen(item).String())
	}
	return all
}

// frame is a call in a trace.
type frame struct {
	Type, From, To, Value, Gas, GasUsed, Error string
	Calls                                      []frame
}

// internal describes an internal transaction in words.
func internal(tx common.Hash, kind, from, to, value string, reverted bool) string {
	return fmt.Sprint(tx, kind, common.HexToAddress(from), common.HexToAddress(to), value, reverted)
}

// inner lists the calls of a trace that the Data API lists, in the order in which they began.
func inner(tx common.Hash, f frame, reverted bool, visit func(text, from, to string)) {
	reverted = reverted || f.Error != ""
	for _, call := range f.Calls {
		value := new(big.Int)
		if call.Value != "" {
			value, _ = hexutil.DecodeBig(call.Value)
		}
		creates := call.Type == "CREATE" || call.Type == "CREATE2"
		if creates || (call.Type == "CALL" || call.Type == "CALLCODE") && value.Sign() > 0 {
			visit(internal(tx, call.Type, call.From, call.To, value.String(), reverted || call.Error != ""), call.From, call.To)
		}
		inner(tx, call, reverted, visit)
	}
}

func TestInternalTransactionsAreTheTraces(t *testing.T) {
	g := datatest.Open(t, 1)
	tracer := "callTracer"
	for _, c := range g.Chains {
		s := tell(t, c)
		want := map[common.Address][]string{}
		for _, tx := range s.txs {
			trace, err := c.TraceTransaction(context.Background(), tx, &reader.TraceConfig{Tracer: &tracer})
			if err != nil {
				t.Fatal(err)
			}
			var f frame
			if err := json.Unmarshal(trace.JSON(), &f); err != nil {
				t.Fatal(err)
			}
			inner(tx.Hash(), f, false, func(text, from, to string) {
				a, b := common.HexToAddress(from), common.HexToAddress(to)
				s.meet(a, b)
				want[a] = append(want[a], text)
				if a != b {
					want[b] = append(want[b], text)
				}
			})
		}
		for _, a := range s.addresses {
			var have []string
			for _, item := range g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions:listInternals"), "transactions", 50) {
				have = append(have, internal(common.HexToHash(item["txHash"].(string)), item["internalTxType"].(string),
					datatest.Dig(item, "from", "address").(string), datatest.Dig(item, "to", "address").(string), item["value"].(string), item["isReverted"].(bool)))
			}
			slices.Reverse(have)
			datatest.Same(t, "internal transactions of "+a.Hex(), have, want[a])
		}
	}
}
