package icm_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/rules"
	"snowglobe/sim/warp"
)

func TestSignatureErrorsNameTheField(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	good := hexOf(t, spoken(t, n, n.Rules.CChainID, "x"))
	unsigned := func(network uint32, source ids.ID) string {
		return hexOf(t, &warp.UnsignedMessage{NetworkID: network, SourceChainID: source})
	}
	for _, c := range []struct{ body, says string }{
		{`{}`, "message or justification"},
		{`{"message":"","justification":""}`, "message or justification"},
		{`{"message":"abc"}`, "message has an odd"},
		{`{"message":"0x0"}`, "message has an odd"},
		{`{"message":"0x"}`, "message is empty"},
		{`{"message":"zz"}`, "message is not hexadecimal"},
		{`{"message":"zzz"}`, "message is not hexadecimal"},
		{`{"message":" ` + good + `"}`, "message is not hexadecimal"},
		{`{"message":"0x` + good + `00"}`, "message is not a warp message"},
		{`{"message":"00"}`, "message is not a warp message"},
		{`{"message":"` + unsigned(5, n.Rules.CChainID) + `"}`, "message is for network 5: expected 1"},
		{`{"message":"` + unsigned(1, ids.ID{9}) + `"}`, "message is from blockchain"},
		{`{"message":"` + unsigned(1, rules.Fuji.CChainID) + `"}`, "message is from blockchain"},
		{askFor("message", good, "justification", "0x123"), "justification has an odd"},
		{askFor("message", good, "justification", "xyxy"), "justification is not hexadecimal"},
		{`{"justification":"0001abcd"}`, "justification alone"},
		{`{"justification":"` + strings.Repeat("ab", 32) + `"}`, "justification alone"},
		{askFor("message", good, "signingSubnetId", "nonsense"), "signingSubnetId is not an id"},
		{askFor("message", good, "signingSubnetId", strings.Repeat("a", 63)), "signingSubnetId is not an id"},
		{askFor("message", good, "signingSubnetId", ids.Empty.String()+"x"), "signingSubnetId is not an id"},
		{askFor("message", good, "signingSubnetId", ids.ID{3}.String()), "signingSubnetId " + ids.ID{3}.String() + " is not known"},
		{askFor("message", good, "quorumPercentage", 101), "quorumPercentage"},
		{askFor("message", good, "quorumPercentage", -1), "quorumPercentage"},
		{askFor("message", good, "quorumPercentage", 6.5), "quorumPercentage"},
		{askFor("message", good, "quorumPercentage", "67"), "quorumPercentage"},
		{askFor("message", good, "quorumPercentageBuffer", 101), "quorumPercentageBuffer"},
		{askFor("message", good, "quorumPercentageBuffer", nil), "quorumPercentageBuffer"},
		{askFor("message", good, "quorumPercentage", 60, "quorumPercentageBuffer", 41), "quorumPercentageBuffer 41 add up to more than 100"},
		{askFor("message", good, "pChainHeight", head(t, n)+1), "pChainHeight"},
		{askFor("message", good, "pChainHeight", -1), "pChainHeight"},
		{askFor("message", good, "pChainHeight", "1"), "pChainHeight"},
		{`{"message":"` + good + `","pChainHeight":18446744073709551616}`, "pChainHeight"},
		{`{"message":"` + good + `","pChainHeight":18446744073709551615}`, "pChainHeight"},
		{`{"message":"` + good + `","pChainHeight":1.8446744073709551616e19}`, "pChainHeight 1.8446744073709551616e19 is not allowed"},
		{`{"message":"` + good + `","pChainHeight":1.8446744073709551615e19}`, "pChainHeight 18446744073709551615 is above"},
		{`{"message":"` + good + `","pChainHeight":9007199254740993.0}`, "pChainHeight 9007199254740993 is above"},
		{`{"message":"` + good + `","quorumPercentage":67.5}`, "quorumPercentage 67.5 is not allowed: expected an integer from 0 to 100"},
		{askFor("message", 7), "message 7"},
		{askFor("message", datatest.Object{}), "message"},
		{askFor("message", good, "justification", true), "justification"},
		{askFor("message", good, "signingSubnetId", 5), "signingSubnetId"},
		{`[]`, "the body"},
		{`{"message":`, "not JSON"},
		{``, "empty"},
	} {
		if says := datatest.Encode(g.Post(t, aggregator("mainnet"), c.body, http.StatusBadRequest)["message"]); !strings.Contains(says, c.says) {
			t.Errorf("%.120s says %s: want %q", c.body, says, c.says)
		}
	}
	several := g.Post(t, aggregator("mainnet"), askFor("message", "0", "signingSubnetId", "?", "quorumPercentage", 90, "quorumPercentageBuffer", 90, "pChainHeight", 1e9), http.StatusBadRequest)
	for _, field := range []string{"message", "signingSubnetId", "quorumPercentageBuffer", "pChainHeight"} {
		if !strings.Contains(datatest.Encode(several["message"]), field) {
			t.Errorf("%v does not name %s", several["message"], field)
		}
	}
	g.Post(t, aggregator("devnet"), askFor("message", good), http.StatusBadRequest)
	for path, status := range map[string]int{
		"/" + ids.ID{8}.String(): 404, "/0x" + strings.Repeat("12", 32): 404, "/nonsense": 400, "/" + ids.ID{8}.String() + "a": 400,
	} {
		if says := datatest.Encode(g.Ask(t, aggregator("mainnet")+path, status)["message"]); status == 400 && !strings.Contains(says, "txHash") {
			t.Errorf("%s says %s", path, says)
		}
	}
}

