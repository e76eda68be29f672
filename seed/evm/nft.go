package evm

import (
	"encoding/base64"
	"math/big"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
)

// spamURI is the shared metadata URI of all spam items. The other contracts compose their items' metadata themselves.
var spamURI = "data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(
	`{"name":"Mystery Box","description":"You have won! Visit mystery-box.example to open it.","external_url":"https://mystery-box.example"}`))

// unindexable maps token ids to URIs whose metadata cannot be indexed, one for each reason.
var unindexable = []struct {
	id  int64
	uri string
}{
	{7, "::not a uri::"},                               // invalid token URI
	{8, "gopher://crystals.example/8"},                 // invalid scheme
	{9, "http://unreachable.invalid/crystal/9.json"},   // unreachable
	{10, fixtures.MetadataURL + "throttled/10.json"},   // throttled
	{11, fixtures.MetadataURL + "too-large/11.json"},   // content too large
	{12, fixtures.MetadataURL + "no-metadata/12.json"}, // JSON, but not metadata
	{13, fixtures.MetadataURL + "no-json/13.json"},     // not JSON
	{14, fixtures.MetadataURL + "unindexed/14.json"},   // not fetched yet
}

// Tokens whose contract returns no URI: it has none, or asking for it fails.
const (
	withdrawn = 6
	concealed = 15
	destroyed = 99 // the crystal is burned, the gear withdrawn
)

// mintNFTs mints crystals (ERC-721) and gear (ERC-1155) of every metadata status for the collector, and plenty of both for alice.
func (d *deployment) mintNFTs() []action {
	deployer, collector, alice := d.chain.Personas.Deployer, d.chain.Personas.Collector, d.chain.Personas.Alice
	mint := func(to *population.Account, first, n int64) action {
		return d.chain.calling(deployer, "collection", "Collection", "batchMint", nil, 200_000+150_000*uint64(n), to.Address, big.NewInt(first), big.NewInt(n))
	}
	gear := func(to *population.Account, first, n int64, more ...int64) action {
		var ids, amounts []*big.Int
		for id := first; id < first+n; id++ {
			ids, amounts = append(ids, big.NewInt(id)), append(amounts, big.NewInt(5+id%7))
		}
		for _, id := range more {
			ids, amounts = append(ids, big.NewInt(id)), append(amounts, big.NewInt(1))
		}
		return d.chain.calling(deployer, "items", "Items", "mintBatch", nil, 200_000+60_000*uint64(len(ids)), to.Address, ids, amounts)
	}
	single := func(by *population.Account, role, artifact, method string, args ...any) action {
		return d.chain.calling(by, role, artifact, method, nil, 300_000, args...)
	}
	actions := []action{single(deployer, "collection", "Collection", "withdraw", big.NewInt(withdrawn)), mint(collector, 1, withdrawn),
		mint(alice, 1000, 30), gear(collector, 1, 18, destroyed), gear(alice, 1000, 30)}
	for _, u := range unindexable {
		id := big.NewInt(u.id)
		actions = append(actions, single(deployer, "collection", "Collection", "mint", collector.Address, id, u.uri),
			single(deployer, "items", "Items", "setURI", id, u.uri))
	}
	return append(actions,
		single(deployer, "collection", "Collection", "mint", collector.Address, big.NewInt(concealed), ""),
		single(deployer, "collection", "Collection", "conceal", big.NewInt(concealed)),
		single(deployer, "items", "Items", "conceal", big.NewInt(concealed)),
		single(deployer, "collection", "Collection", "mint", collector.Address, big.NewInt(destroyed), ""),
		single(collector, "collection", "Collection", "burn", big.NewInt(destroyed)),
		single(deployer, "items", "Items", "withdraw", big.NewInt(destroyed)))
}
