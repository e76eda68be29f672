package metrics_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// wasteful lists steps that read more than an answer holds; few, the small tables that are read completely; recursion, the steps of a WITH RECURSIVE.
var (
	wasteful  = regexp.MustCompile(`^SCAN |TEMP B-TREE|MULTI-INDEX`)
	few       = regexp.MustCompile(`FROM (chain|persona|primary_network)\b`)
	recursion = regexp.MustCompile(`^SCAN (CONSTANT ROW|found)$`)
)

// TestNoStatementScansATable checks the query plan of every statement that the operations prepared.
func TestNoStatementScansATable(t *testing.T) {
	w := generate(t, "tiny", 1)
	s := serve(t, w)
	w.Clock.Set(w.Clock.Now().Add(1e9 * 3600 * 24))
	for _, metric := range everyMetric {
		everyPoint(t, s, "total", metric, "day", 3)
		get(t, s, "/v2/chains/43114/metrics/"+metric+"?endTimestamp=9999999999")
		get(t, s, "/v2/chains/43114/rollingWindowMetrics/"+metric)
	}
	everyDay(t, s, "/v2/networks/fuji/metrics/validatorCount?endTimestamp=9999999999&", 3)
	v := readChain(t, w.Networks[0]).members[0]
	for _, target := range []string{"/validators/metrics/totalValidatorFeesDaily", "/validation/" + ids.ID(v.Validation).String() + "/metrics/validationFeesDaily",
		"/validator/" + ids.NodeID(v.Node).String() + "/metrics/perNodeDailyFeesPaid", "/subnet/" + ids.ID(v.Subnet).String() + "/metrics/perSubnetDailyFeesPaid"} {
		get(t, s, "/v2"+target)
	}
	get(t, s, "/v2/icm/timeseries?groupBy=srcBlockchainId&network=mainnet&timeInterval=week")
	get(t, s, "/v2/icm/summary")
	get(t, s, "/v2/chains/43114/btcb/bridged:getAddresses?threshold=0")
	get(t, s, "/v2/subnets/"+ids.ID(v.Subnet).String()+"/validators:getAddresses")
	find(t, s, "AND", 10, condition("n", "LatestBalance", `"evmChainId":"43114","tokenType":"NATIVE","minBalance":"1"`))
	tokens, err := w.DB.Tokens(t.Context(), w.Chains[0].Row.ID, store.ERC20, 0)
	if err != nil || len(tokens) == 0 {
		t.Fatal(tokens, err)
	}
	find(t, s, "AND", 10, condition("t", "LatestBalance", fmt.Sprintf(`"evmChainId":"43114","tokenType":"ERC20","minBalance":"1","contractAddress":"0x%x"`, tokens[0].Address)))
	for _, text := range w.DB.Statements() {
		plan, err := w.DB.Explain(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range plan {
			if wasteful.MatchString(step) && !few.MatchString(text) && !recursion.MatchString(step) {
				t.Errorf("%s in\n%s\n%q", step, text, plan)
			}
		}
	}
}
