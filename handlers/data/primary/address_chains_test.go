package primary_test

import (
	"context"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/txs"
)

func TestChainInteractions(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		personas, err := g.DB.Personas(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range personas {
			if len(p.Key) == 0 || p.Name != "traveller" && p.Name != "nobody" {
				continue
			}
			key, err := txs.KeyFromBytes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			address := n.Rules.Bech32(key.Address())
			list := g.Get(t, "/v1/networks/"+network+"/addresses:listChainIds?addresses=X-"+address+","+address+"&addresses=P-"+address)["addresses"].([]any)
			if p.Name == "nobody" {
				if len(list) != 1 || len(datatest.Dig(list, 0, "blockchainIds").([]any)) != 0 {
					t.Errorf("nobody was seen: %v", list)
				}
				continue
			}
			want := []any{ids.Empty.String(), n.Rules.XChainID.String(), n.Rules.CChainID.String()}
			if len(list) != 1 || datatest.Dig(list, 0, "address") != address || datatest.Encode(datatest.Dig(list, 0, "blockchainIds")) != datatest.Encode(want) {
				t.Errorf("traveller was on %v", list)
			}
		}
	}
}
