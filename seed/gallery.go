package seed

import (
	"math/big"
	"math/rand/v2"
)

// MetadataBase is where the NFTs of a world keep their metadata: contracts hold whole addresses, so it is the simulator
// at its default place.
const MetadataBase = "http://127.0.0.1:9650/sim/metadata/"

// oddities are token URIs whose metadata cannot be indexed, one for each reason.
var oddities = []string{
	"::not a uri::",                             // invalid token URI
	"gopher://crystals.example/7",               // invalid scheme
	"http://unreachable.invalid/crystal/8.json", // unreachable
	MetadataBase + "throttled/9.json",           // throttled
	MetadataBase + "too-large/10.json",          // content too large
	MetadataBase + "no-metadata/11.json",        // JSON, but not metadata
	MetadataBase + "no-json/12.json",            // not JSON
	MetadataBase + "unindexed/13.json",          // not looked at yet
	"",                                          // the token has no URI
}

// gallery mints what collectors collect: crystals (ERC-721) and gear (ERC-1155) of every metadata status for the
// collector, and plenty of both for alice.
func (s *stage) gallery() []step {
	d, collector, alice := s.people["deployer"], s.people["collector"], s.people["alice"]
	mint := func(to *actor, first, n int64) step {
		return func(*rand.Rand) (*intent, error) {
			i, err := s.call(d, "collection", "Collection", "batchMint", to.address, big.NewInt(first), big.NewInt(n), MetadataBase+"crystals/")
			return i.with(nil, 200_000+150_000*uint64(n)), err
		}
	}
	gear := func(to *actor, first, n int64) step {
		return func(*rand.Rand) (*intent, error) {
			var ids, amounts []*big.Int
			for id := first; id < first+n; id++ {
				ids, amounts = append(ids, big.NewInt(id)), append(amounts, big.NewInt(5+id%7))
			}
			i, err := s.call(d, "items", "Items", "mintBatch", to.address, ids, amounts)
			return i.with(nil, 200_000+60_000*uint64(n)), err
		}
	}
	steps := []step{mint(collector, 1, 6), mint(alice, 1000, 30), gear(collector, 1, 18), gear(alice, 1000, 30)}
	for n, uri := range oddities {
		id := big.NewInt(int64(7 + n))
		steps = append(steps, func(*rand.Rand) (*intent, error) {
			i, err := s.call(d, "collection", "Collection", "mint", collector.address, id, uri)
			return i.with(nil, 300_000), err
		})
		if uri != "" {
			steps = append(steps, func(*rand.Rand) (*intent, error) { return s.call(d, "items", "Items", "setURI", id, uri) })
		}
	}
	return append(steps,
		func(*rand.Rand) (*intent, error) {
			return s.call(d, "collection", "Collection", "mint", collector.address, big.NewInt(99), MetadataBase+"crystals/99.json")
		},
		func(*rand.Rand) (*intent, error) { // the token that is listed and no longer exists
			return s.call(collector, "collection", "Collection", "burn", big.NewInt(99))
		})
}
