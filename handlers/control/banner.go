package control

import (
	"fmt"
	"strings"
	"time"

	"snowglobe/fixtures"
)

// listedPersonas is how many personas the banner shows: the accounts of the mnemonic, those for EVM chains and those for P and X,
// and ewoq, which follows them. Their keys are well known; those of the others stand at /sim/world.
const listedPersonas = 2*fixtures.MnemonicAccounts + 1

// staleAfter is how far a world's clock may be behind before the banner speaks of it.
const staleAfter = 24 * time.Hour

// Banner is what a person sees when the simulator starts: the world, where to ask, the best-known personas with their keys, and
// two commands to paste. It fits 80 columns. When the world's time is behind the real one, now, it says what to do about that.
func Banner(d *Description, version, base string, origins Origins, now time.Time) (string, error) {
	w, err := render(d, version, base, origins)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nSnowglobe %s\nseed %d, profile %s, clock %s\ndigest %s\n\n", strings.Replace(version, ", ", "\n", 1), w.Seed, w.Profile, w.Clock.Time, w.Digest)
	if behind := now.Sub(time.Unix(d.Clock, 0)); behind > staleAfter {
		fmt.Fprintf(&b, "The clock is %d days behind. --until now makes a world that ends now, in\nanother file; with --live time goes on, and so do its people.\n\n",
			behind/(24*time.Hour))
	}
	socket := "ws" + strings.TrimPrefix(base, "http")
	for _, row := range [][2]string{{"in a browser", base + "/"}, {"everything by name", base + "/sim/world"}, {"documentation", base + "/docs"},
		{"Data API", base + "/v1"}, {"Metrics API", base + "/v2"}, {"C-Chain (JSON-RPC)", base + "/ext/bc/C/rpc"}, {"C-Chain (WebSocket)", socket + "/ext/bc/C/ws"}, {"node", base + "/ext"}} {
		fmt.Fprintf(&b, "  %-20s %s\n", row[0], row[1])
	}
	for _, n := range w.Networks {
		fmt.Fprintf(&b, "  %-20s %s/ext\n", "node of "+n.Name, n.URL)
	}
	b.WriteString("\nChains\n")
	for _, c := range w.Chains {
		fmt.Fprintf(&b, "  %-6s %-20s %-8s %s/v1/ext/bc/%s/rpc\n", c.ChainID, clipped(c.Name, 20), c.Network, base, c.ChainID)
	}
	fmt.Fprintf(&b, "\nPersonas, with this mnemonic:\n  %s\n", fixtures.Mnemonic)
	for i, p := range w.Personas[:min(len(w.Personas), listedPersonas)] {
		address := p.Address
		if i/fixtures.MnemonicAccounts == 1 {
			address = p.Addresses[fixtures.MainnetName]
		}
		fmt.Fprintf(&b, "  %-10s %s\n  %10s %s\n", p.Name, address, "key", p.Key)
	}
	fmt.Fprintf(&b, "\nTry\n  curl -s %s/sim/health\n  curl -s -H 'content-type: application/json' \\\n", base)
	fmt.Fprintf(&b, "    -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_blockNumber\",\"params\":[]}' \\\n    %s/ext/bc/C/rpc\n\n", base)
	return b.String(), nil
}

// clipped is the beginning of a text that is too long.
func clipped(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}
