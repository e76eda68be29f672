package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// TestValidatorsAgreeWithThePlatform asks every chain outside the primary network for its validators and compares them with the subnet's on the
// P-Chain. A disabled L1 validator stays listed.
func TestValidatorsAgreeWithThePlatform(t *testing.T) {
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	l1, permissioned, inactive := 0, 0, 0
	for i, n := range w.Networks {
		connected := send(t, http.MethodPost, url+"/"+n.Name+"/ext/info", `{"jsonrpc":"2.0","id":1,"method":"info.peers"}`) + n.LocalNode.ID().String()
		chains, err := w.DB.Blockchains(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chains {
			if ids.ID(c.Subnet) == ids.Empty {
				continue
			}
			listed := current(t, url+"/"+n.Name+"/ext/bc/"+ids.ID(c.Hash).String()+"/validators", "validators", `{}`)
			if got := current(t, url+"/ext/bc/"+ids.ID(c.Hash).String()+"/validators", "validators", `{}`); len(got) != len(listed) {
				t.Errorf("%s: %d validators without a network in the path, %d with it", c.Name, len(got), len(listed))
			}
			other := url + "/" + w.Networks[(i+1)%len(w.Networks)].Name + "/ext/bc/" + ids.ID(c.Hash).String() + "/validators"
			if got := send(t, http.MethodPost, other, `{}`); got != "404 page not found" {
				t.Errorf("%s is found on another network: %s", c.Name, got)
			}
			platform := current(t, url+"/"+n.Name+"/ext/bc/P", "platform", `{"subnetID":"`+ids.ID(c.Subnet).String()+`"}`)
			if len(listed) != len(platform) {
				t.Errorf("%s: %d validators, the P-Chain has %d", c.Name, len(listed), len(platform))
			}
			for id, v := range listed {
				if v.IsConnected != strings.Contains(connected, v.NodeID) {
					t.Errorf("%s is connected: %v, and info.peers differs", v.NodeID, v.IsConnected)
				}
				if p, found := platform[id]; !found || p.NodeID != v.NodeID {
					t.Errorf("%s: %s is %+v on the P-Chain", c.Name, id, p)
				}
				switch {
				case !v.IsL1Validator:
					permissioned++
				case !v.IsActive:
					inactive++
				default:
					l1++
				}
			}
		}
	}
	if l1 == 0 || inactive == 0 {
		t.Errorf("%d active and %d inactive L1 validators, %d of permissioned subnets", l1, inactive, permissioned)
	}
}

type seen struct {
	NodeID                  string
	IsActive, IsL1Validator bool
	IsConnected             bool
}

// current returns the validators that a service lists, by validation or transaction id.
func current(t *testing.T, url, service, params string) map[string]seen {
	t.Helper()
	text := send(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":1,"method":"`+service+`.getCurrentValidators","params":`+params+`}`)
	var answer struct {
		Result struct {
			Validators []struct {
				seen
				ValidationID, TxID string
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	all := map[string]seen{}
	for _, v := range answer.Result.Validators {
		all[v.ValidationID+v.TxID] = v.seen
	}
	return all
}
