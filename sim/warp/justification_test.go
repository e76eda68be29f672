package warp

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

// TestJustifications reads the protocol buffers of ACP-77, L1ValidatorRegistrationJustification, as an L1's operator sends them to have a
// registration signed.
func TestJustifications(t *testing.T) {
	subnet := strings.Repeat("07", 32)
	of := func(suffix string) string { return "0a20" + subnet + suffix } // a SubnetIDIndex
	v := readVectors(t)
	register := strings.TrimPrefix(v.ACP77.Register.Bytes, "0x")
	weight := strings.TrimPrefix(v.ACP77.Weight.Bytes, "0x")
	length := func(text string) string {
		return hex.EncodeToString([]byte{byte(len(text)/2) | 0x80, byte(len(text) / 2 >> 7)})
	}
	for _, c := range []struct {
		name, hex string
		index     uint32
		request   string
		same      bool // whether it is written as it is read
	}{
		{"the first of a conversion", "0a22" + of(""), 0, "", true},
		{"the second", "0a24" + of("1001"), 1, "", true},
		{"the three hundredth", "0a25" + of("10ac02"), 300, "", true},
		{"the last", "0a28" + of("10ffffffff0f"), 1<<32 - 1, "", true},
		{"the first, with its index", "0a24" + of("1000"), 0, "", false},
		{"its index first", "0a24" + "1005" + of(""), 5, "", false},
		{"a request", "12" + length(register) + register, 0, register, true},
	} {
		raw := unhex(t, c.hex)
		j, err := ParseJustification(raw)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.request == "" && (j.Index != c.index || j.SubnetID != ids.ID(unhex(t, subnet)) || j.Request != nil) || hex.EncodeToString(j.Request) != c.request {
			t.Errorf("%s is read as %+v", c.name, j)
		}
		if again := hex.EncodeToString(j.Bytes()); (again == c.hex) != c.same {
			t.Errorf("%s is written as %s, want %s", c.name, again, c.hex)
		}
		id, err := j.ValidationID()
		want := ConversionValidationID(ids.ID(unhex(t, subnet)), c.index).String()
		if c.request != "" {
			want = v.ACP77.Register.ValidationID
		}
		if err != nil || id.String() != want {
			t.Errorf("%s is of validator %s, %v; want %s", c.name, id, err, want)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "a field without content": "12", "no field": "0a", "half a number": "80", "half a length": "1280", "too short": "1203aabb",
		"too long": "0a22" + of("") + "00", "another field": "1a01aa", "a number for a conversion": "0801", "a number for a request": "1001",
		"another wire type": "0d00000000", "no subnet": "0a021001", "an empty conversion": "0a00", "an empty subnet": "0a22" + "0a20" + strings.Repeat("00", 32),
		"a short subnet": "0a030a0107", "a subnet that is a number": "0a020805", "an index of bytes": "0a25" + of("120105"), "a field more": "0a24" + of("1801"),
		"a field after the conversion": "0a22" + of("") + "1801", "a subnet for an index": "0a22" + "1220" + subnet,
		"an index beyond 32 bits": "0a28" + of("108080808010"),
	} {
		if j, err := ParseJustification(unhex(t, text)); err == nil {
			t.Errorf("%s is read as %+v", name, j)
		}
	}
	for name, text := range map[string]string{"another message": "12" + hex.EncodeToString([]byte{byte(len(weight) / 2)}) + weight, "no message": "1201aa"} {
		j, err := ParseJustification(unhex(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if id, err := j.ValidationID(); err == nil {
			t.Errorf("%s is a request for %s", name, id)
		}
	}
}
