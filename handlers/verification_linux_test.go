// Contract verification through the Etherscan-shaped API and Sourcify's, with a fake compiler that repeats what solc 0.8.30 once wrote.

package handlers_test

import (
	"encoding/hex"
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
	"snowglobe/sim"
)

// buildInfo is Hardhat's record of a compiler run, with contracts/Counter.sol.
type buildInfo struct {
	Input  json.RawMessage
	Output struct {
		Contracts map[string]map[string]struct {
			EVM struct {
				Bytecode struct {
					Object         string
					LinkReferences map[string]map[string][]struct{ Start, Length int }
				}
			}
		}
	}
	whole json.RawMessage // the output
}

func readBuildInfo(t *testing.T) *buildInfo {
	t.Helper()
	raw, err := os.ReadFile("artifacts/testdata/hardhat2/artifacts/build-info/0e2cd7f53e1ac2bb8ddebb0783e8d753.json")
	if err != nil {
		t.Fatal(err)
	}
	b, output := &buildInfo{}, struct{ Output json.RawMessage }{}
	if err := json.Unmarshal(raw, b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &output); err != nil {
		t.Fatal(err)
	}
	b.whole = output.Output
	return b
}

// creation returns a contract's creation code, linked with any library.
func (b *buildInfo) creation(name string) string {
	code := b.Output.Contracts["contracts/Counter.sol"][name].EVM.Bytecode
	text := []byte(code.Object)
	for _, libraries := range code.LinkReferences {
		for _, places := range libraries {
			for _, p := range places {
				copy(text[2*p.Start:], strings.Repeat("ab", p.Length))
			}
		}
	}
	return "0x" + string(text)
}

// compiler writes the fake compiler.
func (b *buildInfo) compiler(t *testing.T) *solc.Compilers {
	t.Helper()
	folder := t.TempDir()
	output, file := filepath.Join(folder, "output.json"), filepath.Join(folder, "solc")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Version: 0.8.30+commit.73712a01.Linux.g++'; else IFS= read -r output <%s; printf '%%s\\n' \"$output\"; fi\n", output)
	for path, text := range map[string]string{output: string(b.whole) + "\n", file: script} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return solc.New([]string{file})
}

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

// argument is the constructor's.
const argument = "0000000000000000000000000000000000000000000000000000000000000003"

