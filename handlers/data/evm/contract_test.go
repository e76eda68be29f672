package evm_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
)

// TestDeploymentsSayWhatTheSpecificationLists: in the specification's dialect a transaction has both ids of its message and fees of every type; the
// live service names only the other chain, and fees of type 2.
func TestDeploymentsSayWhatTheSpecificationLists(t *testing.T) {
	g := datatest.Open(t, 1)
	seen := map[string]int{}
	for _, c := range g.Chains {
		contracts, err := g.DB.Contracts(t.Context(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range contracts {
			path := "/v1/chains/" + strconv.Itoa(int(c.Row.EVMID)) + "/contracts/" + common.BytesToAddress(row.Address).Hex() + "/transactions:getDeployment"
			if _, err := g.DB.Deployment(t.Context(), c.Row.ID, row.Address); errors.Is(err, store.ErrNotFound) {
				if text := datatest.Encode(g.Ask(t, path, 404)); !strings.Contains(text, "is part of the genesis") {
					t.Errorf("%s: %s", path, text)
				}
				seen["genesis"]++
				continue
			}
			spec, live := g.Get(t, path), g.Get(t, "/upstream"+path)
			if datatest.Dig(spec, "nativeTransaction", "maxFeePerGas") == nil || datatest.Dig(spec, "nativeTransaction", "maxPriorityFeePerGas") == nil {
				t.Errorf("%s has no fees: %v", path, spec["nativeTransaction"])
			}
			if two := datatest.Integer(datatest.Dig(live, "nativeTransaction", "txType")) == 2; two != (datatest.Dig(live, "nativeTransaction", "maxFeePerGas") != nil) {
				t.Errorf("%s is of type 2: %v, and has fees upstream: %v", path, two, !two)
			}
			if datatest.Dig(spec, "teleporterMessageInfo") == nil {
				continue
			}
			seen["message"]++
			if datatest.Dig(spec, "teleporterMessageInfo", "sourceChainId") == nil || datatest.Dig(spec, "teleporterMessageInfo", "destinationChainId") == nil ||
				datatest.Dig(live, "teleporterMessageInfo", "sourceChainId") != nil {
				t.Errorf("%s: %v, upstream %v", path, spec["teleporterMessageInfo"], live["teleporterMessageInfo"])
			}
		}
	}
	if seen["genesis"] == 0 || seen["message"] == 0 {
		t.Errorf("only %v", seen)
	}
}

// TestHiddenTokensAreMalicious requests the tokens that the filter hides, on every chain, with the reason.
func TestHiddenTokensAreMalicious(t *testing.T) {
	g := datatest.Open(t, 1)
	hidden := 0
	personas, err := g.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Chains {
		for _, p := range personas {
			path := "/v1/chains/" + strconv.Itoa(int(c.Row.EVMID)) + "/addresses/" + common.BytesToAddress(p.Address).Hex() + "/balances:listErc20?pageSize=500"
			shown := map[any]bool{}
			for _, b := range datatest.Objects(g.Get(t, path)["erc20TokenBalances"]) {
				shown[b["address"]] = true
			}
			for _, b := range datatest.Objects(g.Get(t, path+"&filterSpamTokens=false")["erc20TokenBalances"]) {
				if !shown[b["address"]] {
					hidden++
				}
				if shown[b["address"]] == (b["tokenReputation"] == "Malicious") {
					t.Errorf("%v on %s is shown: %v, with the reputation %v", b["address"], c.Row.Name, shown[b["address"]], b["tokenReputation"])
				}
			}
		}
	}
	if hidden == 0 {
		t.Error("nothing is hidden")
	}
}

// TestDeploymentsThatMintAndCallcode are named by their roles.
func TestDeploymentsThatMintAndCallcode(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		for role, list := range map[string]string{"launched-collection": "erc721Transfers", "launched-items": "erc1155Transfers"} {
			address := g.Contract(t, c, role)
			d := g.Get(t, datatest.Path(c, "contracts", address, "transactions:getDeployment"))
			transfers, _ := d[list].([]any)
			if len(transfers) != 1 {
				t.Errorf("chain %d: the deployment of %s has %v", c.Row.EVMID, role, transfers)
			}
		}
		found := false
		for _, one := range g.Pages(t, datatest.Path(c, "addresses", g.Contract(t, c, "splitter"), "transactions:listInternals"), "transactions", 100) {
			found = found || strings.Contains(datatest.Encode(one), "CALLCODE") || strings.Contains(datatest.Encode(one), "CALL_CODE")
		}
		if !found {
			t.Errorf("chain %d: no CALLCODE", c.Row.EVMID)
		}
	}
}
