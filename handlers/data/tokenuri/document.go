// Package tokenuri plays an indexer at a token's URI: it reads the metadata that a data: URI holds. It asks no server, so every other URI
// is unreachable; the simulator's own failing tokens have the failures they were made for.
package tokenuri

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"snowglobe/fixtures"
)

// Document is a token's metadata as OpenSea and ERC-1155 define it.
type Document struct {
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

// inner is a nested JSON value that responses show as a string.
type inner string

// MarshalJSON writes the value unchanged, as a string.
func (i inner) MarshalJSON() ([]byte, error) {
	if i == "" {
		return []byte("null"), nil
	}
	return []byte(i), nil
}

// UnmarshalJSON keeps the value without whitespace.
func (i *inner) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		return nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, value)
	*i = inner(b.String())
	return err
}

// failures lists the kinds of metadata that fail, with their status.
var failures = map[string]string{
	"throttled": "THROTTLED_TOKEN_URI", "too-large": "METADATA_CONTENT_TOO_LARGE", "no-metadata": "INVALID_METADATA",
	"no-json": "INVALID_METADATA_JSON", "unindexed": "UNINDEXED",
}

// Read returns the status that an indexer gives a URI, in the upstream API's words, and the document of an indexed token.
func Read(uri string) (status string, d *Document) {
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
func decode(uri string) (status string, d *Document) {
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
	return Parse(content)
}

// Parse does the same for the content at a URI.
func Parse(content []byte) (status string, d *Document) {
	switch err := json.Unmarshal(content, &d); {
	case err == nil && d != nil:
		return "INDEXED", d
	case json.Valid(content):
		return "INVALID_METADATA", nil
	}
	return "INVALID_METADATA_JSON", nil
}
