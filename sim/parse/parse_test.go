package parse_test

import (
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/utils/formatting/address"

	"snowglobe/sim/parse"
)

// FuzzTexts parses ids and addresses. Parsing and formatting give the same text, except that bech32 may be in upper case.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{
		"11111111111111111111111111111111LpoYY", "2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5", "NodeID-111111111111111111116DBWJs",
		"P-avax1kxclk5ffd40x9mesfnjp5vyly8mljyxd4eqzs2", "avax1kxclk5ffd40x9mesfnjp5vyly8mljyxd4eqzs2", "X-fuji1", "", "-", "NodeID-", strings.Repeat("1", 600),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := parse.ID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %s", text, id)
		}
		if id, err := parse.ShortID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %s", text, id)
		}
		if id, err := parse.NodeID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %s", text, id)
		}
		if alias, hrp, raw, err := parse.Address(text); err == nil {
			if again, err := address.Format(alias, hrp, raw); err != nil || !strings.EqualFold(again, text) {
				t.Errorf("%q is read as %s: %v", text, again, err)
			}
		}
		if hrp, raw, err := parse.Bech32(text); err == nil {
			if again, err := address.FormatBech32(hrp, raw); err != nil || !strings.EqualFold(again, text) {
				t.Errorf("%q is read as %s: %v", text, again, err)
			}
		}
	})
}
