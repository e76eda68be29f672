package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/control/describe"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// listedPersonas is the number of personas in the banner: the mnemonic's accounts for EVM chains and for P and X, then ewoq. Their keys are
// well known; /sim/world lists the other personas.
const listedPersonas = 2*fixtures.MnemonicAccounts + 1

// staleAfter bounds how far the world's clock may lag before the banner mentions it.
const staleAfter = 24 * time.Hour

// Banner renders the text that the simulator prints at its start, within 80 columns: the world, the URLs, the best-known personas with
// their keys and balances, and two commands to paste. If the world's clock lags behind the real time, now, it tells the user how to catch
// up.
func Banner(d *describe.World, version, base string, origins Origins, now time.Time) (string, error) {
	w, err := render(d, version, base, func(network string) string { return origins.URL(base, network) })
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nSnowglobe %s\nseed %d, profile %s, clock %s\ndigest %s\n\n", strings.Replace(version, ", ", "\n", 1), w.Seed, w.Profile, w.Clock.Time, w.Digest)
	if behind := now.Sub(time.Unix(d.Clock, 0)); behind > staleAfter {
		fmt.Fprintf(&b, "The clock is %d days behind. --until now generates a world that ends now, in\nanother file; --live lets time pass and people act.\n\n",
			behind/(24*time.Hour))
	}
	socket := "ws" + strings.TrimPrefix(base, "http")
	for _, row := range [][2]string{{"in a browser", base + "/"}, {"everything by name", base + "/sim/world"}, {"documentation", base + "/docs"},
		{"Data API", base + "/v1"}, {"Metrics API", base + "/v2"}, {"like Etherscan's", base + "/api"}, {"C-Chain (JSON-RPC)", base + "/ext/bc/C/rpc"}, {"C-Chain (WebSocket)", socket + "/ext/bc/C/ws"}, {"node", base + "/ext"}} {
		fmt.Fprintf(&b, "  %-20s %s\n", row[0], row[1])
	}
	for _, n := range w.Networks {
		fmt.Fprintf(&b, "  %-20s %s/ext\n", "node of "+n.Name, n.URL)
	}
	b.WriteString("\nChains\n")
	for _, c := range w.Chains {
		fmt.Fprintf(&b, "  %-6s %-19s %-8s %s/v1/ext/bc/%s/rpc\n", c.ChainID, clipped(c.Name, 19), c.Network, base, c.ChainID)
	}
	fmt.Fprintf(&b, "\nPersonas, with this mnemonic:\n  %s\n", fixtures.Mnemonic)
	for i, p := range w.Personas[:min(len(w.Personas), listedPersonas)] {
		address := p.Address
		if i/fixtures.MnemonicAccounts == 1 {
			address = p.Addresses[fixtures.MainnetName]
		}
		fmt.Fprintf(&b, "%s\n  %10s %s\n", personaLine(p.Name, address, balance(d, i)), "key", p.Key)
	}
	if own := w.Personas[min(len(w.Personas), len(fixtures.Personas)):]; len(own) > 0 {
		b.WriteString("\nAccounts of the world's file\n")
		for i, p := range own {
			fmt.Fprintf(&b, "%s\n", personaLine(p.Name, cmp.Or(p.Address, p.ChainAddresses[fixtures.MainnetName]["P"]), balance(d, len(fixtures.Personas)+i)))
		}
	}
	fmt.Fprintf(&b, "\nTry\n  curl -s %s/sim/health\n  curl -s -H 'content-type: application/json' \\\n", base)
	fmt.Fprintf(&b, "    -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_blockNumber\",\"params\":[]}' \\\n    %s/ext/bc/C/rpc\n\n", base)
	return b.String(), nil
}

// personaLine renders one persona with an address and a balance.
func personaLine(name, address, balance string) string {
	return strings.TrimRight(fmt.Sprintf("  %-10s %-45s%20s", clipped(name, 10), address, balance), " ")
}

// balance returns the balance of the i-th persona, if it was read.
func balance(d *describe.World, i int) string {
	if i < len(d.Balances) {
		return d.Balances[i]
	}
	return ""
}

// ReadBalances reads the balances of the banner's personas: on the C-Chain of mainnet, or on P for those listed with their P address.
func ReadBalances(ctx context.Context, w *sim.World, d *describe.World) error {
	d.Balances = make([]string, len(d.Personas))
	if len(w.Networks) == 0 || w.Networks[0].CChain() == nil {
		return nil
	}
	n := w.Networks[0]
	for i := range d.Personas {
		p := &d.Personas[i]
		switch {
		case i/fixtures.MnemonicAccounts == 1 || len(p.Address) == 0: // the mnemonic's accounts on P and X
			short, err := shortAddress(p)
			if err != nil {
				return err
			}
			utxos, err := w.DB.UnspentUTXOsOfAddress(ctx, short, n.Chain(txs.PChain))
			if err != nil {
				return err
			}
			sum := new(big.Int)
			for _, u := range utxos {
				if ids.ID(u.Asset) == n.Rules.AVAXAssetID {
					sum.Add(sum, new(big.Int).SetUint64(uint64(u.Amount)))
				}
			}
			d.Balances[i] = hundredths(sum, 9)
		case i < listedPersonas || i >= len(fixtures.Personas):
			account, err := w.DB.Account(ctx, n.CChain().Row.ID, p.Address, store.MaxNumber)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			sum := new(big.Int)
			if account != nil {
				sum.SetBytes(account.Balance)
			}
			d.Balances[i] = hundredths(sum, 18)
		}
	}
	return nil
}

// hundredths formats an amount of AVAX with two decimals, truncated.
func hundredths(n *big.Int, decimals int64) string {
	n = new(big.Int).Div(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals-2), nil))
	whole, rest := new(big.Int).DivMod(n, big.NewInt(100), new(big.Int))
	return fmt.Sprintf("%s.%02d AVAX", whole, rest.Int64())
}

// clipped truncates a text that is too long.
func clipped(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// Program identifies the program: its version as the toolchain recorded it, and the generator's version, which decides a world's bytes.
type Program struct {
	Version   string `json:"version"`
	Generator string `json:"generator"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
}

// Build identifies this program.
func Build() Program {
	module := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		module = info.Main.Version
	}
	return Program{module, sim.Generator, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// Version formats the same as a line.
func Version() string {
	p := Build()
	return fmt.Sprintf("%s, generator %s, %s %s", p.Version, p.Generator, p.Go, p.Platform)
}
