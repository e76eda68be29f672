package evm

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim/store"
)

// metadata is what an indexer finds at a token's URI.
type metadata struct {
	uri      string
	status   string    // in the upstream dialect
	document *document // of an indexed token
	time     int64     // when a client had it read again, 0 for never
}

// document is the metadata of a token as OpenSea and ERC-1155 have it.
type document struct {
	Name            string `json:"name"`
	Description     string `json:"description"`
	Image           string `json:"image"`
	AnimationURL    string `json:"animation_url"`
	ExternalURL     string `json:"external_url"`
	BackgroundColor string `json:"background_color"`
	Decimals        int    `json:"decimals"`
	Attributes      inner  `json:"attributes"`
	Properties      inner  `json:"properties"`
}

// inner is JSON within JSON that is shown as a text.
type inner string

// MarshalJSON writes the value as it was.
func (i inner) MarshalJSON() ([]byte, error) {
	if i == "" {
		return []byte("null"), nil
	}
	return []byte(i), nil
}

// UnmarshalJSON keeps the value without spaces.
func (i *inner) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		return nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, value)
	*i = inner(b.String())
	return err
}

// failures are the kinds of metadata that go wrong, each in its way.
var failures = map[string]string{
	"throttled": "THROTTLED_TOKEN_URI", "too-large": "METADATA_CONTENT_TOO_LARGE", "no-metadata": "INVALID_METADATA",
	"no-json": "INVALID_METADATA_JSON", "unindexed": "UNINDEXED",
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
	m.status, m.document = look(uri)
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

func look(uri string) (status string, d *document) {
	if len(uri) >= 5 && strings.EqualFold(uri[:5], "data:") {
		return decode(uri[5:])
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "":
		return "INVALID_TOKEN_URI", nil
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ipfs" && u.Scheme != "ar":
		return "INVALID_TOKEN_URI_SCHEME", nil
	}
	rest, own := strings.CutPrefix(uri, fixtures.MetadataURL)
	kind, _, _ := strings.Cut(rest, "/")
	if status := failures[kind]; own && status != "" {
		return status, nil
	}
	return "UNREACHABLE_TOKEN_URI", nil
}

// decode reads what follows the scheme of a data: URI (RFC 2397).
func decode(uri string) (status string, d *document) {
	kind, text, found := strings.Cut(uri, ",")
	if !found {
		return "INVALID_TOKEN_URI", nil
	}
	content := []byte(text)
	if strings.HasSuffix(kind, ";base64") {
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil {
			return "INVALID_TOKEN_URI", nil
		}
		content = decoded
	} else if plain, err := url.PathUnescape(text); err == nil {
		content = []byte(plain) // many contracts leave the text unescaped: a percent sign then stands for itself
	}
	return parseDocument(content)
}

// parseDocument reads metadata.
func parseDocument(content []byte) (status string, d *document) {
	switch err := json.Unmarshal(content, &d); {
	case err == nil && d != nil:
		return "INDEXED", d
	case json.Valid(content):
		return "INVALID_METADATA", nil
	}
	return "INVALID_METADATA_JSON", nil
}
