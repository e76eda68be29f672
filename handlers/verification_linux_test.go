// Contract verification through the Etherscan-shaped API and Sourcify's, with a fake compiler that repeats what solc 0.8.30 once wrote.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/solc/solctest"
	"snowglobe/sim"
)

// deploy creates a contract and returns its address.
func (c *clocked) deploy(code string) string {
	c.Helper()
	hash := member(c.call("/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"`+scanAlice+`","gas":"0x2dc6c0","data":"`+code+`"}]`), "result")
	var receipt struct {
		Result struct{ ContractAddress string }
	}
	if answer := c.call("/ext/bc/C/rpc", "eth_getTransactionReceipt", `["`+hash+`"]`); json.Unmarshal([]byte(answer), &receipt) != nil || receipt.Result.ContractAddress == "" {
		c.Fatalf("transaction %s created nothing: %s", hash, answer)
	}
	return receipt.Result.ContractAddress
}

// form sends a form to the API.
func (c *clocked) form(query string, values ...string) *scanned {
	c.Helper()
	form := url.Values{}
	for i := 0; i < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	response, err := http.PostForm(c.url+"/api?"+query, form)
	if err != nil {
		c.Fatal(err)
	}
	s, body := new(scanned), bodyOf(c.T, response)
	if err := json.Unmarshal([]byte(body), s); err != nil {
		c.Fatalf("%s: %v", body, err)
	}
	return s
}

// verifiable serves a world with the compiler.
func verifiable(t *testing.T, w *sim.World, compilers *solc.Compilers, rule permit.Rule) *clocked {
	t.Helper()
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Solc: compilers, Permit: rule})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.Close(); h.Close() })
	return &clocked{t, server.URL}
}

// TestContractsAreVerifiedByTheirBytes verifies a contract with an immutable variable and a library. It stays verified in the file, its page has the
// source and the forms, and a reset forgets it.
func TestContractsAreVerifiedByTheirBytes(t *testing.T) {
	b := solctest.Read(t, "artifacts")
	w := tinyFile(t)
	compilers := b.Compilers(t)
	c := verifiable(t, w, compilers, permit.Rule{})
	counter := c.deploy(b.Creation("Counter") + solctest.Argument)
	begun := c.form("module=contract&action=verifysourcecode&chainid=43114", "contractaddress", counter, "codeformat", "solidity-standard-json-input", "sourceCode", string(b.Input),
		"contractname", solctest.Source+":Counter", "compilerversion", "v"+solctest.Version, "constructorArguements", solctest.Argument)
	if s := c.form("module=contract&action=checkverifystatus&chainid=43114&guid=" + begun.text()); s.text() != "Pass - Verified" {
		t.Fatalf("the contract: %s %s", begun.Result, s.Result)
	}
	isVerified(c, counter)
	if page := c.try("GET", "/sim/explorer/43114/address/"+counter+"/contract", ""); page.status != http.StatusOK || !strings.Contains(page.body, "error TooMany") || !strings.Contains(page.body, "count()") {
		t.Errorf("the page: %d %.300s", page.status, page.body)
	}

	path := filepath.Join(t.TempDir(), "copy.db")
	if err := w.DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	copied, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { copied.Close() })
	if a := c.try("GET", "/repo-ui/43114/"+counter, ""); a.status != http.StatusOK || !strings.Contains(a.body, "error TooMany") {
		t.Errorf("Sourcify's link to the page: %d %.300s", a.status, a.body)
	}
	again := verifiable(t, copied, compilers, permit.Rule{})
	isVerified(again, counter)
	if n := len(decoded[struct{ Compilers []struct{ Version string } }](again, "/sim/compilers", "").Compilers); n == 0 {
		t.Error("no compiler is listed")
	}
	again.send("/sim/reset", "{}")
	if n, err := copied.DB.CountVerified(t.Context()); n != 0 || err != nil {
		t.Errorf("after a reset the file has %d verified contracts, %v", n, err)
	}
}

