package signing_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// network returns a network of a small world that all tests share and none changes.
func network(t *testing.T) *sim.Network {
	t.Helper()
	return seedtest.Shared(t, "tiny", 3).Networks[0]
}

func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestSignersReachTheQuorum: for each quorum and buffer, answering validators sign in the set's order until their weight suffices.
func TestSignersReachTheQuorum(t *testing.T) {
	var silent uint64
	for _, n := range network(t).World.Networks {
		height := ok[uint64](t)(n.PHeight(t.Context()))
		subnets := map[ids.ID]bool{ids.Empty: true}
		for _, v := range ok[[]store.L1ValidatorView](t)(store.L1ValidatorsAt(t.Context(), n.DB, n.Chain(txs.PChain), height)) {
			subnets[ids.ID(v.Subnet)] = true
		}
		for subnet := range subnets {
			silent += checkQuorums(t, n, ok[*signing.Aggregator](t)(signing.NewAggregator(t.Context(), n, subnet, height)))
		}
	}
	if silent == 0 {
		t.Error("everybody answers")
	}
}

// checkQuorums returns the weight that does not answer.
func checkQuorums(t *testing.T, n *sim.Network, set *signing.Aggregator) (silent uint64) {
	t.Helper()
	keys := ok[*sim.NodeKeys](t)(n.NodeKeys(t.Context()))
	m := &warp.UnsignedMessage{NetworkID: n.Rules.NetworkID, Payload: []byte("payload")}
	var answer uint64
	var down int
	for _, v := range set.Validators {
		if keys.Secret(v) == nil {
			silent, down = silent+v.Weight, down+1
		} else {
			answer += v.Weight
		}
	}
	// signers lists who signs up to a share of the weight, computed without the code under test.
	signers := func(percent uint64) (all []int, weight uint64) {
		for i, v := range set.Validators {
			if keys.Secret(v) != nil && weight*100 < set.TotalWeight*percent {
				all, weight = append(all, i), weight+v.Weight
			}
		}
		return all, weight
	}
	check := func(what string, got *warp.Message, want []int) {
		t.Helper()
		indices := ok[[]int](t)(warp.SignerIndices(got.Signature.Signers))
		if len(indices) != len(want) {
			t.Errorf("%s: %v sign: want %v", what, indices, want)
			return
		}
		for i := range want {
			if indices[i] != want[i] {
				t.Errorf("%s: %v sign: want %v", what, indices, want)
				return
			}
		}
	}
	for quorum := uint64(1); quorum <= 100; quorum += 3 {
		for _, buffer := range []uint64{0, 10, 100} {
			want, weight := signers(min(quorum+buffer, 100))
			got, err := set.Sign(m, quorum, buffer)
			var missed *signing.QuorumError
			switch enough := weight*100 >= set.TotalWeight*quorum; {
			case enough && err != nil:
				t.Errorf("%d and %d: %v", quorum, buffer, err)
			case enough:
				check("Sign", got, want)
			case !errors.As(err, &missed):
				t.Errorf("%d and %d: %v", quorum, buffer, err)
			default:
				keyless := set.TotalWeight - answer - silent
				if *missed != (signing.QuorumError{Quorum: quorum, Signed: weight, Total: set.TotalWeight, Down: down, Members: len(set.Validators), Silent: silent, Keyless: keyless}) {
					t.Errorf("%d and %d: %+v", quorum, buffer, missed)
				}
			}
		}
	}
	for _, quorum := range []uint64{0, 1, 50, 67, 100, 200} {
		want, _ := signers(max(min(quorum, 100), 1))
		if got, err := set.Collect(m, quorum); (err == nil) != (len(want) > 0) {
			t.Errorf("Collect %d: %v", quorum, err)
		} else if err == nil {
			check("Collect", got, want)
		}
	}
	if e := set.Refusal(67, errors.New("no")); e.Signed != 0 || e.Silent != silent || e.Reason == nil {
		t.Errorf("%+v", e)
	}
	return silent
}

