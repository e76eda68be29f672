package primary

import (
	"encoding/json"
	"testing"
)

// TestNumbersOfAGenesisAreHexadecimal: the live service writes the quantities of an EVM genesis in hexadecimal, however they were given, and
// everything else as it was.
func TestNumbersOfAGenesisAreHexadecimal(t *testing.T) {
	for raw, want := range map[string]string{
		`{"timestamp":1690000000,"gasLimit":15000000,"gasUsed":0,"difficulty":1,"nonce":2,"number":3}`: `{"difficulty":"0x1","gasLimit":"0xe4e1c0","gasUsed":"0x0","nonce":"0x2","number":"0x3","timestamp":"0x64bb5a80"}`,
		`{"timestamp":"0x5","gasLimit":"7","config":{"chainId":43114},"baseFeePerGas":25}`:             `{"baseFeePerGas":25,"config":{"chainId":43114},"gasLimit":"7","timestamp":"0x5"}`,
		`{}`:       `{}`,
		`[1]`:      `"0x5b315d"`,
		"\x00\x01": `"0x0001"`,
	} {
		have, err := json.Marshal(genesisData(raw))
		if err != nil || string(have) != want {
			t.Errorf("%q is %s: want %s, %v", raw, have, want, err)
		}
	}
}
