package data

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"snowglobe/fixtures"
)

// reachableURL is an address of the simulator as the client reached it; other addresses stay.
func reachableURL(base, uri string) string {
	if rest, ok := strings.CutPrefix(uri, fixtures.DefaultURL); ok {
		return base + rest
	}
	return uri
}

// nftDocument is the metadata of a token as it is served.
type nftDocument struct {
	Name            string         `json:"name"`
	Description     string         `json:"description"`
	Image           string         `json:"image"`
	AnimationURL    string         `json:"animation_url"`
	ExternalURL     string         `json:"external_url"`
	BackgroundColor string         `json:"background_color"`
	Attributes      []nftAttribute `json:"attributes"`
	Decimals        int            `json:"decimals"`
	Properties      map[string]any `json:"properties"`
}

type nftAttribute struct {
	TraitType string `json:"trait_type"`
	Value     string `json:"value"`
}

// nftKinds describes the kinds of things that metadata is about.
var nftKinds = map[string]struct{ thing, description string }{
	"crystals": {"Snow Crystal", "A crystal of snow, grown in a glass globe. No two are alike."},
	"items":    {"Expedition Gear", "A piece of gear for those who go up."},
	"spam":     {"Mystery Box", "You have won! Visit mystery-box.example to open it."},
}

var (
	forms  = []string{"Dendrite", "Plate", "Column", "Needle", "Star", "Rosette", "Bullet", "Prism"}
	lights = []string{"Dawn", "Noon", "Dusk", "Moon", "Aurora"}
	colors = []string{"8ec5fc", "e0c3fc", "a1c4fd", "c2e9fb", "d4fc79", "fbc2eb", "fda085", "cfd9df"}
)

// JSON is the document as it is served.
func (d *nftDocument) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// nftDocumentOf is the metadata of a kind of thing and a file name: a number, decimal or of 64 hexadecimal digits. It is
// nil if there is none.
func nftDocumentOf(kind, file string) *nftDocument {
	k, ok := nftKinds[kind]
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
	return &nftDocument{
		Name: fmt.Sprintf("%s #%s", k.thing, id), Description: k.description, Image: image + ".svg", AnimationURL: image + "-moving.svg",
		ExternalURL: fmt.Sprintf("%s%s/%s.json", fixtures.MetadataURL, kind, id), BackgroundColor: pick(colors, 3),
		Attributes: []nftAttribute{{"Form", form}, {"Light", light}}, Properties: map[string]any{"form": form, "light": light},
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
