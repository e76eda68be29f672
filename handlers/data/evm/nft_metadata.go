package evm

import (
	"encoding/hex"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/tokenuri"
	"snowglobe/sim/store"
)

// metadata is an indexer's result for a token's URI.
type metadata struct {
	uri      string
	status   string             // in the upstream API's words
	document *tokenuri.Document // of an indexed token
	time     int64              // of the last reindex by a client, 0 for never
}

// indexStatus returns an indexer's verdict on a token. It reads metadata from the URI itself and asks no server, so every other URI is
// unreachable; the simulator's own failing tokens have the failures they were made for.
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

// expand replaces the id placeholder in an ERC-1155 URI by 64 hexadecimal digits, as the standard requires.
func expand(uri string, item []byte) string {
	if !strings.Contains(uri, "{id}") {
		return uri
	}
	return strings.ReplaceAll(uri, "{id}", hex.EncodeToString(common.LeftPadBytes(item, 32)))
}