// TestQuorumErrors checks the messages about a missed quorum.
func TestQuorumErrors(t *testing.T) {
	for want, e := range map[string]*signing.QuorumError{
		"a weight of 2 of 3 signs (66.66%), 67% is needed; 1 of 4 validators do not answer (a weight of 1)":                                  {Quorum: 67, Signed: 2, Total: 3, Down: 1, Members: 4, Silent: 1},
		"a weight of 0 of 0 signs (0.00%), 67% is needed; 0 of 0 validators do not answer (a weight of 0)":                                   {Quorum: 67},
		"(a weight of 5); validators without a BLS key, such as inactive ones of an L1, cannot sign (a weight of 1)":                         {Quorum: 67, Total: 100, Silent: 5, Keyless: 1},
		"a weight of 7 of 100 signs (7.00%), 67% is needed; 0 of 0 validators do not answer (a weight of 5); a weight of 95 answers, but no": {Quorum: 67, Signed: 7, Total: 100, Silent: 5, Reason: errors.New("no")},
		"cannot sign (a weight of 3); a weight of 92 answers, but no":                                                                        {Quorum: 67, Signed: 7, Total: 100, Silent: 5, Keyless: 3, Reason: errors.New("no")},
	} {
		if got := e.Error(); !strings.HasPrefix(got, "failed to collect a threshold of signatures: ") || !strings.HasSuffix(got, want) {
			t.Errorf("%+v: %s: want %s", e, got, want)
		}
	}
}

// TestPChainMessagesAreSigned: validators sign the messages of exactly the transactions about L1s whose effects still hold. For registrations and
// conversions, only the justification determines the message.
func TestPChainMessagesAreSigned(t *testing.T) {
	n := network(t)
	height := ok[uint64](t)(n.PHeight(t.Context()))
	var signed, refused int
	for _, kind := range []string{"ConvertSubnetToL1Tx", "RegisterL1ValidatorTx", "SetL1ValidatorWeightTx", "DisableL1ValidatorTx"} {
		for _, row := range ok[[]store.PrimaryTx](t)(n.DB.PrimaryTxsOfType(t.Context(), n.Chain(txs.PChain), kind)) {
			m := ok[*signing.PChainMessage](t)(signing.PChainMessageOf(t.Context(), n, ids.ID(row.Hash)))
			_, event, err := m.Message.L1Message()
			if err != nil {
				t.Fatal(err)
			}
			holds := true
			switch e := event.(type) {
			case *warp.L1ValidatorRegistration:
				v := ok[*store.L1ValidatorView](t)(n.DB.L1Validator(t.Context(), e.ValidationID[:], height))
				holds = e.Registered == (v.Weight > 0)
			case *warp.L1ValidatorWeight:
				v := ok[*store.L1ValidatorView](t)(n.DB.L1Validator(t.Context(), e.ValidationID[:], height))
				holds = uint64(v.Weight) == e.Weight && uint64(v.Nonce) == e.Nonce+1
				for text, changed := range map[string]warp.L1ValidatorWeight{
					"impossible nonce": {ValidationID: e.ValidationID, Nonce: math.MaxUint64, Weight: e.Weight}, "does not exist": {ValidationID: ids.ID{1}, Nonce: e.Nonce, Weight: e.Weight},
					"provided nonce": {ValidationID: e.ValidationID, Nonce: uint64(v.Nonce), Weight: uint64(v.Weight)}, "provided weight": {ValidationID: e.ValidationID, Nonce: uint64(v.Nonce) - 1, Weight: uint64(v.Weight) + 1},
				} {
					if v.Weight > 0 {
						refuses(t, n, &changed, nil, text)
					}
				}
			}
			err = signing.VerifyMessage(t.Context(), n, m.Message, m.Justification)
			if (err == nil) != holds || err != nil && !errors.Is(err, signing.ErrRefused) {
				t.Errorf("%s %x: %v: it holds: %t", kind, row.Hash, err, holds)
			}
			if holds {
				signed++
			} else {
				refused++
			}
			if _, weight := event.(*warp.L1ValidatorWeight); weight || !holds {
				continue
			}
			again := ok[*warp.UnsignedMessage](t)(signing.MessageFromJustification(t.Context(), n, m.Justification))
			if ok[ids.ID](t)(again.ID()) != ok[ids.ID](t)(m.Message.ID()) {
				t.Errorf("%s %x: the justification leads to another message", kind, row.Hash)
			}
		}
	}
	if signed < 5 {
		t.Errorf("only %d messages, and %d that hold no more", signed, refused)
	}
}

func refuses(t *testing.T, n *sim.Network, e warp.L1Message, justification []byte, text string) {
	t.Helper()
	m := ok[*warp.UnsignedMessage](t)(warp.NewL1Message(n.Rules.NetworkID, ids.Empty, nil, e))
	if err := signing.VerifyMessage(t.Context(), n, m, justification); !errors.Is(err, signing.ErrRefused) || !strings.Contains(err.Error(), text) {
		t.Errorf("%+v: %v: want %q", e, err, text)
	}
}

