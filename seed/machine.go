package seed

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/brianvoe/gofakeit/v7"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// machine is a node of a network.
type node struct {
	row   store.Node
	id    ids.NodeID
	bls   *warp.SecretKey
	proof *primary.ProofOfPossession
	owner *account // who runs it
	start uint64   // of its time as a validator of the primary network, once that has begun
	end   uint64
}

// places are where nodes stand, so that a map of them looks like one.
var places = []struct {
	city, country, code string
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

// newMachine makes the n-th node of a network.
func newNode(d rng, network uint32, n int) *node {
	r := d.For("machine", network, n)
	m := &node{}
	certificate := append([]byte{0x30, 0x7e}, make([]byte, certificateBytes-2)...)
	for i := 2; i < len(certificate); i++ {
		certificate[i] = byte(r.IntN(256))
	}
	m.id = primary.NodeIDOf(certificate)
	m.bls = warp.NewSecretKey(d.hash("bls", network, n))
	secret := m.bls.Bytes()
	place := places[r.IntN(len(places))]
	faker := gofakeit.NewFaker(r, false)
	ip, err := netip.ParseAddr(faker.IPv4Address())
	if err != nil {
		ip = netip.AddrFrom4([4]byte{198, 51, 100, byte(n)})
	}
	m.row = store.Node{
		Network: network, Node: m.id[:], Certificate: certificate, Secret: secret[:], Version: versions[r.IntN(len(versions))],
		IP: fmt.Sprintf("%s:9651", ip), Uptime: uint32(between(r, 920_000, 1_000_000)), Connected: !chance(r, 4),
		City: place.city, Country: place.country, Code: place.code,
		Latitude: place.latitude + between(r, -90_000, 90_000), Longitude: place.longitude + between(r, -90_000, 90_000),
	}
	return m
}

// machines makes nodes with their proofs, on all processors: a proof takes half a millisecond.
func nodes(d rng, network uint32, count int) ([]*node, error) {
	all := make([]*node, count)
	group := errgroup.Group{}
	group.SetLimit(runtime.GOMAXPROCS(0))
	const each = 16
	for first := 0; first < count; first += each {
		group.Go(func() (err error) {
			for n := first; n < min(first+each, count); n++ {
				all[n] = newNode(d, network, n)
				if all[n].proof, err = primary.NewProofOfPossession(all[n].bls); err != nil {
					return fmt.Errorf("node %d: %w", n, err)
				}
			}
			return nil
		})
	}
	return all, group.Wait()
}
