// Metadata from contracts, from the node and from the Data API of one server.

package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
)

// describedItem is a token of either standard in the Data API.
type describedItem struct {
	TokenID, TokenURI, ErcType string
	Metadata                   struct {
		Name, Description, ImageURI, AnimationURI, ExternalURL, Background, Attributes, Properties string
	}
}

// TestMetadataIsOnChain: the Data API shows each token's URI as its contract returns it, and the metadata in that URI.
func TestMetadataIsOnChain(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	for _, c := range w.Chains {
		d := newDevnet(t, w, c)
		for _, role := range []string{"collection", "items", "launched-collection", "launched-items", "spam-collection"} {
			address, found := d.contract(role), 0
			var page struct{ Tokens []describedItem }
			d.data(fmt.Sprintf("nfts/collections/%s/tokens?pageSize=100", address), &page)
			for _, item := range page.Tokens {
				if item.Metadata.Name == "" {
					continue
				}
				found++
				if said := d.uriOf(*address, item); said != item.TokenURI {
					t.Errorf("%s %s has URI %s, the Data API says %s", role, item.TokenID, said, item.TokenURI)
				}
				item.compare(t, role)
			}
			if found == 0 {
				t.Errorf("no metadata of %s on %s is found", role, c.Row.Name)
			}
		}
	}
}

// uriOf reads the URI of an item from its contract.
func (d *devnet) uriOf(contract common.Address, item describedItem) string {
	d.Helper()
	artifact, method := "Collection", "tokenURI"
	if item.ErcType == "ERC-1155" {
		artifact, method = "Items", "uri"
	}
	a, err := contracts.Load(artifact)
	if err != nil {
		d.Fatal(err)
	}
	id, _ := new(big.Int).SetString(item.TokenID, 10)
	input, err := a.ABI.Pack(method, id)
	if err != nil {
		d.Fatal(err)
	}
	answer, err := d.client.CallContract(d.Context(), ethereum.CallMsg{To: &contract, Data: input}, nil)
	if err != nil {
		d.Fatal(err)
	}
	values, err := a.ABI.Unpack(method, answer)
	if err != nil {
		d.Fatal(err)
	}
	return values[0].(string)
}

// compare compares an item's metadata with the document in its URI.
func (item describedItem) compare(t *testing.T, role string) {
	t.Helper()
	text, is := strings.CutPrefix(item.TokenURI, "data:application/json;base64,")
	content, err := base64.StdEncoding.DecodeString(text)
	if !is || err != nil {
		t.Fatalf("URI %s of %s %s: %v", item.TokenURI, role, item.TokenID, err)
	}
	var document map[string]any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	delete(document, "decimals")
	shown, m := map[string]any{}, item.Metadata
	for key, value := range map[string]string{"name": m.Name, "description": m.Description, "image": m.ImageURI,
		"animation_url": m.AnimationURI, "external_url": m.ExternalURL, "background_color": m.Background} {
		if value != "" {
			shown[key] = value
		}
	}
	for key, value := range map[string]string{"attributes": m.Attributes, "properties": m.Properties} {
		var inner any
		if value == "" {
			continue
		}
		if err := json.Unmarshal([]byte(value), &inner); err != nil {
			t.Fatalf("%s %s: %v", key, value, err)
		}
		shown[key] = inner
	}
	if !reflect.DeepEqual(shown, document) {
		t.Errorf("%s %s is shown as %v, its document is %v", role, item.TokenID, shown, document)
	}
}
