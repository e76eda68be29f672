package icm_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

func aggregator(network string) string {
	return "/v1/signatureAggregator/" + network + "/aggregateSignatures"
}

// askFor returns the body of a request; the fields come in pairs.
func askFor(fields ...any) string {
	o := datatest.Object{}
	for i := 0; i < len(fields); i += 2 {
		o[fields[i].(string)] = fields[i+1]
	}
	return datatest.Encode(o)
}

func spoken(t testing.TB, n *sim.Network, source ids.ID, text string) *warp.UnsignedMessage {
	t.Helper()
	payload, err := warp.AddressedCall(bytes.Repeat([]byte{7}, 20), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &warp.UnsignedMessage{NetworkID: n.Rules.NetworkID, SourceChainID: source, Payload: payload}
}

func hexOf(t testing.TB, m *warp.UnsignedMessage) string {
	t.Helper()
	raw, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(raw)
}

func signedBy(t testing.TB, answer datatest.Object) *warp.Message {
	t.Helper()
	raw, err := hex.DecodeString(answer["signedMessage"].(string))
	if err != nil {
		t.Fatal(err)
	}
	m, err := warp.ParseMessage(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// setAt returns a subnet's canonical set, computed from the rows.
func setAt(t testing.TB, n *sim.Network, subnet ids.ID, height uint64) *warp.CanonicalValidatorSet {
	t.Helper()
	all, err := n.ValidatorsAt(context.Background(), subnet, height)
	if err != nil {
		t.Fatal(err)
	}
	var validators []warp.Validator
	for _, w := range all {
		v := warp.Validator{NodeID: w.Node, Weight: w.Weight}
		if w.Key != nil {
			if v.PublicKey, err = warp.ParsePublicKey(w.Key); err != nil {
				t.Fatal(err)
			}
		}
		validators = append(validators, v)
	}
	set, err := warp.NewCanonicalValidatorSet(validators)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func head(t testing.TB, n *sim.Network) uint64 {
	t.Helper()
	height, err := n.PHeight(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return height
}

// answering returns the share of a set's weight whose nodes are up, in percent, rounded down.
func answering(t testing.TB, network *sim.Network, set *warp.CanonicalValidatorSet) uint64 {
	t.Helper()
	nodes, err := network.DB.Nodes(context.Background(), network.Rules.NetworkID)
	if err != nil {
		t.Fatal(err)
	}
	up := map[ids.NodeID]bool{}
	for _, n := range nodes {
		up[ids.NodeID(n.Node)] = n.Connected
	}
	weight := uint64(0)
	for _, m := range set.Validators {
		if up[m.NodeIDs[0]] {
			weight += m.Weight
		}
	}
	return weight * 100 / set.TotalWeight
}

// sources returns the blockchains of a network that send messages, with the subnets that validate them.
func sources(t testing.TB, n *sim.Network) map[ids.ID]ids.ID {
	t.Helper()
	all := map[ids.ID]ids.ID{ids.Empty: ids.Empty, n.Rules.XChainID: ids.Empty, n.Rules.CChainID: ids.Empty}
	rows, err := n.DB.Blockchains(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		all[ids.ID(row.Hash)] = ids.ID(row.Subnet)
	}
	return all
}

func TestSignaturesVerifyForEveryChain(t *testing.T) {
	for _, number := range []int64{1, 2, 3}[:datatest.Times(t, 3)] {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			n := g.Network(t, network)
			for source, subnet := range sources(t, n) {
				last := head(t, n)
				for _, height := range []uint64{0, last, last - 1, last * 3 / 4} {
					at := height
					if height == 0 {
						at = last
					}
					testQuorums(t, g, n, spoken(t, n, source, fmt.Sprint(height)), subnet, height, setAt(t, n, subnet, at))
				}
			}
		}
	}
}

// testQuorums requests several quorums: each is reached if enough validators answer.
func testQuorums(t *testing.T, g *datatest.Globe, n *sim.Network, m *warp.UnsignedMessage, subnet ids.ID, height uint64, set *warp.CanonicalValidatorSet) {
	t.Helper()
	if set.TotalWeight == 0 {
		g.Post(t, aggregator(n.Name), askFor("message", hexOf(t, m), "pChainHeight", height), http.StatusBadRequest)
		return
	}
	most := answering(t, n, set)
	for _, q := range []struct{ quorum, buffer uint64 }{{1, 0}, {33, 20}, {50, 50}, {67, 0}, {67, 33}, {100, 0}} {
		body := askFor("message", "0x"+hexOf(t, m), "quorumPercentage", q.quorum, "quorumPercentageBuffer", q.buffer, "pChainHeight", height, "signingSubnetId", subnet.String())
		if q.quorum > most {
			says := g.Post(t, aggregator(n.Name), body, http.StatusServiceUnavailable)["message"].(string)
			for _, part := range []string{"threshold of signatures", "signature weight is insufficient", fmt.Sprintf("(%d.", most), fmt.Sprintf("%d%% is needed", q.quorum)} {
				if !strings.Contains(says, part) {
					t.Errorf("quorum %d of %d%%: %s does not say %q", q.quorum, most, says, part)
				}
			}
			testSum(t, says, set)
			continue
		}
		signed := signedBy(t, g.Post(t, aggregator(n.Name), body, http.StatusOK))
		if signed.UnsignedMessage.SourceChainID != m.SourceChainID || !bytes.Equal(signed.Payload, m.Payload) {
			t.Fatalf("another message: %+v", signed)
		}
		if err := signed.Verify(n.Rules.NetworkID, set, min(q.quorum+q.buffer, most), 100); err != nil {
			t.Errorf("quorum %d+%d of %d%% at height %d: %v", q.quorum, q.buffer, most, height, err)
		}
	}
}

// testSum adds up the weights in the message about a missed quorum: who signs, who is down, and who has no key.
func testSum(t *testing.T, says string, set *warp.CanonicalValidatorSet) {
	t.Helper()
	keyless := set.TotalWeight
	for _, m := range set.Validators {
		keyless -= m.Weight
	}
	weight := func(shape string) uint64 {
		found := regexp.MustCompile(shape).FindStringSubmatch(says)
		if found == nil {
			return 0
		}
		return digits(t, found[1])
	}
	signed, down, without := weight(`a weight of (\d+) of \d+ signs`), weight(`do not answer \(a weight of (\d+)\)`), weight(`cannot sign \(a weight of (\d+)\)`)
	if without != keyless || signed+down+without != set.TotalWeight {
		t.Errorf("%d without a key of %d: %s", keyless, set.TotalWeight, says)
	}
}

// TestMissedQuorumsNameTheKeyless: in an L1 with inactive validators, the quorum is missed even if all others sign.
func TestMissedQuorumsNameTheKeyless(t *testing.T) {
	tested := 0
	for _, network := range datatest.Networks {
		g := datatest.Open(t, 1)
		n := g.Network(t, network)
		for source, subnet := range sources(t, n) {
			set := setAt(t, n, subnet, head(t, n))
			if set.TotalWeight == 0 || answering(t, n, set) == 100 {
				continue
			}
			body := askFor("message", hexOf(t, spoken(t, n, source, "all")), "quorumPercentage", 100)
			says := g.Post(t, aggregator(network), body, http.StatusServiceUnavailable)["message"].(string)
			testSum(t, says, set)
			if strings.Contains(says, "without a BLS key") {
				tested++
			}
		}
	}
	if tested == 0 {
		t.Error("no subnet has a validator without a key")
	}
}

// TestWeightChangesDecideWhoSigns compares the sets on both sides of every block that changed the weight of an L1 validator.
func TestWeightChangesDecideWhoSigns(t *testing.T) {
	g := datatest.Open(t, 1)
	tested := 0
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		for source, subnet := range sources(t, n) {
			if subnet == ids.Empty {
				continue
			}
			for h := uint64(1); h <= head(t, n); h++ {
				before, after := setAt(t, n, subnet, h-1), setAt(t, n, subnet, h)
				if before.TotalWeight == 0 || before.TotalWeight == after.TotalWeight {
					continue
				}
				m := spoken(t, n, source, fmt.Sprint("change ", h))
				testQuorums(t, g, n, m, subnet, h-1, before)
				testQuorums(t, g, n, m, subnet, h, after)
				tested++
			}
		}
	}
	if tested == 0 {
		t.Error("no weight changed")
	}
}

func TestSignaturesRefuseWhatIsTampered(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	m := spoken(t, n, n.Rules.CChainID, "hello")
	answer := g.Post(t, aggregator("testnet"), askFor("message", hexOf(t, spoken(t, g.Network(t, "fuji"), rules.Fuji.CChainID, "hello"))), http.StatusOK)
	if signedBy(t, answer).NetworkID != 5 {
		t.Error("testnet is not fuji")
	}
	signed := signedBy(t, g.Post(t, aggregator("mainnet"), askFor("message", hexOf(t, m)), http.StatusOK))
	set := setAt(t, n, ids.Empty, head(t, n))
	places, err := warp.SignerIndices(signed.Signature.Signers)
	if err != nil {
		t.Fatal(err)
	}
	silent := 0 // a validator that did not sign
	for slices.Contains(places, silent) {
		silent++
	}
	if silent == len(set.Validators) {
		t.Fatal("all validators sign")
	}
	for name, tamper := range map[string]func(){
		"bit":    func() { signed.Signature.Signers = warp.SignerBits(places[1:]) },
		"weight": func() { set.Validators[places[0]].Weight = 1; set.TotalWeight *= 2 },
		"order": func() {
			set.Validators[places[0]], set.Validators[silent] = set.Validators[silent], set.Validators[places[0]]
		},
	} {
		tamper()
		if signed.Verify(1, set, 67, 100) == nil {
			t.Errorf("a wrong %s passes", name)
		}
		signed.Signature.Signers, set = warp.SignerBits(places), setAt(t, n, ids.Empty, head(t, n))
		if err := signed.Verify(1, set, 67, 100); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatementsOfTransactions requests the message of every P-Chain transaction.
func TestStatementsOfTransactions(t *testing.T) {
	seen := map[string]int{}
	for number := int64(1); number <= 2; number++ {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			n := g.Network(t, network)
			for h := uint64(1); h <= head(t, n); h++ {
				rows, err := n.DB.PrimaryTxs(context.Background(), store.At(n.Chain(txs.PChain), h, 0))
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					testStatement(t, g, n, row, seen)
				}
			}
		}
	}
	for _, kind := range []string{"ConvertSubnetToL1Tx", "RegisterL1ValidatorTx", "SetL1ValidatorWeightTx", "DisableL1ValidatorTx", "IncreaseL1ValidatorBalanceTx", "other"} {
		if seen[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
}

func testStatement(t *testing.T, g *datatest.Globe, n *sim.Network, row store.PrimaryTx, seen map[string]int) {
	t.Helper()
	path := aggregator(n.Name) + "/" + ids.ID(row.Hash).String()
	var want func(warp.L1Message) bool
	switch row.Type {
	case "ConvertSubnetToL1Tx":
		want = func(e warp.L1Message) bool { _, ok := e.(*warp.SubnetToL1Conversion); return ok }
	case "RegisterL1ValidatorTx", "DisableL1ValidatorTx":
		want = func(e warp.L1Message) bool { r, ok := e.(*warp.L1ValidatorRegistration); return ok && r.Registered }
	case "SetL1ValidatorWeightTx":
		want = func(e warp.L1Message) bool {
			r, gone := e.(*warp.L1ValidatorRegistration)
			w, ok := e.(*warp.L1ValidatorWeight)
			return gone && !r.Registered || ok && w.Weight > 0
		}
	default:
		if seen[row.Type]++; seen[row.Type] == 1 {
			seen["other"]++
			says := g.Ask(t, path, http.StatusBadRequest)["message"].(string)
			if !strings.Contains(says, row.Type) || !strings.Contains(says, "txHash") || !strings.Contains(says, "SetL1ValidatorWeightTx") {
				t.Errorf("%s: %s", row.Type, says)
			}
		}
		return
	}
	statement, err := signing.PChainMessageOf(context.Background(), n, ids.ID(row.Hash))
	if err != nil {
		t.Fatalf("%s: %v", row.Type, err)
	}
	set := setAt(t, n, statement.Subnet, head(t, n))
	if answering(t, n, set) < 67 {
		g.Ask(t, path, http.StatusServiceUnavailable)
		return
	}
	seen[row.Type]++
	signed := signedBy(t, g.Get(t, path))
	if err := signed.Verify(n.Rules.NetworkID, set, 67, 100); err != nil {
		t.Errorf("%s: %v", row.Type, err)
	}
	if sender, e, err := signed.L1Message(); err != nil || len(sender) > 0 || signed.SourceChainID != ids.Empty || !want(e) {
		t.Errorf("%s: %x says %+v, %v", row.Type, sender, e, err)
	}
}

// TestLongMessagesAreSigned: up to the largest message that a body can hold.
func TestLongMessagesAreSigned(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	const header = 2 + 4 + 32 + 4
	for _, size := range []int{24 << 10, 256<<10 - header - 100, 256<<10 - header, 256 << 10, 511 << 10} {
		m := &warp.UnsignedMessage{NetworkID: 1, SourceChainID: n.Rules.CChainID, Payload: bytes.Repeat([]byte{1}, size)}
		signed := signedBy(t, g.Post(t, aggregator("mainnet"), askFor("message", hexOf(t, m)), http.StatusOK))
		if err := signed.Verify(1, setAt(t, n, ids.Empty, head(t, n)), 67, 100); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestAggregatorSpeaksBothDialects: 200 by the specification, 201 to the published SDKs.
func TestAggregatorSpeaksBothDialects(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	g.Post(t, "/upstream"+aggregator("mainnet"), askFor("message", hexOf(t, spoken(t, n, n.Rules.CChainID, "x"))), http.StatusCreated)
	rows, err := n.DB.PrimaryTxsOfType(context.Background(), n.Chain(txs.PChain), "ConvertSubnetToL1Tx")
	if err != nil {
		t.Fatal(err)
	}
	g.Ask(t, "/upstream"+aggregator("mainnet")+"/"+ids.ID(rows[0].Hash).String(), http.StatusCreated)
}