// TestWhatValidatorsRefuse expects avalanchego's words.
func TestWhatValidatorsRefuse(t *testing.T) {
	n := network(t)
	unknown := ids.ID{9}
	refuses(t, n, &warp.SubnetToL1Conversion{ID: unknown}, []byte{1}, "failed to parse justification")
	refuses(t, n, &warp.SubnetToL1Conversion{ID: unknown}, unknown[:], "has not been converted")
	refuses(t, n, &warp.SubnetToL1Conversion{}, ids.Empty[:], "has not been converted")
	refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: unknown, Registered: true}, nil, "does not exist")
	refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: unknown}, []byte{1}, "failed to parse justification")
	other := (&warp.Justification{SubnetID: unknown}).Bytes()
	refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: unknown}, other, "!= justificationID")
	refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: warp.ConversionValidationID(unknown, 0)}, other, "has not been converted")
	height := ok[uint64](t)(n.PHeight(t.Context()))
	for _, v := range ok[[]store.L1ValidatorView](t)(store.L1ValidatorsAt(t.Context(), n.DB, n.Chain(txs.PChain), height)) {
		if v.Weight > 0 {
			refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: ids.ID(v.Validation)}, other, " exists")
		}
	}
	with := ok[*warp.UnsignedMessage](t)(warp.NewL1Message(n.Rules.NetworkID, ids.Empty, []byte{1}, &warp.SubnetToL1Conversion{}))
	if err := signing.VerifyMessage(t.Context(), n, with, nil); err == nil || !strings.Contains(err.Error(), "source address should be empty") {
		t.Errorf("with a sender: %v", err)
	}
	for _, text := range []string{"", "x"} {
		if _, err := signing.MessageFromJustification(t.Context(), n, []byte(text)); !errors.Is(err, signing.ErrRefused) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestARequestThatWasNeverUsed: only from its expiry on do validators confirm that it made nobody a validator.
func TestARequestThatWasNeverUsed(t *testing.T) {
	n := network(t)
	now := uint64(n.Clock.Unix())
	for expiry, signs := range map[uint64]bool{now - 1: true, now: true, now + 1: false, now + 1000: false} {
		request := &warp.RegisterL1Validator{SubnetID: ids.ID{7}, NodeID: make([]byte, ids.NodeIDLen), Expiry: expiry, Weight: 1}
		request.NodeID[0] = 1
		raw := ok[[]byte](t)(warp.L1MessageBytes(request))
		validation := ok[ids.ID](t)(request.ValidationID())
		justification := (&warp.Justification{Request: raw}).Bytes()
		if !signs {
			refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: validation}, justification, "can be registered until")
		}
		m := ok[*warp.UnsignedMessage](t)(warp.NewL1Message(n.Rules.NetworkID, ids.Empty, nil, &warp.L1ValidatorRegistration{ValidationID: validation}))
		if err := signing.VerifyMessage(t.Context(), n, m, justification); (err == nil) != signs {
			t.Errorf("%d seconds before the expiry: %v", int64(expiry-now), err)
		}
		again, err := signing.MessageFromJustification(t.Context(), n, justification)
		if (err == nil) != signs || err != nil && !errors.Is(err, signing.ErrRefused) {
			t.Errorf("%d seconds before the expiry, the justification leads to %v", int64(expiry-now), err)
		}
		if signs && ok[ids.ID](t)(again.ID()) != ok[ids.ID](t)(m.ID()) {
			t.Errorf("the justification leads to another message")
		}
	}
}

