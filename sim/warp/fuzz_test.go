package warp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// FuzzMessage reads messages, payloads, keys and signatures as clients send them. A parsed message has the bytes that were sent.
func FuzzMessage(f *testing.F) {
	vectors, err := os.ReadFile(filepath.Join("..", "..", "testdata", "node", "vectors.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range regexp.MustCompile(`"(0x)?[0-9a-f]{40,}"`).FindAll(vectors, 60) {
		var hex string
		if err := json.Unmarshal(text, &hex); err != nil {
			f.Fatal(err)
		}
		f.Add(common.FromHex(hex))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := ParseMessage(raw); err == nil {
			if again, err := m.Bytes(); err != nil || !bytes.Equal(again, raw) {
				t.Errorf("%x became %x: %v", raw, again, err)
			}
		}
		if m, err := ParseUnsigned(raw); err == nil {
			if _, err := m.ID(); err != nil {
				t.Errorf("%x has no id: %v", raw, err)
			}
		}
		if key, err := ParsePublicKey(raw); err == nil && key == nil {
			t.Error("no key and no error")
		}
		_, _ = ParseSent(raw)
		_, _, _ = ParseAddressedCall(raw)
		_, _ = ParseHashPayload(raw)
		_, _ = ParseL1Message(raw)
		_, _ = ParseJustification(raw)
		_, _ = ParseSignature(raw)
	})
}
