package seed_test

import (
	"math"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// shore is one network of a world, as a test sees it.
type shore struct {
	*testing.T
	w      *sim.World
	p, x   int
	nodes  map[string]store.Node
	people map[string][]byte // addresses on P and X
}

func shores(t *testing.T, w *sim.World) []*shore {
	var all []*shore
	for i, n := range w.Networks {
		s := &shore{T: t, w: w, p: store.PrimaryChain(i, store.PChain), x: store.PrimaryChain(i, store.XChain), nodes: map[string]store.Node{}, people: map[string][]byte{}}
		for _, node := range must(w.DB.Nodes(t.Context(), n.Rules.NetworkID))(t) {
			s.nodes[node.Role] = node
		}
		for _, p := range must(w.DB.Personas(t.Context()))(t) {
			address := must(txs.KeyFromBytes(p.Key))(t).Address()
			s.people[p.Name] = address[:]
		}
		all = append(all, s)
	}
	return all
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (s *shore) unspent(who string, chain int) []store.UTXO {
	return must(s.w.DB.UnspentUTXOs(s.Context(), s.people[who], chain, chain, math.MaxInt64, 10_000))(s)
}

func (s *shore) touched(who string, chain int) []store.Position {
	return must(s.w.DB.ActivityOf(s.Context(), chain, s.people[who], math.MaxInt64, 10_000))(s)
}

func (s *shore) validator(role string) store.Staker {
	rows := must(s.w.DB.StakersOfNode(s.Context(), s.p, s.nodes[role].Node))(s)
	if len(rows) == 0 {
		s.Fatalf("no node is %s", role)
	}
	return rows[0]
}
