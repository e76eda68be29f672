package primary

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestOutputsAreGatheredAsAModelDoes adds, removes and gathers outputs of several owners at random, beside a plain list.
func TestOutputsAreGatheredAsAModelDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	one, other := txs.NewOwner(ids.ShortID{1}), txs.NewOwner(ids.ShortID{2})
	owners := []txs.OutputOwners{one, other, txs.NewOutputOwners(0, 2, ids.ShortID{1}, ids.ShortID{2}), txs.NewOutputOwners(7, 1, ids.ShortID{1}), txs.NewOutputOwners(0, 1, ids.ShortID{1}, ids.ShortID{3})}
	set, model := utxoSet{}, map[int][]*txs.UTXO{}
	seen := map[string]int{}
	for i := range 6000 {
		who := r.IntN(len(owners))
		key := utxoKeyOf(store.XChain, store.PChain, ids.ID{9}, (*txs.TransferOutput)(nil), &owners[who])
		switch draw := r.IntN(10); {
		case draw < 5:
			u := &txs.UTXO{UTXOID: txs.UTXOID{OutputIndex: uint32(i)}, AssetID: ids.ID{9}, Out: &txs.TransferOutput{Amount: 1 + r.Uint64N(1000), OutputOwners: owners[who]}}
			set.add(store.XChain, store.PChain, u)
			model[who] = append(model[who], u)
		case draw < 8 && len(model[who]) > 0:
			n := r.IntN(len(model[who]))
			set.remove(store.XChain, store.PChain, model[who][n])
			model[who] = slices.Delete(model[who], n, n+1)
		default:
			checkGathered(t, set, key, model[who], r.Uint64N(40_000), seen)
		}
		if !slices.Equal(set[key], model[who]) {
			t.Fatalf("after %d steps %d outputs are held: want %d", i, len(set[key]), len(model[who]))
		}
	}
	for _, kind := range []string{"enough", "too little", "the largest"} {
		if seen[kind] == 0 {
			t.Errorf("nothing was %s: %v", kind, seen)
		}
	}
	all := utxoKeyOf(store.XChain, store.PChain, ids.ID{9}, (*txs.TransferOutput)(nil), &one)
	if chosen, sum, enough := set.gather(all, math.MaxUint64); enough || len(chosen) != min(60, len(model[0])) || sum != sumOf(chosen) {
		t.Errorf("of everything, %d are %d: %v", len(chosen), sum, enough)
	}
	if chosen, _, enough := set.gather(all, 0); len(chosen) != 1 || !enough {
		t.Errorf("of nothing, %d outputs are enough: %v", len(chosen), enough)
	}
	none := utxoKeyOf(store.PChain, store.PChain, ids.ID{9}, (*txs.TransferOutput)(nil), &one)
	if chosen, sum, enough := set.gather(none, 0); enough || chosen != nil || sum != 0 {
		t.Errorf("of no outputs, %d are enough", len(chosen))
	}
	for _, differs := range []utxoKey{utxoKeyOf(store.XChain, store.XChain, ids.ID{9}, (*txs.TransferOutput)(nil), &one), utxoKeyOf(store.XChain, store.PChain, ids.ID{8}, (*txs.TransferOutput)(nil), &one),
		utxoKeyOf(store.XChain, store.PChain, ids.ID{9}, (*txs.MintOutput)(nil), &one)} {
		if len(set[differs]) > 0 {
			t.Errorf("%+v holds outputs", differs)
		}
	}
}

// checkGathered expects the newest outputs, as few as suffice; if sixty of them do not suffice, the largest.
func checkGathered(t *testing.T, set utxoSet, key utxoKey, held []*txs.UTXO, want uint64, seen map[string]int) {
	t.Helper()
	chosen, sum, enough := set.gather(key, want)
	total := uint64(0)
	for _, u := range chosen {
		total += u.Amount()
	}
	sorted := slices.SortedFunc(slices.Values(held), func(a, b *txs.UTXO) int { return int(b.Amount()) - int(a.Amount()) })
	most := sumOf(sorted[:min(60, len(sorted))])
	if sum != total || enough != (len(held) > 0 && most >= want) || len(chosen) > 60 {
		t.Fatalf("%d of %d outputs are %d, really %d, enough for %d: %v", len(chosen), len(held), sum, total, want, enough)
	}
	if enough && len(chosen) > 1 && sum-chosen[len(chosen)-1].Amount() >= want {
		t.Fatalf("%d outputs are more than %d needs", len(chosen), want)
	}
	newest := slices.Clone(held)
	slices.Reverse(newest)
	switch {
	case !enough:
		seen["too little"]++
	case slices.Equal(chosen, newest[:len(chosen)]):
		seen["enough"]++
	case len(held) > 60 && sumOf(newest[:60]) < want && slices.IsSortedFunc(chosen, func(a, b *txs.UTXO) int { return int(b.Amount()) - int(a.Amount()) }) && chosen[0].Amount() == sorted[0].Amount():
		seen["the largest"]++
	default:
		t.Fatalf("for %d, neither the newest nor the largest outputs are chosen", want)
	}
}

