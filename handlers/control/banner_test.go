package control

import (
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/handlers/control/describe"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// described returns a world with one chain and all personas.
func described(t *testing.T) *describe.World {
	t.Helper()
	d := &describe.World{Meta: store.Meta{Seed: 7, Profile: "tiny"}, Clock: 1782864000}
	for _, p := range fixtures.Personas {
		key, err := crypto.HexToECDSA(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		address := crypto.PubkeyToAddress(key.PublicKey)
		d.Personas = append(d.Personas, store.Persona{Name: p.Name, Purpose: p.Purpose, Key: crypto.FromECDSA(key), Address: address[:]})
	}
	row := store.Chain{EVMID: 70411, Name: "Icefall", Network: "mainnet", TokenSymbol: "ICE",
		BlockchainID: make([]byte, 32), SubnetID: make([]byte, 32), VMID: make([]byte, 32)}
	d.Chains = []describe.Chain{{Chain: &reader.Chain{Ledger: reader.Ledger{Row: row}}, Height: 5, Transactions: 9, Failed: []byte{0xab}}}
	return d
}

// TestBannerShowsTheKnownKeysOnly finds the mnemonic's accounts in the banner, the first with its address on P and X, and ewoq, and no other
// persona's key.
func TestBannerShowsTheKnownKeysOnly(t *testing.T) {
	const version = "v0.0.0-20260701000000-0123456789ab+dirty, generator 10, go1.99.9 windows/amd64"
	d := described(t)
	d.Balances = make([]string, len(d.Personas)+1)
	for i := range d.Balances {
		d.Balances[i] = hundredths(new(big.Int).Exp(big.NewInt(10), big.NewInt(27), nil), 18)
	}
	d.Personas = append(d.Personas, store.Persona{Name: "treasury-of-mine", Key: []byte{}, Address: d.Personas[0].Address})
	text, err := Banner(d, version, "http://127.0.0.1:19650", Origins{"mainnet": 19650, "fuji": 19652}, time.Unix(d.Clock, 0).Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range d.Personas[:len(fixtures.Personas)] {
		known := i < 2*fixtures.MnemonicAccounts || p.Name == "ewoq"
		if shown := strings.Contains(text, hexutil.Encode(p.Key)); shown != known {
			t.Errorf("key of %s is shown: %v", p.Name, shown)
		}
	}
	for _, want := range []string{"Snowglobe v0.0.0-20260701000000-0123456789ab+dirty\ngenerator 10, go1.99.9 windows/amd64\nseed 7, profile tiny, clock 2026-07-01T00:00:00Z\n", fixtures.Mnemonic, " wallet-0   avax1yljhuvjkmtu0y5ls6kf4exsdd8gea9mp8jd32r    1000000000.00 AVAX\n", "http://127.0.0.1:19650/sim/world\n",
		"http://127.0.0.1:19650/docs\n", "  C-Chain (WebSocket)  ws://127.0.0.1:19650/ext/bc/C/ws\n", "  Data API             http://127.0.0.1:19650/v1\n", "node of mainnet      http://127.0.0.1:19650/ext\n", "node of fuji         http://127.0.0.1:19652/ext\n", "  70411  Icefall             mainnet  http://127.0.0.1:19650/v1/ext/bc/70411/rpc\n", "  alice      " + common.BytesToAddress(d.Personas[0].Address).Hex() + "     1000000000.00 AVAX\n",
		"\nAccounts of the world's file\n  treasury-… " + common.BytesToAddress(d.Personas[0].Address).Hex()} {
		if !strings.Contains(text, want) {
			t.Errorf("the banner lacks %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%q is wider than 80 columns", line)
		}
	}
}

// TestBannerSaysHowToGetACurrentWorld only when the clock is more than a day behind.
func TestBannerSaysHowToGetACurrentWorld(t *testing.T) {
	d := described(t)
	for behind, want := range map[time.Duration]string{-time.Hour: "", 24 * time.Hour: "", 36*24*time.Hour + time.Hour: "The clock is 36 days behind. --until now"} {
		text, err := Banner(d, "v1", "http://127.0.0.1:9650", nil, time.Unix(d.Clock, 0).Add(behind))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(text, "behind. --until now"); said != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s behind: %s", behind, text)
		}
	}
}

// TestWorldCountsItsChains renders a description: totals, URLs of a chain, and samples of existing objects only.
func TestWorldCountsItsChains(t *testing.T) {
	d := described(t)
	w, err := render(d, "v1", "https://globe.example", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if w.Counts != (Counts{Chains: 1, Blocks: 6, Transactions: 9, Personas: len(fixtures.Personas)}) {
		t.Errorf("counts are %+v", w.Counts)
	}
	c := w.Chains[0]
	id := strings.TrimSuffix(strings.TrimPrefix(c.RPCURL, "https://globe.example/ext/bc/"), "/rpc")
	if id != c.BlockchainID || c.WSURL != "wss://globe.example/ext/bc/"+id+"/ws" || c.Height != 5 {
		t.Errorf("chain is %+v", c)
	}
	if len(c.Samples) != 1 || c.Samples["failed"] != "0xab" {
		t.Errorf("samples are %v", c.Samples)
	}
}

// TestOriginsTellNetworksApart: by port where a network has one, else by a host name.
func TestOriginsTellNetworksApart(t *testing.T) {
	for _, c := range []struct {
		origins             Origins
		base, network, want string
	}{
		{Origins{"mainnet": 9650, "fuji": 9652}, "http://127.0.0.1:9650", "fuji", "http://127.0.0.1:9652"},
		{Origins{"mainnet": 9650, "fuji": 9652}, "http://[::1]:9652/upstream", "mainnet", "http://[::1]:9650"},
		{Origins{"mainnet": 9650}, "http://127.0.0.1:9650", "fuji", "http://fuji.localhost:9650"},
		{nil, "https://globe.example", "mainnet", "https://mainnet.localhost"},
		{Origins{"mainnet": 9650, "fuji": 9652}, "http://fuji.localhost:9650", "mainnet", "http://mainnet.localhost:9650"},
	} {
		if have := c.origins.URL(c.base, c.network); have != c.want {
			t.Errorf("%v %s %s: %s, want %s", c.origins, c.base, c.network, have, c.want)
		}
	}
}

// TestNetworksBehindAProxy: a client behind a proxy never sees the process's own addresses.
func TestNetworksBehindAProxy(t *testing.T) {
	origins := Origins{"mainnet": 19752, "fuji": 19754}
	for _, c := range []struct{ host, headers, want string }{
		{"127.0.0.1:19752", "", "http://127.0.0.1:19754"},
		{"snowglobe", "", "http://snowglobe/fuji"},
		{"127.0.0.1:8080", "", "http://127.0.0.1:8080/fuji"},
		{"127.0.0.1:19752", "X-Forwarded-Host: globe.example", "http://globe.example/fuji"},
		{"127.0.0.1:19752", "X-Forwarded-Host: globe.example:19752\nX-Forwarded-Proto: https", "https://globe.example:19752/fuji"},
		{"127.0.0.1:19752", "X-Forwarded-Prefix: /globe", "http://127.0.0.1:19752/globe/fuji"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/sim/health", nil)
		r.Host, r.RemoteAddr = c.host, "127.0.0.1:40000"
		for header := range strings.Lines(c.headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(header), ": ")
			r.Header.Set(name, value)
		}
		if have := origins.of(r, "fuji"); have != c.want {
			t.Errorf("%s with %q: %s, want %s", c.host, c.headers, have, c.want)
		}
	}
}
