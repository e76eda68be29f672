package evm

import (
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/sim/store"
)

// metadata is what an indexer finds at a token's URI.
type metadata struct {
	uri      string
	status   string                // in the upstream dialect
	document *fixtures.NFTDocument // of an indexed token

	attributes, properties string // of the document, as JSON
}

// failures are the kinds of metadata that go wrong, each in its way.
var failures = map[string]string{
	"throttled": "THROTTLED_TOKEN_URI", "too-large": "METADATA_CONTENT_TOO_LARGE", "no-metadata": "INVALID_METADATA",
	"no-json": "INVALID_METADATA_JSON", "unindexed": "UNINDEXED",
}

// indexStatus says what an indexer makes of a token. The simulator looks nowhere beyond itself, so every other server is
// unreachable.
func (s *tokenView) indexStatus(asset store.AssetKey, n *store.NFT) *metadata {
	switch {
	case n.URI == nil, n.Owner == nil && asset.Token().Standard() == store.ERC721:
		return &metadata{status: "MISSING_TOKEN"}
	case *n.URI == "":
		return &metadata{status: "UNKNOWN"}
	}
	uri := expand(*n.URI, asset.Item())
	if m, ok := s.metadata.Get(uri); ok {
		return m
	}
	m := &metadata{uri: uri}
	if m.status, m.document = look(uri); m.document != nil {
		m.attributes, m.properties = encoded(m.document.Attributes), encoded(m.document.Properties)
	}
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

func look(uri string) (status string, d *fixtures.NFTDocument) {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "":
		return "INVALID_TOKEN_URI", nil
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ipfs" && u.Scheme != "ar":
		return "INVALID_TOKEN_URI_SCHEME", nil
	}
	rest, own := strings.CutPrefix(uri, fixtures.MetadataURL)
	kind, file, _ := strings.Cut(rest, "/")
	if status := failures[kind]; own && status != "" {
		return status, nil
	}
	if d := fixtures.NFTDocumentOf(kind, file); own && d != nil {
		return "INDEXED", d
	}
	return "UNREACHABLE_TOKEN_URI", nil
}

func encoded(v any) string {
	b, err := data.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
