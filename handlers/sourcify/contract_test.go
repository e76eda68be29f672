package sourcify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/solc"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

// unknown is what is told of a contract that nobody knows.
func unknown(chain uint64, address common.Address) object {
	return object{"match": nil, "creationMatch": nil, "runtimeMatch": nil, "chainId": fmt.Sprint(chain), "address": address.Hex()}
}

// TestContracts shows the program's own contracts with the fields that a client asks for, and no others.
func TestContracts(t *testing.T) {
	s := reading(t)
	for _, c := range s.world.Chains {
		all, err := s.world.DB.Contracts(t.Context(), c.Row.ID)
		s.check(err)
		shown, created := 0, 0
		for _, row := range all {
			address := common.BytesToAddress(row.Address)
			path := fmt.Sprintf("/v2/contract/%d/%s", c.Row.EVMID, strings.ToLower(address.Hex()))
			text := contracts.Source(row.Artifact)
			if row.Artifact == "" || text == "" {
				if have, want := s.get(path, http.StatusNotFound), unknown(c.Row.EVMID, address); !reflect.DeepEqual(have, want) {
					t.Errorf("%s: %v, want %v", path, have, want)
				}
				continue
			}
			raw, err := contracts.ABI(row.Artifact)
			s.check(err)
			var abi []any
			s.check(json.Unmarshal(raw, &abi))
			d, err := s.world.DB.Deployment(t.Context(), c.Row.ID, row.Address)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			summary := object{"match": "exact_match", "creationMatch": nil, "runtimeMatch": "exact_match", "chainId": fmt.Sprint(c.Row.EVMID), "address": address.Hex(),
				"matchId": fmt.Sprintf("%d-%s", c.Row.EVMID, strings.ToLower(address.Hex()))}
			if err == nil && d.Creator == nil {
				created++
				summary["creationMatch"] = "exact_match"
			}
			compiler := s.get(path+"?fields=compilation", http.StatusOK)["compilation"].(object)
			fields := object{
				"abi": abi, "sources": object{row.Artifact + ".sol": object{"content": text}}, "proxyResolution": object{"isProxy": false, "implementations": []any{}},
				"compilation": object{"language": "Solidity", "compiler": "solc", "compilerVersion": compiler["compilerVersion"], "name": row.Artifact, "fullyQualifiedName": row.Artifact + ".sol:" + row.Artifact},
			}
			if version := fmt.Sprint(compiler["compilerVersion"]); !strings.HasPrefix(version, "0.") {
				t.Errorf("%s is compiled by %q", row.Artifact, version)
			}
			for asked, names := range map[string][]string{
				"": nil, "abi": {"abi"}, "sources": {"sources"}, "sources.content": {"sources"}, "compilation.name,abi": {"abi", "compilation"}, "proxyResolution": {"proxyResolution"},
				"stdJsonInput": nil, "all": {"abi", "sources", "compilation", "proxyResolution"},
			} {
				want := object{}
				for name, value := range summary {
					want[name] = value
				}
				for _, name := range names {
					want[name] = fields[name]
				}
				if have := s.get(path+"?fields="+asked, http.StatusOK); !reflect.DeepEqual(have, want) {
					t.Errorf("%s?fields=%s: %.800v\nwant %.800v", path, asked, have, want)
				}
			}
			shown++
		}
		if shown < 10 || created < 5 || created == shown {
			t.Errorf("%s has %d contracts with a source, %d of them from transactions", c.Row.Name, shown, created)
		}
	}
	if have, want := s.get("/v2/contract/43114/"+alice.Hex(), http.StatusNotFound), unknown(43114, alice); !reflect.DeepEqual(have, want) {
		t.Errorf("an account: %v, want %v", have, want)
	}
	s.refuses("GET", "/v2/contract/43114/"+alice.Hex()+"?fields=abi,name", "", 400, "invalid_parameter", `the field "name" is not known: expected all, abi, sources, compilation, stdJsonInput, proxyResolution`)
	s.refuses("GET", "/v2/contract/43114/"+alice.Hex()+"?fields=alles", "", 400, "invalid_parameter", `the field "alles" is not known`)
}

