package snowglobetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/snowglobetest"
)

// question is a request that changes nothing.
type question struct{ path, body string } // a JSON-RPC call if there is a body

func (q question) String() string { return q.path + " " + q.body }

// answersOf sends all requests to a server, which then has most responses in memory.
func answersOf(t *testing.T, base string, all []question) map[question]string {
	t.Helper()
	answers := map[question]string{}
	for _, q := range all {
		method := http.MethodPost
		if q.body == "" {
			method = http.MethodGet
		}
		r, err := http.NewRequest(method, base+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(q, err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(q, err)
		}
		answers[q] = fmt.Sprint(answer.StatusCode, " ", strings.ReplaceAll(ownMoment.ReplaceAllString(string(body), "…"), strings.TrimPrefix(base, "http://"), "HERE"))
	}
	return answers
}

// ownMoment matches differences between any two responses: page tokens name a commit, health checks have durations, the newest block has a wall-clock
// time, and each server has its own port for fuji.
var ownMoment = regexp.MustCompile(`"nextPageToken":"[^"]*"|"duration":\d+|"result":\d{13}\b|fuji\.localhost:\d+`)

// differ compares a server's memory with the file.
func differ(t *testing.T, when string, got, want map[question]string) {
	t.Helper()
	for q, answer := range want {
		if got[q] == answer {
			continue
		}
		same := 0
		for same < len(answer) && same < len(got[q]) && answer[same] == got[q][same] {
			same++
		}
		same = max(same-100, 0)
		t.Errorf("%s: %.300s\n… %.600s\nwant\n… %.600s", when, q, got[q][min(same, len(got[q])):], answer[same:])
	}
}

// questionsOf returns the examples of the documents and the requests of the transcripts, without those that change something.
func questionsOf(t *testing.T, s *snowglobetest.Server) []question {
	t.Helper()
	all := append(examplesREST(t, s), examplesRPC(t, s)...)
	all = append(all, transcribed(t, s)...)
	slices.SortStableFunc(all, func(a, b question) int { return strings.Compare(a.path, b.path) })
	all = slices.Compact(all)
	if len(all) < 1000 {
		t.Fatalf("only %d questions", len(all))
	}
	if testing.Short() {
		t.Log("left out of a short run: two of three questions")
		for i := range (len(all) + 2) / 3 {
			all[i] = all[3*i]
		}
		all = all[:(len(all)+2)/3]
	}
	return all
}

// aboutTheProcess matches endpoints about this process or its requests, not about the world.
var aboutTheProcess = regexp.MustCompile(`^/(upstream/)?(sim/(requests|session|events|health|worlds|faults|snapshots|gas|artifacts)|v\d/(subnets/|)?(rpcUsage|usage|logs|apiUsage|apiLogs|subnetRpcUsage|rpcRequest)|v1/(webhooks|operations)|ext/(metrics|health|admin)|(mainnet|fuji)/ext/(metrics|health))`)

func examplesREST(t *testing.T, s *snowglobetest.Server) (all []question) {
	t.Helper()
	type parameter struct {
		Name, In string
		Required bool
		Example  any
	}
	var document struct {
		Paths map[string]map[string]struct{ Parameters []parameter }
	}
	read(t, s.URL+"/openapi.json", &document)
	for path, operations := range document.Paths {
		operation, asks := operations["get"]
		if !asks || aboutTheProcess.MatchString(path) {
			continue
		}
		query := url.Values{}
		for _, p := range operation.Parameters {
			text, listed := fmt.Sprint(p.Example), p.Example != nil
			if some, list := p.Example.([]any); list {
				text = strings.Trim(strings.ReplaceAll(fmt.Sprint(some), " ", ","), "[]")
			}
			switch {
			case p.In == "path":
				path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
			case p.In == "query" && listed:
				query.Set(p.Name, text)
			}
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		all = append(all, question{path, ""}, question{"/upstream" + path, ""})
	}
	return all
}

func examplesRPC(t *testing.T, s *snowglobetest.Server) (all []question) {
	t.Helper()
	var document struct {
		Methods []struct {
			Name           string
			ParamStructure string
			Servers        []struct{ Name string }
			Examples       []struct {
				Params []struct {
					Name  string
					Value json.RawMessage
				}
			}
		}
	}
	read(t, s.URL+"/openrpc.json", &document)
	for _, m := range document.Methods {
		if !asks(m.Name) {
			continue
		}
		for _, example := range m.Examples {
			named, listed := map[string]json.RawMessage{}, []json.RawMessage{}
			for _, p := range example.Params {
				named[p.Name], listed = p.Value, append(listed, p.Value)
			}
			var params any = listed
			if m.ParamStructure == "by-name" {
				params = named
			}
			body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": params})
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range m.Servers {
				all = append(all, question{at.Name, string(body)})
			}
		}
	}
	return all
}

// asks reports whether a method only reads the world.
func asks(method string) bool {
	for _, word := range []string{"admin.", "health.", "ilter", "ubscribe", "send", "Send", "issueTx", "_mine", "_metadata"} {
		if strings.Contains(method, word) {
			return false
		}
	}
	return permit.Of(method) == permit.Read
}

// transcribed returns the requests of the transcripts, adapted to the current world.
func transcribed(t *testing.T, s *snowglobetest.Server) (all []question) {
	t.Helper()
	l1 := ""
	for _, c := range s.World().Chains {
		if c.Network == "mainnet" && c.ChainID != "43114" {
			l1 = c.BlockchainID
		}
	}
	var files []string
	for _, pattern := range []string{"*.txt", "*/*.txt"} {
		some, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", "node", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := ""
		for line := range strings.Lines(string(text)) {
			line = strings.ReplaceAll(strings.TrimSpace(line), "{L1}", l1)
			if at, found := strings.CutPrefix(line, "POST "); found {
				path = at
			}
			body, found := strings.CutPrefix(line, "--> ")
			var call struct{ Method string }
			if !found || json.Unmarshal([]byte(body), &call) != nil || !asks(call.Method) || aboutTheProcess.MatchString(path) {
				continue
			}
			all = append(all, question{path, body})
		}
	}
	return all
}

func read(t *testing.T, url string, into any) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// happen makes changes on every chain that depend on a number.
func happen(t *testing.T, s *snowglobetest.Server, number int) {
	t.Helper()
	answer, err := http.Post(s.URL+"/sim/clock", "application/json", strings.NewReader(fmt.Sprintf(`{"advance":"%dh","populate":true}`, 5+4*number)))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	node, err := rpc.Dial(s.RPCURL)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	to := common.Address{19: byte(number)}
	for _, persona := range []string{"alice", "bob"} {
		for range 3 {
			if err := node.Call(nil, "eth_sendTransaction", map[string]any{"from": s.Persona(persona).Address, "to": to, "value": fmt.Sprintf("0x%x", 1+number)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := node.Call(nil, "anvil_setBalance", to, fmt.Sprintf("0x%x", 1000+number)); err != nil {
		t.Fatal(err)
	}
}

// TestMemoryFollowsTheFile compares a server that has answered everything, reverted and continued with a new one on the same file: its memory agrees
// with the file.
func TestMemoryFollowsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := snowglobetest.Run(t, snowglobetest.DB(path))
	all := questionsOf(t, s)
	first := answersOf(t, s.URL, all)
	differ(t, "asked again", answersOf(t, s.URL, all), first)
	snapshot := s.Snapshot()
	happen(t, s, 1)
	answersOf(t, s.URL, all)
	s.Revert(snapshot)
	differ(t, "after going back", answersOf(t, s.URL, all), first)
	happen(t, s, 2) // different blocks in place of those that were undone
	warm := answersOf(t, s.URL, all)
	s.Close()
	s = snowglobetest.Run(t, snowglobetest.DB(path))
	differ(t, "another history", warm, answersOf(t, s.URL, all))
	s.Reset()
	differ(t, "after a reset", answersOf(t, s.URL, all), first)
}
