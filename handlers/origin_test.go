// A listening server's hosts and ports determine the network of /ext.

package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
)

// TestNetworksHaveOriginsOfTheirOwn starts a server and checks the network of /ext at every origin that it prints.
func TestNetworksHaveOriginsOfTheirOwn(t *testing.T) {
	l, err := handlers.Addresses{Main: "127.0.0.1:0"}.Listen()
	if err != nil || l.Fuji == nil {
		t.Fatal(l, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped, banner := make(chan error, 1), &logLines{}
	go func() {
		stopped <- handlers.Run(ctx, l, tinyWorld(t), handlers.Options{Network: "mainnet", Log: slog.New(slog.DiscardHandler), Node: handlers.NodeOptions{Hosts: []string{"localhost"}}}, banner)
	}()
	main, fuji := "http://"+l.Main.Addr().String(), "http://"+l.Fuji.Addr().String()
	var health struct {
		Healthy  bool
		Networks map[string]string
	}
	decodeURL(t, main+"/sim/health", &health)
	if !health.Healthy || health.Networks["mainnet"] != main || health.Networks["fuji"] != fuji {
		t.Errorf("health is %v: want %s and %s", health, main, fuji)
	}
	var world struct {
		Networks []struct{ Name, URL string }
	}
	decodeURL(t, fuji+"/sim/world", &world)
	for _, n := range world.Networks {
		if n.URL != health.Networks[n.Name] {
			t.Errorf("the world says %s is at %s", n.Name, n.URL)
		}
	}
	for _, c := range []struct{ url, host, id string }{
		{main + "/ext/info", "", "1"}, {fuji + "/ext/info", "", "5"}, {fuji + "/mainnet/ext/info", "", "1"}, {main + "/fuji/ext/info", "", "5"},
		{main + "/ext/info", "fuji.localhost:9650", "5"}, {fuji + "/ext/info", "mainnet.localhost", "1"}, {main + "/ext/info", "FUJI.localhost", "5"},
		{main + "/ext/info", "nope.localhost", ""}, {main + "/ext/info", "fuji.example", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"info.getNetworkID"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Host = c.host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if want := `"networkID":"` + c.id + `"`; c.id != "" && !strings.Contains(string(text), want) || c.id == "" && answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s of host %q is of %d %s: want %q", c.url, c.host, answer.StatusCode, text, c.id)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(banner.String(), fuji+"/ext\n") && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if text := banner.String(); !strings.Contains(text, main+"/ext\n") || !strings.Contains(text, fuji+"/ext\n") {
		t.Errorf("the banner lacks an origin:\n%s", text)
	}
}

func decodeURL(t *testing.T, url string, into any) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(url)
		if err != nil && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
		return
	}
}

// TestFujiAddress: a default port may be taken, a port that the user chose may not.
func TestFujiAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	below := fmt.Sprintf("127.0.0.1:%d", taken.Addr().(*net.TCPAddr).Port-2)
	if l, err := (handlers.Addresses{Main: below}).Listen(); err == nil {
		if l.Fuji != nil || !strings.Contains(l.Note, "--fuji-addr") {
			t.Errorf("fuji is at %v, and the note is %q", l.Fuji, l.Note)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (handlers.Addresses{Main: "127.0.0.1:0", Fuji: taken.Addr().String()}).Listen(); err == nil || !strings.Contains(err.Error(), "--fuji-addr") {
		t.Errorf("a chosen address that is taken: %v", err)
	}
	l, err := handlers.Addresses{Main: "127.0.0.1:0", Fuji: handlers.Off}.Listen()
	if err != nil || l.Fuji != nil || l.Note != "" {
		t.Fatal(l, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestDataAPIPassesJSONRPCOn asks each chain by both of its ids, and chains that do not exist.
func TestDataAPIPassesJSONRPCOn(t *testing.T) {
	w := readWorld(t)
	h := surfaceOf(t, w)
	const request = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`
	for _, c := range w.Chains {
		for _, id := range []string{fmt.Sprint(c.Row.EVMID), ids.ID(c.Row.BlockchainID).String()} {
			if answer := ask(h, http.MethodPost, "/v1/ext/bc/"+id+"/rpc", request); !strings.Contains(answer, fmt.Sprintf(`"result":"%#x"`, c.Row.EVMID)) {
				t.Errorf("%s is %s", id, answer)
			}
		}
	}
	for path, want := range map[string]string{
		"/v1/ext/bc/5/rpc":          `{"message":"chain 5 is not known: expected the EVM chain id or blockchain id of one of /v1/chains","error":"Not Found","statusCode":404}`,
		"/v1/ext/bc/43114":          `"message":"Cannot POST /v1/ext/bc/43114"`,
		"/v1/ext/bc/43114/nope/rpc": `"statusCode":404`,
	} {
		if answer := ask(h, http.MethodPost, path, request); !strings.Contains(answer, want) {
			t.Errorf("%s answers %s: want %s", path, answer, want)
		}
	}
	if answer := ask(h, http.MethodGet, "/sim/world", ""); !strings.Contains(answer, `"paths":["/v1/ext/bc/{chainId}/rpc"]`) {
		t.Error("the list of endpoints lacks the proxy")
	}
}
