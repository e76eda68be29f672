package data

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/sim/store"
)

// here is an address of the simulator as the client reached it; other addresses stay.
func (s *scene) here(uri string) string {
	if rest, ok := strings.CutPrefix(uri, fixtures.DefaultURL); ok {
		return s.BaseURL() + rest
	}
	return uri
}

// metadata is what an indexer finds at a token's URI.
type metadata struct {
	uri      string
	status   string    // in the upstream dialect
	document *document // of an indexed token

	attributes, properties string // of the document, as JSON
}

// failures are the kinds of metadata that go wrong, each in its way.
var failures = map[string]string{
	"throttled": "THROTTLED_TOKEN_URI", "too-large": "METADATA_CONTENT_TOO_LARGE", "no-metadata": "INVALID_METADATA",
	"no-json": "INVALID_METADATA_JSON", "unindexed": "UNINDEXED",
}

// judge says what an indexer makes of a token. The simulator looks nowhere beyond itself, so every other server is
// unreachable.
func (a *api) judge(asset store.AssetKey, n *store.NFT) *metadata {
	switch {
	case n.URI == nil, n.Owner == nil && asset.Token().Standard() == store.ERC721:
		return &metadata{status: "MISSING_TOKEN"}
	case *n.URI == "":
		return &metadata{status: "UNKNOWN"}
	}
	uri := expand(*n.URI, asset.Item())
	if m, ok := a.memory.metadata.Get(uri); ok {
		return m
	}
	m := &metadata{uri: uri}
	if m.status, m.document = look(uri); m.document != nil {
		m.attributes, m.properties = encoded(m.document.Attributes), encoded(m.document.Properties)
	}
	a.memory.metadata.Add(uri, m)
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
	if d := documentOf(kind, file); own && d != nil {
		return "INDEXED", d
	}
	return "UNREACHABLE_TOKEN_URI", nil
}

// document is the metadata of a token as it is served.
type document struct {
	Name            string         `json:"name"`
	Description     string         `json:"description"`
	Image           string         `json:"image"`
	AnimationURL    string         `json:"animation_url"`
	ExternalURL     string         `json:"external_url"`
	BackgroundColor string         `json:"background_color"`
	Attributes      []attribute    `json:"attributes"`
	Decimals        int            `json:"decimals"`
	Properties      map[string]any `json:"properties"`
}

type attribute struct {
	TraitType string `json:"trait_type"`
	Value     string `json:"value"`
}

// kindOf describes the kinds of things that metadata is about.
var kinds = map[string]struct{ thing, description string }{
	"crystals": {"Snow Crystal", "A crystal of snow, grown in a glass globe. No two are alike."},
	"items":    {"Expedition Gear", "A piece of gear for those who go up."},
	"spam":     {"Mystery Box", "You have won! Visit mystery-box.example to open it."},
}

var (
	forms  = []string{"Dendrite", "Plate", "Column", "Needle", "Star", "Rosette", "Bullet", "Prism"}
	lights = []string{"Dawn", "Noon", "Dusk", "Moon", "Aurora"}
	colors = []string{"8ec5fc", "e0c3fc", "a1c4fd", "c2e9fb", "d4fc79", "fbc2eb", "fda085", "cfd9df"}
)

// documentOf is the metadata of a kind of thing and a file name: a number, decimal or of 64 hexadecimal digits. It is
// nil if there is none.
func documentOf(kind, file string) *document {
	k, ok := kinds[kind]
	id, numbered := itemNumber(strings.TrimSuffix(file, ".json"))
	if !ok || !numbered {
		return nil
	}
	pick := func(from []string, salt int64) string {
		n := new(big.Int).Mul(new(big.Int).Add(id, big.NewInt(salt)), big.NewInt(2654435761))
		return from[n.Rsh(n, 7).Mod(n, big.NewInt(int64(len(from)))).Int64()]
	}
	form, light := pick(forms, 1), pick(lights, 2)
	image := fmt.Sprintf("%s/sim/image/%s/%s", fixtures.DefaultURL, kind, id)
	return &document{
		Name: fmt.Sprintf("%s #%s", k.thing, id), Description: k.description, Image: image + ".svg", AnimationURL: image + "-moving.svg",
		ExternalURL: fmt.Sprintf("%s%s/%s.json", fixtures.MetadataURL, kind, id), BackgroundColor: pick(colors, 3),
		Attributes: []attribute{{"Form", form}, {"Light", light}}, Properties: map[string]any{"form": form, "light": light},
	}
}

func itemNumber(text string) (*big.Int, bool) {
	if len(text) == 64 {
		b, err := hex.DecodeString(text)
		return new(big.Int).SetBytes(b), err == nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	return n, ok && n.Sign() >= 0 && n.BitLen() <= 256
}

func encoded(v any) string {
	b, err := marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// tooLarge is what the metadata that is too large weighs, in bytes.
const tooLarge = 12 << 20

// serveMetadata answers as the token's URI promises, and misbehaves where the world says so.
func (a *api) serveMetadata(r *handlers.Request) (any, error) {
	kind, file := r.Text("kind"), r.Text("file")
	switch kind {
	case "throttled":
		return nil, handlers.TooMany("this metadata is always throttled", 60)
	case "too-large":
		return handlers.Raw{Type: "application/json", Body: []byte(`{"name":"` + strings.Repeat("large ", tooLarge/6) + `"}`)}, nil
	case "no-metadata":
		return handlers.Raw{Type: "application/json", Body: []byte(`["this","is","no","metadata"]`)}, nil
	case "no-json":
		return handlers.Raw{Type: "application/json", Body: []byte(`<html>this is no JSON</html>`)}, nil
	case "unindexed":
		kind = "crystals"
	}
	d := documentOf(kind, file)
	if d == nil {
		return nil, handlers.NotFound("there is no metadata %s/%s", kind, file)
	}
	s := scene{Request: r}
	d.Image, d.AnimationURL, d.ExternalURL = s.here(d.Image), s.here(d.AnimationURL), s.here(d.ExternalURL)
	body, err := marshal(d)
	return handlers.Raw{Type: "application/json; charset=utf-8", Body: body}, err
}
