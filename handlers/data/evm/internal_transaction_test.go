package evm_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// The generated world makes calls with value and creations; these contracts do the rest.

// initCode deploys a contract of this code, in hexadecimal.
func initCode(code string) []byte {
	raw := common.FromHex(code)
	return slices.Concat([]byte{0x61, byte(len(raw) >> 8), byte(len(raw))}, common.FromHex("80600a3d393df3"), raw)
}

// passing returns code that calls an address with the value it was called with; the opcode is CALL or CALLCODE.
func passing(opcode string, to common.Address) string {
	return "600060006000600034" + "73" + hex.EncodeToString(to[:]) + "5a" + opcode + "50"
}

// TestCallsOfEveryKindAreTheTraces compares calls with borrowed code, creations with value, undone ones and self-destructs with the traces.
func TestCallsOfEveryKindAreTheTraces(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 6))
	c := g.Chains[0]
	s := datatest.NewSender(t, g, c)
	friend := common.HexToAddress("0x00000000000000000000000000000000000F71e9")
	deploy := func(code string) common.Address { return s.Send(nil, nil, initCode(code)) }
	payer := deploy(passing("f1", friend) + "00")
	undone := deploy(passing("f1", friend) + "60006000fd")
	doomed := deploy("73" + hex.EncodeToString(friend[:]) + "ff")
	for _, e := range []struct{ name, code, kinds string }{
		{"borrowed code", passing("f2", payer) + "00", "CALLCODE CALL"},
		{"code with its own storage", "600060006000600073" + hex.EncodeToString(payer[:]) + "5af45000", "CALL"},
		{"an undone call and one that stays", passing("f1", undone) + passing("f1", friend) + "00", "CALL CALL CALL"},
		{"a creation", "6000600034f05000", "CREATE"},
		{"a creation at a chosen place", "60006000600034f55000", "CREATE2"},
		{"a self-destruct", passing("f1", doomed) + "00", "CALL"},
	} {
		contract := deploy(e.code)
		s.Send(&contract, big.NewInt(7), nil)
		hash := datatest.Dig(g.Get(t, datatest.Path(c, "transactions?pageSize=1")), "transactions", 0, "txHash").(string)
		listed := g.Get(t, datatest.Path(c, "transactions", hash))["internalTransactions"].([]any)
		have, kinds := calls(listed, hash)
		datatest.Same(t, e.name, have, traced(t, g, c.Row, common.HexToHash(hash)))
		if kinds != e.kinds {
			t.Errorf("%s is listed as %q: want %q", e.name, kinds, e.kinds)
		}
	}
}

// calls are internal transactions in words, and their kinds.
func calls(list []any, tx string) (all []string, kinds string) {
	for _, item := range list {
		kind := datatest.Dig(item, "internalTxType").(string)
		kinds += " " + kind
		all = append(all, internal(common.HexToHash(tx), kind, datatest.Dig(item, "from", "address").(string),
			datatest.Dig(item, "to", "address").(string), datatest.Dig(item, "value").(string), datatest.Dig(item, "isReverted").(bool)))
	}
	return all, strings.TrimPrefix(kinds, " ")
}

// traced returns the calls of a transaction from its trace.
func traced(t *testing.T, g *datatest.Globe, row store.Chain, hash common.Hash) []string {
	t.Helper()
	c, err := reader.NewChain(g.DB, row) // it opens at the newest block
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.Transaction(context.Background(), hash)
	if err != nil {
		t.Fatal(err)
	}
	tracer := "callTracer"
	trace, err := c.TraceTransaction(context.Background(), tx, &reader.TraceConfig{Tracer: &tracer})
	if err != nil {
		t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(trace.JSON(), &f); err != nil {
		t.Fatal(err)
	}
	var all []string
	inner(hash, f, false, func(text, _, _ string) { all = append(all, text) })
	return all
}
