package population

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the traits of NFT items down instead of comparing them")

// TestNFTTraits compares the embedded traits with what is made up.
func TestNFTTraits(t *testing.T) {
	const file = "../../fixtures/nft_traits.json"
	want, err := json.MarshalIndent(NFTTraits(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what gofakeit makes up (%v): run this test with -update", file, err)
	}
}