// TestProxies names the implementation, and the contract that it is.
func TestProxies(t *testing.T) {
	w := seedtest.Copy(t, 1)
	s, m := serve(t, w, solc.New(nil), nil), w.MinerOf(w.Chains[0])
	all, err := w.DB.Contracts(t.Context(), w.Chains[0].Row.ID)
	s.check(err)
	at := map[string]common.Address{}
	for _, c := range all {
		at[c.Role] = common.BytesToAddress(c.Address)
	}
	for _, c := range []struct {
		target common.Address
		name   any
	}{{at["greeter"], "Greeter"}, {alice, nil}} {
		s.check(m.SetStorage(t.Context(), at["items"], artifacts.ImplementationSlot, common.BytesToHash(c.target[:]), nil))
		of := object{"address": c.target.Hex()}
		if c.name != nil {
			of["name"] = c.name
		}
		have, want := s.get("/v2/contract/43114/"+at["items"].Hex()+"?fields=proxyResolution", http.StatusOK)["proxyResolution"], object{"isProxy": true, "implementations": []any{of}}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("a proxy is %v, want %v", have, want)
		}
	}
}

// TestPaths: what has no operation, names no chain or no address is refused in Sourcify's shape.
func TestPaths(t *testing.T) {
	s := reading(t)
	a := alice.Hex()
	for _, c := range []struct {
		method, path, code string
		status             int
		text               string
	}{
		{"GET", "/v2/contract/1/" + a, "unsupported_chain", 404, "The chain with chainId 1 is not supported"},
		{"GET", "/v2/contract/fuji/" + a, "invalid_parameter", 400, `"fuji" is no chain id`},
		{"GET", "/v2/contract/43114/0x12", "invalid_parameter", 400, `"0x12" is no address`},
		{"GET", "/v2/contract/43114/" + a[2:], "invalid_parameter", 400, `"` + a[2:] + `" is no address`},
		{"POST", "/v2/verify/1/" + a, "unsupported_chain", 404, "The chain with chainId 1"},
		{"POST", "/v2/verify/metadata/43114/0x12", "invalid_parameter", 400, `"0x12" is no address`},
		{"POST", "/v2/verify/43114/" + a, "invalid_json", 400, "the body is not the JSON that is expected: "},
		{"POST", "/v2/verify/metadata/43114/" + a, "invalid_json", 400, "the body is not the JSON that is expected: "},
		{"GET", "/v2/verify/nothing", "job_not_found", 404, "No verification has the id nothing, or it was too long ago"},
		{"GET", "/v2/contract/43114", "not_found", 404, "Cannot GET /v2/contract/43114"},
		{"POST", "/v2/contract/43114/" + a, "not_found", 404, "Cannot POST "},
		{"GET", "/v2/verify/43114/" + a, "not_found", 404, "Cannot GET "},
		{"POST", "/v2/verify/id", "not_found", 404, "Cannot POST "},
		{"GET", "/v2/verify/metadata/43114/" + a, "not_found", 404, "Cannot GET "},
		{"POST", "/v2/verify/other/43114/" + a, "not_found", 404, "Cannot POST "},
		{"POST", "/v2/contract/metadata/43114/" + a, "not_found", 404, "Cannot POST "},
		{"GET", "/v2/contracts/43114/" + a, "not_found", 404, "Cannot GET "},
		{"PUT", "/v2/verify/43114/" + a, "not_found", 404, "Cannot PUT "},
		{"GET", "/repo-ui/43114", "not_found", 404, "Cannot GET /repo-ui/43114"},
		{"GET", "/v2/verify", "not_found", 404, "Cannot GET /v2/verify"},
	} {
		s.refuses(c.method, c.path, "", c.status, c.code, c.text)
	}
	for _, large := range []string{strings.Repeat(" ", maxBody+1), strings.Repeat(" ", maxBody)} {
		status, code := http.StatusRequestEntityTooLarge, "invalid_parameter"
		if len(large) == maxBody {
			status, code = http.StatusBadRequest, "invalid_json"
		}
		s.refuses("POST", "/v2/verify/43114/"+a, large, status, code, "the body is ")
	}
	get, head := s.try("GET", "/v2/contract/43114/"+a, nil), s.try("HEAD", "/v2/contract/43114/"+a, nil)
	if head.Code != get.Code || head.Body.Len() > 0 || head.Header().Get("Content-Length") != fmt.Sprint(get.Body.Len()) || s.try("HEAD", "/v2/verify/nothing", nil).Code != http.StatusNotFound {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
	page := s.try("GET", "/repo-ui/43114/"+a+"/", nil)
	if page.Code != http.StatusFound || page.Header().Get("Location") != "/sim/explorer/43114/address/"+a+"/contract" {
		t.Errorf("the page is at %d %v", page.Code, page.Header())
	}
	if odd := s.try("GET", "/repo-ui/a%3Fb/c", nil); odd.Header().Get("Location") != "/sim/explorer/a%3Fb/address/c/contract" {
		t.Errorf("an odd page is at %v", odd.Header())
	}
}

// TestLocate finds network and chain where a path names a chain that exists and an address.
func TestLocate(t *testing.T) {
	s := reading(t)
	a := alice.Hex()
	for path, want := range map[string]string{
		"/v2/contract/43114/" + a: "mainnet 43114", "/v2/verify/43113/" + a: "fuji 43113", "/v2/verify/metadata/43113/" + a: "fuji 43113", "/repo-ui/43113/" + a: "fuji 43113",
		"/v2/contract/1/" + a: " ", "/v2/contract/43114/0x12": " ", "/v2/verify/id": " ", "/v2/43114/" + a: " ",
	} {
		r := httptest.NewRequest("GET", path, nil)
		if located, network, chain := s.Locate(r); network+" "+chain != want || located != r {
			t.Errorf("%s is of %q %q, want %s", path, network, chain, want)
		}
	}
	var names []string
	for _, e := range s.Endpoints() {
		if names = append(names, e.Operations...); e.Interface != rest.Sourcify || len(e.Methods) != 1 || len(e.Paths) != 1 {
			t.Errorf("%+v", e)
		}
	}
	if slices.Sort(names); fmt.Sprint(names) != "[getVerification getVerifiedContract repo-ui verifyMetadata verifyStandardJSON]" {
		t.Errorf("the operations are %v", names)
	}
}

// TestPermission: beyond loopback nobody verifies contracts, and no page of another origin does, which may not read the refusal either.
func TestPermission(t *testing.T) {
	s := reading(t)
	exposed := serve(t, s.world, solc.New(nil), &permit.Rule{Exposed: true})
	for _, path := range []string{"/v2/verify/43114/" + alice.Hex(), "/v2/verify/metadata/43114/" + alice.Hex()} {
		page := s.try("POST", path, strings.NewReader("{}"), "Origin", "https://evil.example")
		if page.Code != http.StatusForbidden || page.Header().Get("Access-Control-Allow-Origin") != "" || !strings.Contains(page.Body.String(), `{"customCode":"forbidden","message":"a page of https://evil.example may not do this`) {
			t.Errorf("%s: a page: %d %s %v", path, page.Code, page.Body, page.Header())
		}
		exposed.refuses("POST", path, "{}", http.StatusForbidden, "forbidden", "this server listens beyond loopback")
		if w := exposed.try("POST", path, strings.NewReader("{}")); w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: beyond loopback: %v", path, w.Header())
		}
	}
	exposed.get("/v2/contract/43114/"+alice.Hex(), http.StatusNotFound)
	for _, asked := range []string{"", "x-any"} {
		options := s.try("OPTIONS", "/v2/verify/43114/"+alice.Hex(), nil, "Access-Control-Request-Headers", asked)
		h := options.Header()
		if options.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS, POST" || h.Get("Access-Control-Allow-Headers") != asked || len(h["Access-Control-Allow-Headers"]) != len(asked)/5 ||
			h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Vary") != "Access-Control-Request-Method, Access-Control-Request-Headers" {
			t.Errorf("OPTIONS: %d %v", options.Code, h)
		}
	}
}

