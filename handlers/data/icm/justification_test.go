package icm_test

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/signing"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

func TestJustificationsTellWhatToSign(t *testing.T) {
	g := datatest.Open(t, 1)
	known := serveKnown(t, g.World)
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		rows, err := n.DB.PrimaryTxsOfType(context.Background(), n.Chain(txs.PChain), "SetL1ValidatorWeightTx")
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"ConvertSubnetToL1Tx", "RegisterL1ValidatorTx"} {
			more, err := n.DB.PrimaryTxsOfType(context.Background(), n.Chain(txs.PChain), kind)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, more...)
		}
		for _, row := range rows {
			s, err := signing.PChainMessageOf(context.Background(), n, ids.ID(row.Hash))
			if err != nil {
				t.Fatal(err)
			}
			m, err := signing.MessageFromJustification(context.Background(), n, s.Justification)
			if err != nil {
				t.Fatalf("%s: %v", row.Type, err)
			}
			body := askFor("justification", hex.EncodeToString(s.Justification))
			signed := signedBy(t, known.Post(t, aggregator(network), body, http.StatusOK))
			if hexOf(t, &signed.UnsignedMessage) != hexOf(t, m) {
				t.Errorf("%s: the justification makes another message", row.Type)
			}
			both := askFor("justification", hex.EncodeToString(s.Justification), "message", hexOf(t, m))
			known.Post(t, aggregator(network), both, http.StatusOK)
		}
	}
}

// serveKnown serves a world whose validators sign only known messages.
func serveKnown(t testing.TB, w *sim.World) *datatest.Globe {
	t.Helper()
	return datatest.ServeWith(t, w, export.NewJobs(w, export.Options{}), data.Options{KnownOnly: true})
}

func TestKnownOnlyRefusesWhatNobodySent(t *testing.T) {
	g := datatest.Open(t, 1)
	known := serveKnown(t, g.World)
	n := g.Network(t, "mainnet")
	subnets, err := n.DB.Subnets(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	conversion, validation := ids.ID(subnets[0].State.Conversion), warp.ConversionValidationID(ids.ID(subnets[0].Hash), 0)
	platform := func(e warp.L1Message) string {
		m, err := warp.NewL1Message(1, ids.Empty, nil, e)
		if err != nil {
			t.Fatal(err)
		}
		return hexOf(t, m)
	}
	block, err := n.DB.Block(context.Background(), g.Chains[0].Row.ID, 3)
	if err != nil {
		t.Fatal(err)
	}
	blockPayload := func(hash ids.ID) string {
		payload, err := warp.HashPayload(hash)
		if err != nil {
			t.Fatal(err)
		}
		return hexOf(t, &warp.UnsignedMessage{NetworkID: 1, SourceChainID: ids.ID(g.Chains[0].Row.BlockchainID), Payload: payload})
	}
	subnet, never := hex.EncodeToString(subnets[0].Hash), hex.EncodeToString((&warp.Justification{SubnetID: ids.ID(subnets[0].Hash), Index: 99}).Bytes())
	madeUp, err := warp.AddressedCall(nil, []byte("made up"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ message, justification, says string }{
		{hexOf(t, spoken(t, n, n.Rules.CChainID, "made up")), "", "did not send"},
		{hexOf(t, spoken(t, n, n.Rules.XChainID, "made up")), "", "did not send"},
		{hexOf(t, spoken(t, n, ids.Empty, "made up")), "", "source address should be empty"},
		{hexOf(t, &warp.UnsignedMessage{NetworkID: 1, Payload: madeUp}), "", "failed to parse warp addressed call payload: unknown codec version"},
		{hexOf(t, &warp.UnsignedMessage{NetworkID: 1, Payload: []byte("made up")}), "", "failed to parse warp addressed call: unknown codec version"},
		{blockPayload(ids.ID(block.Hash)), "", ""},
		{blockPayload(ids.ID{5}), "", "did not send"},
		{platform(&warp.SubnetToL1Conversion{ID: conversion}), subnet, ""},
		{platform(&warp.SubnetToL1Conversion{ID: conversion}), "", "justification"},
		{platform(&warp.SubnetToL1Conversion{ID: ids.ID{1}}), subnet, "expected conversionID"},
		{platform(&warp.L1ValidatorRegistration{ValidationID: validation, Registered: true}), "", ""},
		{platform(&warp.L1ValidatorRegistration{ValidationID: validation}), "", "exists"},
		{platform(&warp.L1ValidatorRegistration{ValidationID: ids.ID{6}, Registered: true}), "", "does not exist"},
		{platform(&warp.L1ValidatorRegistration{ValidationID: warp.ConversionValidationID(ids.ID(subnets[0].Hash), 99)}), never, ""},
		{platform(&warp.L1ValidatorRegistration{ValidationID: ids.ID{6}}), never, "justificationID"},
		{platform(&warp.L1ValidatorRegistration{ValidationID: ids.ID{6}}), "00", "justification"},
		{platform(&warp.L1ValidatorWeight{ValidationID: validation, Nonce: 77, Weight: 1}), "", "nonce"},
		{platform(&warp.L1ValidatorWeight{ValidationID: ids.ID{6}}), "", "does not exist"},
		{platform(&warp.RegisterL1Validator{}), "", "unsupported"},
	} {
		body := askFor("message", c.message, "justification", c.justification)
		g.Post(t, aggregator("mainnet"), body, http.StatusOK) // without the option every well-formed message is signed
		if c.says == "" {
			known.Post(t, aggregator("mainnet"), body, http.StatusOK)
			continue
		}
		says := known.Post(t, aggregator("mainnet"), body, http.StatusServiceUnavailable)["message"].(string)
		for _, part := range []string{"threshold of signatures", "refuse", c.says} {
			if !strings.Contains(says, part) {
				t.Errorf("%s: want %q", says, part)
			}
		}
	}
	testManagers(t, known, n)
}

// testManagers has the requests signed that L1s sent to the P-Chain.
func testManagers(t *testing.T, known *datatest.Globe, n *sim.Network) {
	t.Helper()
	rows, err := n.DB.PrimaryTxsOfType(context.Background(), n.Chain(txs.PChain), "SetL1ValidatorWeightTx")
	if err != nil || len(rows) == 0 {
		t.Fatal(rows, err)
	}
	for _, row := range rows {
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		m, err := warp.ParseMessage(tx.Unsigned.(*txs.SetL1ValidatorWeightTx).Message)
		if err != nil {
			t.Fatal(err)
		}
		known.Post(t, aggregator("mainnet"), askFor("message", hexOf(t, &m.UnsignedMessage)), http.StatusOK)
		m.Payload[len(m.Payload)-1] ^= 1
		known.Post(t, aggregator("mainnet"), askFor("message", hexOf(t, &m.UnsignedMessage)), http.StatusServiceUnavailable)
	}
}