// TestSignaturesReadEveryForm of a message and of a subnet's id.
func TestSignaturesReadEveryForm(t *testing.T) {
	g := datatest.Open(t, 1)
	n := g.Network(t, "mainnet")
	m := hexOf(t, spoken(t, n, n.Rules.CChainID, "forms"))
	raw, _ := hex.DecodeString(m)
	event := fmt.Sprintf("%064x%064x%s%s", 32, len(raw), m, strings.Repeat("00", 31-(len(raw)+31)%32))
	want := g.Post(t, aggregator("mainnet"), askFor("message", m), http.StatusOK)
	for _, body := range []string{
		askFor("message", "0x"+m), askFor("message", strings.ToUpper(m)), askFor("message", event), askFor("message", "0x"+event),
		askFor("message", m, "signingSubnetId", ids.Empty.String()), askFor("message", m, "signingSubnetId", ids.Empty.Hex()),
		askFor("message", m, "signingSubnetId", "0x"+ids.Empty.Hex()), askFor("message", m, "quorumPercentage", 67),
		askFor("message", m, "quorumPercentage", 0), askFor("message", m, "pChainHeight", 0), askFor("message", m, "pChainHeight", head(t, n)),
		askFor("message", m, "justification", "abcd"), askFor("message", m, "justification", ""),
		`{"message":"` + m + `","quorumPercentage":67.0,"quorumPercentageBuffer":0.0,"pChainHeight":0e0}`,
		fmt.Sprintf(`{"message":"%s","quorumPercentage":6.7e1,"pChainHeight":%d.0}`, m, head(t, n)),
	} {
		if have := g.Post(t, aggregator("mainnet"), body, http.StatusOK); datatest.Encode(have) != datatest.Encode(want) {
			t.Errorf("%s is signed otherwise", body)
		}
	}
}

// TestAnOmittedQuorumCountsAsItsDefault: the error for what both add up to names it.
func TestAnOmittedQuorumCountsAsItsDefault(t *testing.T) {
	g := datatest.Open(t, 1)
	const message = `"message":"0x0000000000010427d4b22a2a78bcddd456742caf91b56badbff985ee19aef14573e7343fd6520000002700000000000100000014f39fd6e51aad88f6f4ce6ab8827279cfffb922660000000568656c6c6f"`
	if text := datatest.Encode(g.Post(t, "/v1/signatureAggregator/mainnet/aggregateSignatures", `{`+message+`,"quorumPercentageBuffer":34}`, 400)); !strings.Contains(text, "67 and quorumPercentageBuffer 34 add up to more than 100") {
		t.Error(text)
	}
}