// TestFailures: what fails inside is told in general words.
func TestFailures(t *testing.T) {
	s := serve(t, seedtest.Copy(t, 1), solc.New(nil), nil)
	all, err := s.world.DB.Contracts(t.Context(), s.world.Chains[0].Row.ID)
	s.check(err)
	i := slices.IndexFunc(all, func(c store.Contract) bool { return c.Role == "greeter" })
	path := "/v2/contract/43114/" + common.BytesToAddress(all[i].Address).Hex()
	for statement, query := range map[string]string{"FROM account": "", "FROM slot": "?fields=proxyResolution"} {
		s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		s.refuses("GET", path+query, "", http.StatusInternalServerError, "internal_error", "the simulator failed; its log has the cause")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, httptest.NewRequest("GET", path+query, nil).WithContext(gone)); w.Code != http.StatusServiceUnavailable || w.Body.String() != `{"customCode":"internal_error","message":"the world was reverted during this request: try again","errorId":""}` {
			t.Errorf("%s fails in an ended request: %d %s", statement, w.Code, w.Body)
		}
		s.world.DB.FailStatements(nil)
	}
	w := httptest.NewRecorder()
	if s.send(w, httptest.NewRequest("GET", path, nil), http.StatusOK, make(chan int), nil); w.Code != http.StatusInternalServerError || w.Body.String() != `{"customCode":"internal_error","message":"the answer cannot be encoded","errorId":""}` {
		t.Errorf("an answer that is not JSON: %d %s", w.Code, w.Body)
	}
}