// TestContractsAreVerifiedByTheirBytes verifies a contract with an immutable variable and a library, after everything that may go wrong. It stays
// verified in the file, its page has the source and the forms, and a reset forgets it.
func TestContractsAreVerifiedByTheirBytes(t *testing.T) {
	b := readBuildInfo(t)
	w := tinyFile(t)
	compilers := b.compiler(t)
	c := verifiable(t, w, compilers, permit.Rule{})
	counter, maker := c.deploy(b.creation("Counter")+argument), c.deploy(b.creation("Maker"))
	verify := func(changes ...string) *scanned {
		t.Helper()
		return c.form("module=contract&action=verifysourcecode&chainid=43114", append([]string{"contractaddress", counter, "codeformat", "solidity-standard-json-input", "sourceCode", string(b.Input),
			"contractname", "contracts/Counter.sol:Counter", "compilerversion", "v0.8.30+commit.73712a01", "constructorArguements", argument}, changes...)...)
	}
	status := func(s *scanned) *scanned {
		t.Helper()
		if s.Status != "1" {
			t.Fatalf("the verification does not begin: %s", s.Result)
		}
		return c.form("module=contract&action=checkverifystatus&chainid=43114&guid=" + s.text())
	}
	if s := c.form("module=contract&action=getabi&address=" + counter); s.text() != "Contract source code not verified" {
		t.Errorf("before: %s", s.Result)
	}
	for want, s := range map[string]*scanned{
		"Unable to locate ContractCode at 0x70997970c51812dc3a010c7d01b50e0d17dc79c8": verify("contractaddress", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
		"start the server with --artifacts":                                           verify("compilerversion", "v0.8.24+commit.e11b9ed9"),
		"expected a version of the Solidity compiler":                                 verify("compilerversion", "new"),
		"Missing contractname":                                                        verify("contractname", ""),
		"The sources have no":                                                         verify("contractname", "src/Counter.sol:Counter"),
		"expected solidity-standard-json-input":                                       verify("codeformat", "vyper-json"),
		"not a standard JSON input":                                                   verify("sourceCode", "contract Counter {}"),
		"expected hex":                                                                verify("constructorArguements", "xyz"),
	} {
		if s.Status != "0" || s.Message != "NOTOK" || !strings.Contains(s.text(), want) {
			t.Errorf("%s: %+v %s", want, s, s.Result)
		}
	}
	if s := status(verify("contractaddress", maker)); !strings.HasPrefix(s.text(), "Fail - Unable to verify. Counter compiles to") {
		t.Errorf("another contract: %s", s.Result)
	}
	if s := status(verify("constructorArguements", strings.Replace(argument, "3", "4", 1))); !strings.Contains(s.text(), "correct constructor arguments") {
		t.Errorf("other arguments: %s", s.Result)
	}
	if s := c.form("module=contract&action=checkverifystatus&guid=nothing"); s.Status != "0" {
		t.Errorf("an unknown verification: %s", s.Result)
	}
	if s := status(verify()); s.text() != "Pass - Verified" {
		t.Fatalf("the contract: %s", s.Result)
	}
	if s := verify(); s.text() != "Contract source code already verified" {
		t.Errorf("again: %s", s.Result)
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
	rows := c.form("module=contract&action=getsourcecode&address=" + counter).rows(c.T)
	source := fmt.Sprint(rows[0]["SourceCode"])
	if rows[0]["ContractName"] != "Counter" || rows[0]["ConstructorArguments"] != argument || rows[0]["CompilerVersion"] != "v0.8.30+commit.73712a01" || rows[0]["OptimizationUsed"] != "1" ||
		rows[0]["EVMVersion"] != "paris" || rows[0]["LicenseType"] != "MIT" || !strings.HasPrefix(source, "{{") || !json.Valid([]byte(source[1:len(source)-1])) {
		c.Errorf("the source is %v", rows[0])
	}
	if abi := c.form("module=contract&action=getabi&address=" + counter).text(); !strings.Contains(abi, `"name":"add"`) {
		c.Errorf("the ABI is %s", abi)
	}
	a := c.try("GET", "/v2/contract/43114/"+counter+"?fields=abi,sources", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"match":"exact_match","creationMatch":"exact_match"`) || !strings.Contains(a.body, `"contracts/Counter.sol":{"content":`) {
		c.Errorf("Sourcify's API: %d %.300s", a.status, a.body)
	}
}

// TestSourcifyVerifies uses Sourcify's API.
func TestSourcifyVerifies(t *testing.T) {
	t.Parallel()
	b := readBuildInfo(t)
	c := verifiable(t, tinyWorld(t), b.compiler(t), permit.Rule{})
	maker := c.deploy(b.creation("Maker"))
	body := func(name, compiler string) string {
		raw, _ := json.Marshal(map[string]any{"stdJsonInput": b.Input, "compilerVersion": compiler, "contractIdentifier": name}) // texts
		return string(raw)
	}
	if a := c.try("GET", "/v2/contract/43114/"+maker, ""); a.status != http.StatusNotFound || !strings.Contains(a.body, `"match":null,"creationMatch":null,"runtimeMatch":null,"chainId":"43114"`) {
		t.Errorf("before: %+v", a)
	}
	for _, wrong := range []struct {
		path, body string
		status     int
		code       string
	}{
		{"/v2/verify/1/" + maker, body("contracts/Counter.sol:Maker", "0.8.30"), 404, "unsupported_chain"},
		{"/v2/verify/43114/0x12", body("contracts/Counter.sol:Maker", "0.8.30"), 400, "invalid_parameter"},
		{"/v2/verify/43114/" + scanAlice, body("contracts/Counter.sol:Maker", "0.8.30"), 404, "contract_not_deployed"},
		{"/v2/verify/43114/" + maker, body("contracts/Counter.sol:Maker", "0.8.1"), 400, "unsupported_compiler_version"},
		{"/v2/verify/43114/" + maker, body("Maker", "0.8.30"), 400, "invalid_parameter"},
		{"/v2/verify/43114/" + maker, "{", 400, "invalid_json"},
		{"/v2/verify/metadata/43114/" + maker, "{}", 400, "invalid_parameter"},
		{"/v2/verify", "{}", 404, "not_found"},
	} {
		if a := c.try("POST", wrong.path, wrong.body); a.status != wrong.status || !strings.Contains(a.body, `"customCode":"`+wrong.code+`"`) || !strings.Contains(a.body, `"errorId":"req-`) {
			t.Errorf("%s: %d %s, expected %s", wrong.path, a.status, a.body, wrong.code)
		}
	}
	job := func(name string) string {
		t.Helper()
		a := c.try("POST", "/v2/verify/43114/"+maker, body(name, "v0.8.30+commit.73712a01"))
		if a.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		return c.try("GET", "/v2/verify/"+member(a.body, "verificationId"), "").body
	}
	if state := job("contracts/Counter.sol:Counter"); !strings.Contains(state, `"customCode":"no_match"`) || !strings.Contains(state, `"isJobCompleted":true`) {
		t.Errorf("another contract: %s", state)
	}
	if state := job("contracts/Counter.sol:Maker"); strings.Contains(state, `"error"`) || !strings.Contains(state, `"runtimeMatch":"exact_match"`) {
		t.Errorf("the contract: %s", state)
	}
	if a := c.try("POST", "/v2/verify/43114/"+maker, body("contracts/Counter.sol:Maker", "0.8.30")); a.status != http.StatusConflict || !strings.Contains(a.body, "already_verified") {
		t.Errorf("again: %+v", a)
	}
}

// TestVerifyingNeedsPermission: beyond loopback only with --allow-control, and never for a page of another origin.
func TestVerifyingNeedsPermission(t *testing.T) {
	t.Parallel()
	w, compilers := readWorld(t), readBuildInfo(t).compiler(t)
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

// TestOwnContractsAreKnown: the program's own contracts have ABI and source without verification.
func TestOwnContractsAreKnown(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, c := range w.Chains {
		all, err := w.DB.Contracts(t.Context(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, contract := range all {
			s := scan(t, h, c, "module=contract&action=getsourcecode&address=0x"+hex.EncodeToString(contract.Address))
			row := s.rows(t)[0]
			if contract.Artifact == "" || row["Proxy"] == "1" {
				continue
			}
			if row["ContractName"] != contract.Artifact || !json.Valid(fmt.Append(nil, row["ABI"])) {
				t.Errorf("%s on %s is %.200v", contract.Artifact, c.Row.Name, row)
			}
			if strings.Contains(fmt.Sprint(row["SourceCode"]), "contract "+contract.Artifact) {
				known++
			}
		}
		if known < 10 {
			t.Errorf("the source of %d contracts of %d is known on %s", known, len(all), c.Row.Name)
		}
	}
}
