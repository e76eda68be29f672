package seed

import (
	"math/big"
	"math/rand/v2"
)

// MetadataBase is where the NFTs of a world keep their metadata: contracts hold whole addresses, so it is the simulator
// at its default place.
const MetadataBase = "http://127.0.0.1:9650/sim/metadata/"

// oddities are token URIs whose metadata cannot be indexed, one for each reason, by the number of the token that has it.
var oddities = []struct {
	id  int64
	uri string
}{
	{7, "::not a uri::"},                             // invalid token URI
	{8, "gopher://crystals.example/8"},               // invalid scheme
	{9, "http://unreachable.invalid/crystal/9.json"}, // unreachable
	{10, MetadataBase + "throttled/10.json"},         // throttled
	{11, MetadataBase + "too-large/11.json"},         // content too large
	{12, MetadataBase + "no-metadata/12.json"},       // JSON, but not metadata
	{13, MetadataBase + "no-json/13.json"},           // not JSON
	{14, MetadataBase + "unindexed/14.json"},         // not looked at yet
}

// Tokens of which a contract has no URI to give: there is none, or asking for it fails.
const (
	withdrawn = 6
	untold    = 15
	gone      = 99 // the crystal is burned, the gear withdrawn
)

// gallery mints what collectors collect: crystals (ERC-721) and gear (ERC-1155) of every metadata status for the
// collector, and plenty of both for alice.
func (s *evmChain) mintNFTs() []action {
	d, collector, alice := s.people["deployer"], s.people["collector"], s.people["alice"]
	mint := func(to *account, first, n int64) action {
		return func(*rand.Rand) (*txRequest, error) {
			return s.callWith(d, "collection", "Collection", "batchMint", nil, 200_000+150_000*uint64(n), to.address, big.NewInt(first), big.NewInt(n), MetadataBase+"crystals/")
		}
	}
	gear := func(to *account, first, n int64, more ...int64) action {
		return func(*rand.Rand) (*txRequest, error) {
			var ids, amounts []*big.Int
			for id := first; id < first+n; id++ {
				ids, amounts = append(ids, big.NewInt(id)), append(amounts, big.NewInt(5+id%7))
			}
			for _, id := range more {
				ids, amounts = append(ids, big.NewInt(id)), append(amounts, big.NewInt(1))
			}
			return s.callWith(d, "items", "Items", "mintBatch", nil, 200_000+60_000*uint64(int(n)+len(more)), to.address, ids, amounts)
		}
	}
	singleTx := func(by *account, role, artifact, method string, args ...any) action {
		return func(*rand.Rand) (*txRequest, error) {
			return s.callWith(by, role, artifact, method, nil, 300_000, args...)
		}
	}
	steps := []action{singleTx(d, "collection", "Collection", "withdraw", big.NewInt(withdrawn)), mint(collector, 1, withdrawn),
		mint(alice, 1000, 30), gear(collector, 1, 18, gone), gear(alice, 1000, 30)}
	for _, odd := range oddities {
		id := big.NewInt(odd.id)
		steps = append(steps, singleTx(d, "collection", "Collection", "mint", collector.address, id, odd.uri),
			singleTx(d, "items", "Items", "setURI", id, odd.uri))
	}
	return append(steps,
		singleTx(d, "collection", "Collection", "mint", collector.address, big.NewInt(untold), ""),
		singleTx(d, "items", "Items", "conceal", big.NewInt(untold)),
		singleTx(d, "collection", "Collection", "mint", collector.address, big.NewInt(gone), MetadataBase+"crystals/99.json"),
		singleTx(collector, "collection", "Collection", "burn", big.NewInt(gone)),
		singleTx(d, "items", "Items", "withdraw", big.NewInt(gone)))
}
