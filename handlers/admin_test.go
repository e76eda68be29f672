// The node's admin API in a running program: its effect on other clients, on files and on the log.

//go:build !race

package handlers_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers/control"
)

// says posts a body to the running program and returns the response.
func (s *started) says(t *testing.T, path, body string) string {
	t.Helper()
	answer, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// admin calls a method of the admin API that must succeed.
func (s *started) admin(t *testing.T, method, params string) string {
	t.Helper()
	text := s.says(t, "/ext/admin", `{"jsonrpc":"2.0","id":1,"method":"admin.`+method+`","params":`+params+`}`)
	if !strings.Contains(text, `"result":`) {
		t.Errorf("%s %s: %s", method, params, text)
	}
	return text
}

const chainID, networkID = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"info.getNetworkID"}`

// TestAdminHasEffect calls every method of the admin API on the running program and checks its effect.
func TestAdminHasEffect(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	options := []string{"--api-admin-enabled", "--profile-dir", filepath.Join(folder, "kept")}
	s := start(t, folder, options...)
	s.refuses(t, "stopCPUProfiler", "cpu profiler doesn't exist")
	s.admin(t, "startCPUProfiler", `{}`)
	s.refuses(t, "startCPUProfiler", "cpu profiler already running")
	s.admin(t, "alias", `{"endpoint":"info","alias":"about"}`)
	if got := s.says(t, "/ext/about", networkID); !strings.Contains(got, `"networkID":"1"`) {
		t.Errorf("through the endpoint's alias: %s", got)
	}
	s.aliasesChain(t)
	s.changesLevels(t)
	if got := s.admin(t, "loadVMs", `{}`); !strings.Contains(got, `"newVMs":{}`) {
		t.Error(got)
	}
	for _, method := range []string{"memoryProfile", "lockProfile", "stopCPUProfiler", "stacktrace", "getConfig"} {
		s.admin(t, method, `{}`)
	}
	if raw, err := os.ReadFile(filepath.Join(folder, "kept", "stacktrace.txt")); err != nil || !strings.Contains(string(raw), "goroutine ") {
		t.Errorf("the stack trace is %.40q, %v", raw, err)
	}
	for _, name := range []string{"cpu.profile", "mem.profile", "lock.profile"} {
		raw, err := os.ReadFile(filepath.Join(folder, "kept", name))
		if err != nil || len(raw) < 20 || raw[0] != 0x1f || raw[1] != 0x8b {
			t.Errorf("%s is no profile: %v, %d bytes", name, err, len(raw))
		}
	}
	s.stopped(t)
	for want, times := range map[string]int{`DEBUG msg="API called" .*method=eth_chainId`: 1, `POST /ext/bc/C/rpc eth_chainId 200`: 2, `GET /v1/chains/43113`: 0} {
		if got := len(regexp.MustCompile(want).FindAllString(s.banner.String(), -1)); got != times {
			t.Errorf("%d lines with %s, want %d:\n%s", got, want, times, s.banner)
		}
	}
}

// TestAdminEndsWithTheProcess: a restarted node has lost the aliases of its last process, and logs as usual.
func TestAdminEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	options := []string{"--api-admin-enabled", "--profile-dir", folder}
	first := start(t, folder, options...)
	first.admin(t, "alias", `{"endpoint":"info","alias":"about"}`)
	first.admin(t, "aliasChain", `{"chain":"C","alias":"contracts"}`)
	first.admin(t, "setLoggerLevel", `{"logLevel":"off"}`)
	first.stopped(t)
	again := start(t, folder, options...)
	defer again.stopped(t)
	for _, path := range []string{"/ext/about", "/ext/bc/contracts/rpc"} {
		if got := again.says(t, path, networkID); got != "404 page not found\n" {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := again.admin(t, "getLoggerLevel", `{"loggerName":"main"}`); !strings.Contains(got, `"main":{"logLevel":"INFO"`) {
		t.Error(got)
	}
}

// refuses calls a method of the admin API that must fail with a reason.
func (s *started) refuses(t *testing.T, method, why string) {
	t.Helper()
	if text := s.says(t, "/ext/admin", `{"jsonrpc":"2.0","id":1,"method":"admin.`+method+`"}`); !strings.Contains(text, why) {
		t.Errorf("%s: %s", method, text)
	}
}

func (s *started) aliasesChain(t *testing.T) {
	t.Helper()
	s.admin(t, "aliasChain", `{"chain":"C","alias":"contracts"}`)
	if got := s.says(t, "/ext/bc/contracts/rpc", chainID); !strings.Contains(got, `"0xa86a"`) {
		t.Errorf("through the chain's alias: %s", got)
	}
	answer, err := http.Get(s.url + "/v1/chains/contracts")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), `"chainId":"43114"`) {
		t.Errorf("the Data API does not know the alias: %s", text)
	}
	s.refusesTaken(t)
	if got := s.admin(t, "getChainAliases", `{"chain":"2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5"}`); !strings.Contains(got, `"contracts"]`) {
		t.Error(got)
	}
}

// refusesTaken asks for names that are already taken: a chain's alias, an L1's validators, an endpoint's alias.
func (s *started) refusesTaken(t *testing.T) {
	t.Helper()
	s.admin(t, "alias", `{"endpoint":"bc/C","alias":"bc/deeds"}`)
	var world control.World
	if err := json.Unmarshal([]byte(s.reads(t, "/sim/world")), &world); err != nil {
		t.Fatal(err)
	}
	validators := "bc/" + world.Chains[len(world.Chains)-1].BlockchainID + "/validators"
	for method, params := range map[string]string{
		"alias to a chain":       `alias","params":{"endpoint":"bc/X","alias":"bc/contracts"}`,
		"alias to validators":    `alias","params":{"endpoint":"info","alias":"` + validators + `"}`,
		"alias of a chain":       `aliasChain","params":{"chain":"X","alias":"deeds"}`,
		"alias of a chain again": `aliasChain","params":{"chain":"X","alias":"contracts"}`,
	} {
		text := s.says(t, "/ext/admin", `{"jsonrpc":"2.0","id":1,"method":"admin.`+params+`}`)
		if !strings.Contains(text, "alias") || !strings.Contains(text, `"error"`) {
			t.Errorf("%s: %s", method, text)
		}
	}
	if got := s.says(t, "/ext/bc/contracts/rpc", chainID); !strings.Contains(got, `"0xa86a"`) {
		t.Errorf("through the chain's alias: %s", got)
	}
}

// changesLevels calls the C-Chain four times: logged, silent, logged with the call, silent; and then the Data API, silent.
func (s *started) changesLevels(t *testing.T) {
	t.Helper()
	for _, level := range []string{"INFO", "ERROR", "DEBUG", "OFF"} {
		s.admin(t, "setLoggerLevel", `{"loggerName":"C","logLevel":"`+level+`"}`)
		s.says(t, "/ext/bc/C/rpc", chainID)
	}
	s.admin(t, "setLoggerLevel", `{"logLevel":"off"}`)
	if got := s.admin(t, "getLoggerLevel", `{"loggerName":"main"}`); !strings.Contains(got, `"main":{"logLevel":"OFF"`) {
		t.Error(got)
	}
	answer, err := http.Get(s.url + "/v1/chains/43113")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}