// TestRecorded: the journal names the operation and keeps the body; the log has what fails inside.
func TestRecorded(t *testing.T) {
	s := serve(t, seedtest.Copy(t, 1), solc.New(nil), nil)
	kept, log := journal.New(10, nil, nil), new(bytes.Buffer)
	server, err := rest.New(rest.Options{Clock: s.world.Clock, WorldKey: make([]byte, 32), Journal: kept, Log: slog.New(slog.NewTextHandler(log, nil))})
	s.check(err)
	for _, prefix := range Prefixes {
		server.Mount(rest.Sourcify, prefix, s)
	}
	of := "/43114/" + alice.Hex()
	for _, c := range []struct{ method, path, body, operation string }{
		{"POST", "/v2/verify" + of, `{"contractIdentifier":"A"}`, "verifyStandardJSON"}, {"POST", "/v2/verify/metadata" + of, `{"sources":{}}`, "verifyMetadata"},
		{"GET", "/v2/verify/id", "", "getVerification"}, {"GET", "/v2/contract" + of, "", "getVerifiedContract"}, {"GET", "/repo-ui" + of, "", "repo-ui"}, {"GET", "/v2/contract", "", "sourcify"},
	} {
		server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		e := kept.Latest(0)[0]
		if e.Operation != c.operation || e.Interface != rest.Sourcify || string(e.Request.Kept) != c.body || e.Request.Size != int64(len(c.body)) {
			t.Errorf("%s: %s %q %s", c.path, e.Interface, e.Operation, e.Request.Kept)
		}
	}
	s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, "FROM account") })
	server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v2/contract"+of, nil))
	s.world.DB.FailStatements(nil)
	if !strings.Contains(log.String(), `level=ERROR msg="request failed" err=`) {
		t.Errorf("the log has %s", log)
	}
}