// TestNodesAreOnTheInternet: their addresses are those that anybody could have.
func TestNodesAreOnTheInternet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	first := map[byte]bool{}
	for range 50_000 {
		ip := publicAddress(r)
		b := ip.As4()
		first[b[0]] = true
		if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || b[0] == 0 || b[0] >= 224 || b[3] == 0 || b[3] == 255 {
			t.Fatalf("%s is no node's address", ip)
		}
		for _, block := range []string{"100.64.0.0/10", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "192.0.0.0/24"} {
			if netip.MustParsePrefix(block).Contains(ip) {
				t.Fatalf("%s is reserved", ip)
			}
		}
	}
	if len(first) != 221 {
		t.Errorf("the addresses begin with %d numbers: want all but 0, 10 and 127 below 224", len(first))
	}
}

// TestNodesAreMadeOfTheirNumber makes some twice.
func TestNodesAreMadeOfTheirNumber(t *testing.T) {
	a, err := newNodes(7, 1, 20, 13)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newNodes(7, 1, 20, 13)
	if err != nil {
		t.Fatal(err)
	}
	countries := map[string]bool{}
	disconnected := 0
	for i, n := range a.all {
		if n.id != b.all[i].id || n.row.IP != b.all[i].row.IP || n.row.City != b.all[i].row.City || a.byID[n.id] != n {
			t.Errorf("node %d is another the second time", i)
		}
		if (i >= 20) != slices.Contains(a.ofL1, n) {
			t.Errorf("node %d validates an L1: %v", i, i < 20)
		}
		host, err := netip.ParseAddrPort(n.row.IP)
		if err != nil || host.Port() != 9651 || n.row.Uptime < 920_000 || n.row.Uptime > 1_000_000 || n.row.Network != 1 || !slices.Contains(versions, n.row.Version) {
			t.Errorf("node %d is %+v: %v", i, n.row, err)
		}
		at := slices.IndexFunc(places, func(p struct {
			country, code, ending string
			latitude, longitude   int64
		}) bool {
			return p.code == n.row.Code && p.country == n.row.Country
		})
		if p := places[at]; n.row.City[len(n.row.City)-len(p.ending):] != p.ending || max(n.row.Latitude-p.latitude, p.latitude-n.row.Latitude, n.row.Longitude-p.longitude, p.longitude-n.row.Longitude) > 90_000 {
			t.Errorf("node %d is in %s, %s, at %d, %d", i, n.row.City, n.row.Country, n.row.Latitude, n.row.Longitude)
		}
		countries[n.row.Code] = true
		if !n.row.Connected {
			disconnected++
		}
	}
	if len(a.ofL1) != 13 || len(countries) < 6 || disconnected > 8 {
		t.Errorf("%d nodes of L1s, %d countries, %d disconnected", len(a.ofL1), len(countries), disconnected)
	}
}

// TestOtherChainsAreTheOtherTwo, in either order.
func TestOtherChainsAreTheOtherTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, chain := range []int{store.PChain, store.XChain, store.CChain} {
		orders := map[[2]int]int{}
		for range 200 {
			others := otherChains(chain, r)
			if len(others) != 2 || slices.Contains(others, chain) || others[0] == others[1] {
				t.Fatalf("from %d AVAX goes to %v", chain, others)
			}
			orders[[2]int(others)]++
		}
		if len(orders) != 2 {
			t.Errorf("from %d AVAX goes to %v", chain, orders)
		}
	}
	for range 1000 {
		if period := periodOf(1000, r); period < 1000+population.Hour || period > 1000+population.Hour+60*population.Day {
			t.Fatalf("a stake lasts %d s", period)
		}
		if amount := (&Residents{}).usualTransfer(r); amount < nanoAVAX/2 || amount > 5*nanoAVAX || amount%(nanoAVAX/10) != 0 {
			t.Fatalf("a transfer is of %d", amount)
		}
	}
}
