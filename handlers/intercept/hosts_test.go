package intercept

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/fixtures"
)

var testChains = []Chain{
	{ID: "43114", BlockchainID: "bMain", Name: "Avalanche (C-Chain)", Network: fixtures.MainnetName, Primary: true},
	{ID: "43113", BlockchainID: "bFuji", Name: "Avalanche (C-Chain)", Network: fixtures.FujiName, Primary: true},
	{ID: "70411", BlockchainID: "bIce", Name: "Icefall", Network: fixtures.MainnetName},
	{ID: "70412", BlockchainID: "bDeep", Name: "Deep Powder", Network: fixtures.FujiName},
}

func TestPathsOfTheHosts(t *testing.T) {
	own := fixtures.Host{Name: "rpc.example.com", Service: fixtures.ChainService, Network: fixtures.MainnetName, Chain: "70412"}
	for _, c := range []struct {
		host, path, upgrade, want string
		redirect                  bool
	}{
		{"api.avax.network", "/ext/bc/C/rpc", "", "/ext/bc/C/rpc", false},
		{"data-api.avax.network", "/v1/chains", "", "/v1/chains", false},
		{"proxy-api.avax.network", "/watchlist/tokens", "", "/sim/watchlist", false},
		{"proxy-api.avax.network", "/proxy/glacier/v1/chains", "", "/proxy/glacier/v1/chains", false},
		{"subnets.avax.network", "/", "", "/", false},
		{"subnets.avax.network", "/c-chain", "", "/sim/explorer/43114", true},
		{"subnets.avax.network", "/c-chain/tx/0x1", "", "/sim/explorer/43114/tx/0x1", true},
		{"subnets-test.avax.network", "/c-chain/block/7", "", "/sim/explorer/43113/block/7", true},
		{"subnets.avax.network", "/icefall/address/0x1", "", "/sim/explorer/70411/address/0x1", true},
		{"subnets.avax.network", "/icefall/mainnet/rpc", "", "/ext/bc/bIce/rpc", false},
		{"subnets.avax.network", "/70411/mainnet/ws", "", "/ext/bc/bIce/ws", false},
		{"subnets-test.avax.network", "/deep-powder/testnet/rpc", "", "/ext/bc/bDeep/rpc", false},
		{"subnets-test.avax.network", "/c-chain/testnet/rpc", "", "/ext/bc/bFuji/rpc", false},
		{"subnets.avax.network", "/p-chain/tx/2a", "", "/p/mainnet/tx/2a", true},
		{"subnets-test.avax.network", "/x-chain/block/3", "", "/x/fuji/block/3", true},
		{"subnets.avax.network", "/validators/NodeID-1", "", "/p/mainnet/node/NodeID-1", true},
		{"subnets.avax.network", "/validators", "", "/p/mainnet", true},
		{"subnets.avax.network", "/subnets/2s", "", "/p/mainnet/subnet/2s", true},
		{"subnets.avax.network", "/assets/1/style.css", "", "/assets/1/style.css", false},
		{"subnets.avax.network", "/unknown/mainnet/rpc", "", "/unknown/mainnet/rpc", false},
		{"rpc.example.com", "/", "", "/ext/bc/bDeep/rpc", false},
		{"rpc.example.com", "/rpc", "", "/ext/bc/bDeep/rpc", false},
		{"rpc.example.com", "/rpc", "websocket", "/ext/bc/bDeep/ws", false},
		{"rpc.example.com", "/ws", "", "/ext/bc/bDeep/ws", false},
		{"rpc.example.com", "/ext/bc/bDeep/rpc", "", "/ext/bc/bDeep/rpc", false},
	} {
		h := &own
		for i := range fixtures.Hosts {
			if fixtures.Hosts[i].Name == c.host {
				h = &fixtures.Hosts[i]
			}
		}
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.upgrade != "" {
			r.Header.Set("Upgrade", c.upgrade)
		}
		if got := resolve(h, testChains, r); got.path != c.want || got.redirect != c.redirect {
			t.Errorf("%s%s %s: %+v, not %s", c.host, c.path, c.upgrade, got, c.want)
		}
	}
}

func TestHostsOfUsers(t *testing.T) {
	h, err := ParseHost("RPC.Example.com.=chain:70411")
	if err != nil || h.Name != "rpc.example.com" || h.Service != fixtures.ChainService || h.Chain != "70411" {
		t.Error(h, err)
	}
	if h, err := ParseHost("glacier.internal=data"); err != nil || h.Service != fixtures.DataService {
		t.Error(h, err)
	}
	p, err := New(Options{Hosts: []fixtures.Host{{Name: "api.avax.network", Service: fixtures.MetricsService}}}, slog.New(slog.DiscardHandler))
	if err != nil || len(p.Hosts()) != len(fixtures.Hosts) || p.host("api.avax.network").Service != fixtures.MetricsService {
		t.Error("a host of the table, twice", err)
	}
	for text, want := range map[string]string{
		"rpc.example.com": "not of the form", "=data": "not of the form", "*.example.com=data": "not of the form", "1.2.3.4=node": "not of the form",
		"localhost=node": "not of the form", "a.example.com=explorer": "not one of", "a.example.com:443=node": "not of the form",
	} {
		if _, err := ParseHost(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := checkChains([]fixtures.Host{{Name: "a.example", Service: fixtures.ChainService, Chain: "5"}}, testChains); err == nil || !strings.Contains(err.Error(), "43114, 43113, 70411, 70412") {
		t.Error(err)
	}
}

func TestHostsThatPass(t *testing.T) {
	var patterns []string
	for _, text := range []string{"Registry.npmjs.org", "*.example.com", "10.0.0.7", "[2001:DB8:0::1]", "xn--bcher-kva.example", "build_host"} {
		p, err := ParseAllowed(text)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	for host, want := range map[string]bool{
		"registry.npmjs.org": true, "npmjs.org": false, "a.example.com": true, "a.b.example.com": true, "example.com": false,
		"badexample.com": false, "10.0.0.7": true, "10.0.0.8": false, "2001:db8::1": true, normal("[2001:db8:0:0::1]"): true,
		"xn--bcher-kva.example": true, "build_host": true,
	} {
		if allowed(patterns, host) != want {
			t.Errorf("%s passes: %t", host, !want)
		}
	}
	for _, text := range []string{"", "*", "https://a.example", "a.example:443", "a.*.example", ".example.com", "a..example", "bücher.example", "*."} {
		if p, err := ParseAllowed(text); err == nil {
			t.Errorf("%q is read as %q", text, p)
		}
	}
}
