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
// two commands to paste. When the world's time is behind the real one, now, it says what to do about that.
func Banner(d *Description, version, base string, origins Origins, now time.Time) (string, error) {
	w, err := render(d, version, base, origins)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nSnowglobe %s: seed %d, profile %s, clock %s\ndigest %s\n\n", version, w.Seed, w.Profile, w.Clock.Time, w.Digest)
	if behind := now.Sub(time.Unix(d.Clock, 0)); behind > staleAfter {
		fmt.Fprintf(&b, "The clock is %d days behind. --until now makes a world that ends now, in another file; with --live time goes on, and so do its people.\n\n",
			behind/(24*time.Hour))
	}
	fmt.Fprintf(&b, "  in a browser         %s/\n  everything by name   %s/sim/world\n  documentation        %s/docs\n  node (JSON-RPC)      %s/ext\n", base, base, base, base)
	for _, n := range w.Networks {
		fmt.Fprintf(&b, "  %-20s %s/ext\n", "node of "+n.Name, n.URL)
	}
	b.WriteString("\n")
	b.WriteString("Chains\n")
	for _, c := range w.Chains {
		fmt.Fprintf(&b, "  %-8s %-20s %-8s %s\n", c.ChainID, c.Name, c.Network, c.RPCURL)
	}
	fmt.Fprintf(&b, "\nPersonas (mnemonic: %s)\n", fixtures.Mnemonic)
	for i, p := range w.Personas[:min(len(w.Personas), listedPersonas)] {
		address := p.Address
		if i/fixtures.MnemonicAccounts == 1 {
			address = p.Addresses[fixtures.MainnetName]
		}
		fmt.Fprintf(&b, "  %-10s %-45s  %s\n", p.Name, address, p.Key)
	}
	first := w.Chains[0]
	call := `{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`
	fmt.Fprintf(&b, "\nTry\n  curl -s -H 'content-type: application/json' -d '"+call+"' %s\n", "eth_blockNumber", "[]", first.RPCURL)
	fmt.Fprintf(&b, "  curl -s -H 'content-type: application/json' -d '"+call+"' %s\n\n", "eth_getBalance",
		`["`+w.Personas[0].Address+`","latest"]`, first.RPCURL)
	return b.String(), nil
}
