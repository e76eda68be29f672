package primary

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/brianvoe/gofakeit/v7"
	"golang.org/x/sync/errgroup"

	"snowglobe/seed/population"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// node is a node of a network.
type node struct {
	row   store.Node
	id    ids.NodeID
	bls   *warp.SecretKey
	proof *txs.ProofOfPossession
	owner *population.Account // who runs it
	start uint64              // of its time as a validator of the primary network, once that has begun
	end   uint64
}

// nodes are a network's: those with a role first, then others, then those that validate L1s.
type nodes struct {
	all  []*node
	ofL1 []*node // the last ones of all
	byID map[ids.NodeID]*node
}

// key is the BLS key of a validator, which runs one node.
func (n *nodes) key(m *warp.CanonicalValidator) (*warp.SecretKey, error) {
	return n.byID[m.NodeIDs[0]].bls, nil
}

// observeStaker notes since when a node validates the primary network.
func (n *nodes) observeStaker(s *pchain.Staker) {
	node := n.byID[s.NodeID]
	if node == nil || s.Delegator || s.SubnetID != ids.Empty || s.Status != pchain.Active {
		return
	}
	node.start, node.end = s.Start, s.End
}

// cities are where nodes stand.
var cities = []struct {
	name, country, code string
	latitude, longitude int64
}{
	{"Frankfurt", "Germany", "DE", 50_110_900, 8_682_100},
	{"Ashburn", "United States", "US", 39_043_800, -77_487_400},
	{"Zurich", "Switzerland", "CH", 47_376_900, 8_541_700},
	{"Helsinki", "Finland", "FI", 60_169_900, 24_938_400},
	{"Singapore", "Singapore", "SG", 1_352_100, 103_819_800},
	{"Tokyo", "Japan", "JP", 35_676_200, 139_650_300},
	{"Toronto", "Canada", "CA", 43_653_200, -79_383_200},
	{"Sao Paulo", "Brazil", "BR", -23_550_500, -46_633_300},
	{"Dublin", "Ireland", "IE", 53_349_800, -6_260_300},
	{"Sydney", "Australia", "AU", -33_868_800, 151_209_300},
}

var versions = []string{"avalanchego/1.14.2", "avalanchego/1.14.2", "avalanchego/1.14.2", "avalanchego/1.14.1", "avalanchego/1.14.0"}

// certificateBytes is how long a node's certificate is; its first bytes are those of a DER sequence of that length.
const certificateBytes = 128

// newNode makes the i-th node of a network.
func newNode(g population.RNG, network uint32, i int) *node {
	r := g.For("machine", network, i)
	n := &node{}
	certificate := append([]byte{0x30, 0x7e}, make([]byte, certificateBytes-2)...)
	for k := 2; k < len(certificate); k++ {
		certificate[k] = byte(r.IntN(256))
	}
	n.id = txs.NodeIDOf(certificate)
	n.bls = warp.NewSecretKey(g.Hash("bls", network, i))
	secret := n.bls.Bytes()
	city := cities[r.IntN(len(cities))]
	faker := gofakeit.NewFaker(r, false)
	ip, err := netip.ParseAddr(faker.IPv4Address())
	if err != nil {
		ip = netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
	}
	n.row = store.Node{
		Network: network, Node: n.id[:], Certificate: certificate, Secret: secret[:], Version: versions[r.IntN(len(versions))],
		IP: fmt.Sprintf("%s:9651", ip), Uptime: uint32(population.Between(r, 920_000, 1_000_000)), Connected: !population.Chance(r, 4),
		City: city.name, Country: city.country, Code: city.code,
		Latitude: city.latitude + population.Between(r, -90_000, 90_000), Longitude: city.longitude + population.Between(r, -90_000, 90_000),
	}
	return n
}

// newNodes makes nodes with their proofs of possession, on all processors: a proof takes half a millisecond.
func newNodes(g population.RNG, network uint32, primaryValidators, l1Validators int) (*nodes, error) {
	all := make([]*node, primaryValidators+l1Validators)
	group := errgroup.Group{}
	group.SetLimit(runtime.GOMAXPROCS(0))
	const each = 16
	for first := 0; first < len(all); first += each {
		group.Go(func() (err error) {
			for i := first; i < min(first+each, len(all)); i++ {
				all[i] = newNode(g, network, i)
				if all[i].proof, err = txs.NewProofOfPossession(all[i].bls); err != nil {
					return fmt.Errorf("node %d: %w", i, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	n := &nodes{all: all, ofL1: all[primaryValidators:], byID: map[ids.NodeID]*node{}}
	for _, node := range all {
		n.byID[node.id] = node
	}
	return n, nil
}
