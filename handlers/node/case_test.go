package node

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestWorldHoldsTheRareCases requests rare cases from mainnet that a client must handle.
func TestWorldHoldsTheRareCases(t *testing.T) {
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	n := w.Networks[0]
	ask := func(path, method, params string, result any) {
		t.Helper()
		body := send(t, "POST", url+path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
		var reply struct{ Result json.RawMessage }
		if err := json.Unmarshal([]byte(body), &reply); err != nil || reply.Result == nil {
			t.Fatalf("%s: %v %s", method, err, body)
		}
		if err := json.Unmarshal(reply.Result, result); err != nil {
			t.Fatal(err)
		}
	}
	var peers struct {
		Peers []struct {
			IP, PublicIP, NodeID string
			Benched              []string
		}
	}
	ask("/ext/info", "info.peers", `{}`, &peers)
	called, benched := 0, 0
	for _, p := range peers.Peers {
		at, seen := netip.MustParseAddrPort(p.PublicIP), netip.MustParseAddrPort(p.IP)
		if a := at.Addr(); !a.IsGlobalUnicast() || a.IsPrivate() || a.IsMulticast() || a.As4()[0] >= 224 {
			t.Errorf("%s is at %s", p.NodeID, a)
		}
		if at != seen {
			called++
		}
		benched += len(p.Benched)
	}
	if called == 0 || called == len(peers.Peers) || benched == 0 {
		t.Errorf("of %d peers %d called, %d are benched", len(peers.Peers), called, benched)
	}
	subnet, away := ids.Empty, 0
	stakers, err := w.DB.StakersOfNode(t.Context(), n.Chain(txs.PChain), n.LocalNode.Node.Node)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stakers {
		if s.Status == store.StakerActive && ids.ID(s.Subnet) != ids.Empty {
			subnet = ids.ID(s.Subnet)
		}
	}
	var uptime struct{ RewardingStakePercentage, WeightedAveragePercentage string }
	ask("/ext/info", "info.uptime", `{"subnetID":"`+subnet.String()+`"}`, &uptime)
	if subnet == ids.Empty || uptime.WeightedAveragePercentage == "" {
		t.Errorf("the uptime in %s is %+v", subnet, uptime)
	}
	var chains struct {
		Blockchains []struct{ ID, SubnetID string }
	}
	ask("/ext/bc/P", "platform.getBlockchains", `{}`, &chains)
	for _, c := range chains.Blockchains {
		body := send(t, "POST", url+"/ext/bc/"+c.ID+"/validators", `{"jsonrpc":"2.0","id":1,"method":"validators.getCurrentValidators","params":{}}`)
		away += strings.Count(body, `"isConnected":false`)
	}
	if away == 0 {
		t.Error("every validator of every L1 is connected")
	}
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	traveller := personas[slices.IndexFunc(personas, func(p store.Persona) bool { return p.Name == "traveller" })]
	key, err := txs.KeyFromBytes(traveller.Key)
	if err != nil {
		t.Fatal(err)
	}
	var utxos struct{ NumFetched string }
	ask("/ext/bc/X", "avm.getUTXOs", `{"sourceChain":"C","addresses":["X-`+n.Rules.Bech32(key.Address())+`"]}`, &utxos)
	if utxos.NumFetched == "" || utxos.NumFetched == "0" {
		t.Errorf("the traveller has %q outputs of the C-Chain on X", utxos.NumFetched)
	}
}
