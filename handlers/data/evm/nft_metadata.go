package evm

import (
	"encoding/hex"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/tokenuri"
	"snowglobe/sim/store"
)

// metadata is what an indexer finds at a token's URI.
type metadata struct {
	uri      string
	status   string             // in the upstream dialect
	document *tokenuri.Document // of an indexed token
	time     int64              // when a client had it read again, 0 for never
}

// indexStatus says what an indexer makes of a token. Metadata is found where the URI itself holds it; the simulator asks no
// server, so all are unreachable, save that its own have the failures they are for.
func (s *tokenView) indexStatus(asset store.AssetKey, n *store.NFT) *metadata {
	if m := s.reindexed(asset, n); m != nil {
		return m
	}
	switch {
	case n.URI == nil, n.Owner == nil && asset.Token().Standard() == store.ERC721:
		return &metadata{status: "MISSING_TOKEN"}
	case *n.URI == "":
		return &metadata{status: "UNKNOWN"}
	}
	uri := expand(string(*n.URI), asset.Item())
	if m, ok := s.metadata.Get(uri); ok {
		return m
	}
	m := &metadata{uri: uri}
	m.status, m.document = tokenuri.Read(uri)
	s.metadata.Add(uri, m)
	return m
}

// expand puts an ERC-1155 item's number where its URI says, as the standard has it: 64 hexadecimal digits.
func expand(uri string, item []byte) string {
	if !strings.Contains(uri, "{id}") {
		return uri
	}
	return strings.ReplaceAll(uri, "{id}", hex.EncodeToString(common.LeftPadBytes(item, 32)))
}