// TestValidatorsKnowTheirOwnSubnets: they refuse messages about a subnet that isn't an L1, or about validators of another network, and justify each
// validator of a conversion by its index.
func TestValidatorsKnowTheirOwnSubnets(t *testing.T) {
	var unconverted, foreign, converted int
	for _, n := range network(t).World.Networks {
		for _, subnet := range ok[[]store.SubnetView](t)(n.DB.Subnets(t.Context(), n.Chain(txs.PChain))) {
			if subnet.State.Conversion == nil {
				refuses(t, n, &warp.SubnetToL1Conversion{}, subnet.Hash, "has not been converted")
				if _, err := signing.MessageFromJustification(t.Context(), n, subnet.Hash); !errors.Is(err, signing.ErrRefused) {
					t.Errorf("%x: %v", subnet.Hash, err)
				}
				unconverted++
				continue
			}
			refuses(t, n, &warp.SubnetToL1Conversion{ID: ids.ID{3}}, subnet.Hash, "provided conversionID")
			m := ok[*warp.UnsignedMessage](t)(warp.NewL1Message(n.Rules.NetworkID, ids.Empty, nil, &warp.SubnetToL1Conversion{ID: ids.ID(subnet.State.Conversion)}))
			if err := signing.VerifyMessage(t.Context(), n, m, subnet.Hash); err != nil {
				t.Errorf("%x: %v", subnet.Hash, err)
			}
			again := ok[*warp.UnsignedMessage](t)(signing.MessageFromJustification(t.Context(), n, subnet.Hash))
			if ok[ids.ID](t)(again.ID()) != ok[ids.ID](t)(m.ID()) {
				t.Errorf("%x leads to another message", subnet.Hash)
			}
			converted++
		}
		for _, other := range n.World.Networks {
			height := ok[uint64](t)(other.PHeight(t.Context()))
			for _, v := range ok[[]store.L1ValidatorView](t)(store.L1ValidatorsAt(t.Context(), n.DB, other.Chain(txs.PChain), height)) {
				if other != n && v.Weight > 0 {
					refuses(t, n, &warp.L1ValidatorRegistration{ValidationID: ids.ID(v.Validation), Registered: true}, nil, "does not exist")
					foreign++
				}
			}
		}
	}
	if unconverted == 0 || foreign == 0 || converted == 0 {
		t.Errorf("%d subnets are none of an L1, %d are, and %d validators are of another network", unconverted, converted, foreign)
	}
}

// TestSentMessages: a chain's validators sign its sent messages and the hashes of its blocks, and nothing else in its name.
func TestSentMessages(t *testing.T) {
	n := network(t)
	var blocks int
	for _, c := range n.World.Chains {
		if n.World.NetworkOf(c) != n {
			continue
		}
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := ok[*warp.UnsignedMessage](t)(signing.BlockMessage(t.Context(), n, c, ids.ID(head.Hash)))
		if err := signing.VerifyMessage(t.Context(), n, m, nil); err != nil {
			t.Errorf("block: %v", err)
		}
		blocks++
		if _, err := signing.BlockMessage(t.Context(), n, c, ids.ID{1}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no block: %v", err)
		}
		if _, err := signing.SentMessage(t.Context(), n, c, ids.ID{1}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no message: %v", err)
		}
		for _, payload := range [][]byte{ok[[]byte](t)(warp.HashPayload(ids.ID{1})), []byte("nothing")} {
			m.Payload = payload
			if err := signing.VerifyMessage(t.Context(), n, m, nil); !errors.Is(err, signing.ErrRefused) {
				t.Errorf("%x: %v", payload, err)
			}
		}
	}
	if blocks < 2 {
		t.Errorf("%d chains", blocks)
	}
	// A manager's request that no simulated chain sent is known from the transaction that carries it.
	for _, row := range ok[[]store.PrimaryTx](t)(n.DB.PrimaryTxsOfType(t.Context(), n.Chain(txs.PChain), "RegisterL1ValidatorTx")) {
		tx := ok[*txs.Tx](t)(txs.ParseTx(txs.PChain, row.Bytes))
		m := ok[*warp.Message](t)(warp.ParseMessage(tx.Unsigned.(*txs.RegisterL1ValidatorTx).Message))
		if err := signing.VerifyMessage(t.Context(), n, &m.UnsignedMessage, nil); err != nil {
			t.Errorf("%x: %v", row.Hash, err)
		}
		m.UnsignedMessage.Payload = append([]byte(nil), m.UnsignedMessage.Payload...)
		m.UnsignedMessage.Payload[len(m.UnsignedMessage.Payload)-1] ^= 1
		if err := signing.VerifyMessage(t.Context(), n, &m.UnsignedMessage, nil); !errors.Is(err, signing.ErrRefused) {
			t.Errorf("%x changed: %v", row.Hash, err)
		}
	}
}

// TestTransactionsWithoutMessages: only transactions about L1s have messages.
func TestTransactionsWithoutMessages(t *testing.T) {
	n := network(t)
	if _, err := signing.PChainMessageOf(t.Context(), n, ids.ID{1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	for chain, kind := range map[txs.Chain]string{txs.PChain: "CreateSubnetTx", txs.XChain: "BaseTx"} {
		rows := ok[[]store.PrimaryTx](t)(n.DB.PrimaryTxsOfType(t.Context(), n.Chain(chain), kind))
		if len(rows) == 0 {
			t.Fatalf("no %s", kind)
		}
		_, err := signing.PChainMessageOf(t.Context(), n, ids.ID(rows[0].Hash))
		if !errors.Is(err, signing.ErrNoPChainMessage) || strings.Contains(err.Error(), "X-Chain") != (chain == txs.XChain) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
