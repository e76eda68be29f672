package primary

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

type node struct {
	row   store.Node
	id    ids.NodeID
	bls   *warp.SecretKey
	proof *txs.ProofOfPossession
	owner *population.Account // the operator
	start uint64              // of its time as a validator of the primary network, once that has begun
	end   uint64

	staking ids.ID // the transaction that made it a validator during history
}

// nodes holds a network's nodes: those with a role first, then others, then L1 validators.
type nodes struct {
	all  []*node
	ofL1 []*node // the last of all
	byID map[ids.NodeID]*node
}

// key returns the BLS key of a validator, which runs one node.
func (n *nodes) key(m *warp.CanonicalValidator) (*warp.SecretKey, error) {
	return n.byID[m.NodeIDs[0]].bls, nil
}

// observeStaker records since when a node validates the primary network.
func (n *nodes) observeStaker(s *pchain.Staker) {
	node := n.byID[s.NodeID]
	if node == nil || s.Delegator || s.SubnetID != ids.Empty || s.Status != pchain.Active {
		return
	}
	node.start, node.end = s.Start, s.End
}

// places lists locations of nodes: a point in a country, and a fictitious town with a plausible ending.
var places = []struct {
	country, code, ending string
	latitude, longitude   int64 // millionths of a degree
}{
	{"Germany", "DE", "heim", 50_110_900, 8_682_100},
	{"United States", "US", "ville", 39_043_800, -78_487_400},
	{"Switzerland", "CH", "wil", 47_176_900, 8_041_700},
	{"Finland", "FI", "niemi", 61_369_900, 25_938_400},
	{"Singapore", "SG", " Park", 1_352_100, 103_819_800},
	{"Japan", "JP", " City", 36_276_200, 139_250_300},
	{"Canada", "CA", " Falls", 44_453_200, -79_383_200},
	{"Brazil", "BR", "polis", -23_050_500, -47_633_300},
	{"Ireland", "IE", "bury", 53_349_800, -7_260_300},
	{"Australia", "AU", " Creek", -33_468_800, 150_609_300},
}

// versions lists what nodes announce. Since Helicon the network refuses every version before 1.15.0.
var versions = []string{fixtures.NodeSoftware, fixtures.NodeSoftware, fixtures.NodeSoftware, "avalanchego/1.15.1", "avalanchego/1.15.2"}

func newNode(g population.RNG, network uint32, i int) (*node, error) {
	r := g.For("node", network, i)
	n := &node{bls: warp.NewSecretKey(g.Hash("bls", network, i))}
	secret := n.bls.Bytes()
	certificate, err := txs.StakingCertificate(txs.StakingKey(secret[:]))
	if err != nil {
		return nil, err
	}
	n.id = txs.NodeIDOf(certificate)
	if n.proof, err = txs.NewProofOfPossession(n.bls); err != nil {
		return nil, err
	}
	faker, at := g.Faker("node", network, i), places[r.IntN(len(places))]
	n.row = store.Node{
		Network: network, Node: n.id[:], Certificate: certificate, Secret: secret[:], Version: versions[r.IntN(len(versions))],
		IP: fmt.Sprintf("%s:9651", publicAddress(r)), Uptime: uint32(population.Between(r, 920_000, 1_000_000)), Connected: !population.Chance(r, 4),
		City: population.Surname(faker) + at.ending, Country: at.country, Code: at.code,
		Latitude: at.latitude + population.Between(r, -90_000, 90_000), Longitude: at.longitude + population.Between(r, -90_000, 90_000),
	}
	return n, nil
}

// reserved lists the blocks of IPv4 addresses that are not in use on the Internet (RFC 6890 and multicast).
var reserved = func() (all []netip.Prefix) {
	for _, block := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	} {
		all = append(all, netip.MustParsePrefix(block))
	}
	return all
}()

// publicAddress returns a valid address of a node on the Internet.
func publicAddress(r *rand.Rand) netip.Addr {
	for {
		ip := netip.AddrFrom4([4]byte{byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)), byte(1 + r.IntN(254))})
		if !slices.ContainsFunc(reserved, func(block netip.Prefix) bool { return block.Contains(ip) }) {
			return ip
		}
	}
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
				if all[i], err = newNode(g, network, i); err != nil {
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