// isVerified checks what the interfaces return for the counter.
func isVerified(c *clocked, counter string) {
	c.Helper()
	row := c.form("module=contract&action=getsourcecode&address=" + counter).rows(c.T)[0]
	if row["ContractName"] != "Counter" || row["ConstructorArguments"] != solctest.Argument || row["CompilerVersion"] != "v"+solctest.Version {
		c.Errorf("the source is %v", row)
	}
	a := c.try("GET", "/v2/contract/43114/"+counter+"?fields=abi,sources", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"match":"exact_match","creationMatch":"exact_match"`) || !strings.Contains(a.body, `"contracts/Counter.sol":{"content":`) {
		c.Errorf("Sourcify's API: %d %.300s", a.status, a.body)
	}
}

// TestSourcifyVerifies uses Sourcify's API; the Etherscan-shaped one knows the contract afterwards. Errors name the request.
func TestSourcifyVerifies(t *testing.T) {
	t.Parallel()
	b := solctest.Read(t, "artifacts")
	c := verifiable(t, tinyWorld(t), b.Compilers(t), permit.Rule{})
	maker := c.deploy(b.Creation("Maker"))
	raw, _ := json.Marshal(map[string]any{"stdJsonInput": b.Input, "compilerVersion": solctest.Version, "contractIdentifier": solctest.Source + ":Maker"}) // texts
	if a := c.try("POST", "/v2/verify/1/"+maker, string(raw)); a.status != http.StatusNotFound || !strings.Contains(a.body, `"customCode":"unsupported_chain"`) || !strings.Contains(a.body, `"errorId":"req-`) {
		t.Errorf("an unknown chain: %+v", a)
	}
	begun := c.try("POST", "/v2/verify/43114/"+maker, string(raw))
	if state := c.try("GET", "/v2/verify/"+member(begun.body, "verificationId"), "").body; begun.status != http.StatusAccepted || strings.Contains(state, `"error"`) || !strings.Contains(state, `"runtimeMatch":"exact_match"`) {
		t.Errorf("the contract: %+v, %s", begun, state)
	}
	if row := c.form("module=contract&action=getsourcecode&address=" + maker).rows(t)[0]; row["ContractName"] != "Maker" {
		t.Errorf("the Etherscan-shaped API has %v", row)
	}
}

// TestVerifyingNeedsPermission: beyond loopback only with --allow-control, and never for a page of another origin.
func TestVerifyingNeedsPermission(t *testing.T) {
	t.Parallel()
	w, compilers := readWorld(t), solctest.Read(t, "artifacts").Compilers(t)
	exposed := verifiable(t, w, compilers, permit.Rule{Exposed: true})
	if s := exposed.form("module=contract&action=verifysourcecode", "contractaddress", scanAlice); s.Status != "0" || !strings.Contains(s.text(), "--allow-control") {
		t.Errorf("Etherscan's: %s", s.Result)
	}
	for _, path := range []string{"/v2/verify/43114/" + scanAlice, "/v2/verify/metadata/43114/" + scanAlice} {
		if a := exposed.try("POST", path, "{}"); a.status != http.StatusForbidden || !strings.Contains(a.body, "--allow-control") {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if a := exposed.try("GET", "/sim/compilers", ""); a.status != http.StatusForbidden {
		t.Errorf("the compilers: %+v", a)
	}
	open := verifiable(t, w, compilers, permit.Rule{})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, open.url+"/api?module=contract&action=verifysourcecode", nil) // a valid request
	r.Header.Set("Origin", "https://evil.example")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if body := bodyOf(t, response); !strings.Contains(body, "--allow-origin") || response.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of another origin: %s %v", body, response.Header)
	}
}

// TestArtifactsAreKnownToExplorers: a contract from --artifacts has source and ABI without verification.
func TestArtifactsAreKnownToExplorers(t *testing.T) {
	t.Parallel()
	known := artifacts.New()
	if err := known.AddFolder("artifacts/testdata/foundry/out"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("artifacts/testdata/foundry/out/Counter.sol/Maker.json")
	if err != nil {
		t.Fatal(err)
	}
	var maker struct{ Bytecode struct{ Object string } }
	if err := json.Unmarshal(raw, &maker); err != nil {
		t.Fatal(err)
	}
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet", Artifacts: known})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.Close(); h.Close() })
	c := &clocked{t, server.URL}
	code := regexp.MustCompile(`__\$.{34}\$__`).ReplaceAllString(maker.Bytecode.Object, strings.Repeat("ab", 20))
	row := c.form("module=contract&action=getsourcecode&address=" + c.deploy(code)).rows(t)[0]
	source := fmt.Sprint(row["SourceCode"])
	if row["ContractName"] != "Maker" || row["CompilerVersion"] != "v0.8.30+commit.73712a01" || !strings.Contains(source, "contract Maker {") || strings.Contains(source, "compilationTarget") {
		t.Errorf("the contract is %v", row)
	}
}
