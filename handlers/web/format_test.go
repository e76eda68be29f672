package web

import (
	"strings"
	"testing"
)

// TestFeesAreReadable: small fees are shown in a small unit, with the exact value in the title.
func TestFeesAreReadable(t *testing.T) {
	for wei, want := range map[string]string{
		"0": "<b>0</b> <bdi>wei</bdi>", "42000": "<b>42,000</b> <bdi>wei</bdi>", "999999999": "<b>999,999,999</b> <bdi>wei</bdi>", "1000000000": "<b>1</b> <bdi>nAVAX</bdi>", "77610000000": "<b>77.61</b> <bdi>nAVAX</bdi>",
		"9999000000000": "<b>9,999</b> <bdi>nAVAX</bdi>", "10000000000000": "<b>0.00001</b> <bdi>AVAX</bdi>", "1500000000000000000": "<b>1.5</b> <bdi>AVAX</bdi>",
	} {
		if got := string(fee(wei, "AVAX")); !strings.Contains(got, want) {
			t.Errorf("%s wei is %s, want %s", wei, got, want)
		}
	}
}
