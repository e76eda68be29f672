package etherscan

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/solc/solctest"
	"snowglobe/handlers/verification"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// form sends the form of a verification, with changes.
func (s *scanner) form(query string, form map[string]string, changes ...string) (a answer) {
	s.Helper()
	values := url.Values{}
	for name, value := range form {
		values.Set(name, value)
	}
	for i := 0; i < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
	}
	w := s.try(http.MethodPost, s.path(query), strings.NewReader(values.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	s.check(json.Unmarshal(w.Body.Bytes(), &a))
	return a
}

// told is a result that is a text.
func (a answer) told() (text string) {
	_ = json.Unmarshal(a.Result, &text) // other results are no text
	return text
}

// same reports whether two JSON texts mean the same.
func same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// TestVerification verifies a contract from the compiler's standard JSON input, after everything that may go wrong.
func TestVerification(t *testing.T) {
	b := solctest.Read(t, "../artifacts")
	s := newScanner(t, seedtest.Copy(t, 1), b.Compilers(t))
	m, from := s.world.MinerOf(s.chain), common.HexToAddress(alice)
	counter, maker := solctest.Deploy(t, m, from, b.Creation("Counter")+solctest.Argument), solctest.Deploy(t, m, from, b.Creation("Maker"))
	form := map[string]string{
		"contractaddress": counter.Hex(), "codeformat": "solidity-standard-json-input", "sourceCode": string(b.Input), "contractname": solctest.Source + ":Counter",
		"compilerversion": "v" + solctest.Version, "constructorArguements": solctest.Argument,
	}
	verify := func(changes ...string) answer {
		return s.form("module=contract&action=verifysourcecode", form, changes...)
	}
	status := func(a answer) answer {
		t.Helper()
		if a.Status != "1" || a.Message != "OK" {
			t.Fatalf("the verification does not begin: %+v", a)
		}
		return s.get("module=contract&action=checkverifystatus&guid=" + a.told())
	}
	s.rejects("module=contract&action=getabi&address="+counter.Hex(), "Contract source code not verified")
	unknown := row{"SourceCode": "", "ABI": "Contract source code not verified", "ContractName": "", "ContractFileName": "", "CompilerVersion": "", "CompilerType": "solc", "OptimizationUsed": "",
		"Runs": "", "ConstructorArguments": "", "EVMVersion": "", "Library": "", "LicenseType": "", "Proxy": "0", "Implementation": "", "SwarmSource": "", "SimilarMatch": ""}
	s.want("module=contract&action=getsourcecode&address="+counter.Hex(), []row{unknown})
	for _, c := range []struct {
		reason  string
		changes []string
	}{
		{"Unable to locate ContractCode at " + nobody, []string{"contractaddress", nobody}},
		{"Error! the compiler v0.8.24+commit.e11b9ed9 is not on this machine", []string{"compilerversion", "v0.8.24+commit.e11b9ed9"}},
		{"Error! expected a version of the Solidity compiler", []string{"compilerversion", "new"}},
		{"Error! Missing sourceCode", []string{"sourceCode", ""}},
		{"Error! Missing contractname", []string{"contractname", ""}},
		{"Error! Missing contractname", []string{"contractname", solctest.Source + ":"}},
		{`Error! The sources have no "src/Counter.sol", which contractname names`, []string{"contractname", "src/Counter.sol:Counter"}},
		{`Error! The codeformat "vyper-json" is not supported: expected solidity-standard-json-input or solidity-single-file`, []string{"codeformat", "Vyper-JSON"}},
		{"Error! the source is not a standard JSON input of the compiler", []string{"sourceCode", "contract Counter {}"}},
		{"Error! Invalid constructor arguments: expected hex", []string{"constructorArguements", "xyz"}},
		{"Error! Invalid constructor arguments: expected hex", []string{"constructorArguements", "", "constructorArguments", "xyz"}},
	} {
		if a := verify(c.changes...); a.Status != "0" || a.Message != "NOTOK" || !strings.HasPrefix(a.told(), c.reason) {
			t.Errorf("%q: %s %s, want %s", c.changes, a.Message, a.Result, c.reason)
		}
	}
	other := strings.Replace(solctest.Argument, "3", "4", 1)
	for want, a := range map[string]answer{
		"Fail - Unable to verify. Counter compiles to ":                                              verify("contractaddress", maker.Hex()),
		"Fail - Unable to verify. these are not the correct constructor arguments: the transaction ": verify("constructorArguements", "0x"+other),
		"Fail - Unable to verify. these are not the correct constructor arguments":                   verify("constructorArguements", "", "constructorArguments", other),
		"Fail - Unable to verify. the sources have no contract Nothing in " + solctest.Source:        verify("contractname", solctest.Source+":Nothing"),
	} {
		guid := a.told()
		if a = status(a); a.Status != "0" || a.Message != "NOTOK" || !strings.HasPrefix(a.told(), want) {
			t.Errorf("%s: %s %s", want, a.Message, a.Result)
		}
		bare := s.try(http.MethodGet, "/api?module=contract&action=checkverifystatus&guid="+guid, nil) // as a client of Blockscout asks
		if bare.Body.String() != `{"status":"0","message":"NOTOK","result":"Fail - Unable to verify"}` {
			t.Errorf("without chainid: %s", bare.Body)
		}
	}
	s.rejects("module=contract&action=checkverifystatus&guid=nothing", "Invalid guid: no verification has it, or it was too long ago")
	if a := status(verify("contractname", "Counter", "codeformat", "Solidity-Standard-JSON-Input", "sourceCode", "{"+string(b.Input)+"}", "constructorArguements", "")); a.Status != "1" || a.told() != "Pass - Verified" {
		t.Fatalf("the contract: %s", a.Result)
	}
	if a := verify(); a.Status != "0" || a.told() != "Contract source code already verified" {
		t.Errorf("again: %s", a.Result)
	}
	s.isCounter(b, counter)
	path := filepath.Join(t.TempDir(), "world.db")
	s.check(s.world.DB.WriteCopy(t.Context(), path))
	w, err := sim.OpenReadOnly(t.Context(), path)
	s.check(err)
	defer w.Close()
	readOnly := newScanner(t, w, b.Compilers(t))
	readOnly.isCounter(b, counter)
	if a := readOnly.form("module=contract&action=verifysourcecode", form, "contractaddress", maker.Hex(), "contractname", solctest.Source+":Maker"); a.Message != "NOTOK" || a.told() != "Error! "+store.ErrReadOnly.Error() {
		t.Errorf("in a world that is read-only: %+v", a)
	}
	if a := s.get("module=contract&action=getabi&address=" + maker.Hex()); a.told() != "Contract source code not verified" {
		t.Errorf("the other contract: %s", a.Result)
	}
}

// isCounter compares what is shown of the counter with the compiler's input and output.
func (s *scanner) isCounter(b *solctest.Build, counter common.Address) {
	s.Helper()
	var output struct {
		Contracts map[string]map[string]struct{ ABI json.RawMessage }
	}
	var input struct {
		Sources  map[string]any
		Settings row
	}
	s.check(json.Unmarshal(b.Output, &output))
	s.check(json.Unmarshal(b.Input, &input))
	abi := s.get("module=contract&action=getabi&address=" + counter.Hex())
	if abi.Status != "1" || !same([]byte(abi.told()), output.Contracts[solctest.Source]["Counter"].ABI) {
		s.Errorf("the ABI is %s", abi.Result)
	}
	var rows []row
	s.check(json.Unmarshal(s.get("module=contract&action=getsourcecode&address="+counter.Hex()).Result, &rows))
	source := fmt.Sprint(rows[0]["SourceCode"])
	var shown struct {
		Language string
		Sources  map[string]any
		Settings row
	}
	if !strings.HasPrefix(source, "{{") || json.Unmarshal([]byte(source[1:len(source)-1]), &shown) != nil || shown.Language != "Solidity" || fmt.Sprint(shown.Sources) != fmt.Sprint(input.Sources) || shown.Settings["evmVersion"] != input.Settings["evmVersion"] {
		s.Errorf("the source is %s", source)
	}
	delete(rows[0], "SourceCode")
	optimizer := input.Settings["optimizer"].(map[string]any)
	want := row{
		"ABI": abi.told(), "ContractName": "Counter", "ContractFileName": solctest.Source, "CompilerVersion": "v" + solctest.Version, "CompilerType": "solc", "OptimizationUsed": "1",
		"Runs": fmt.Sprint(optimizer["runs"]), "ConstructorArguments": solctest.Argument, "EVMVersion": input.Settings["evmVersion"], "Library": "", "LicenseType": "MIT", "Proxy": "0", "Implementation": "",
		"SwarmSource": "", "SimilarMatch": "",
	}
	if !maps.Equal(rows[0], want) {
		s.Errorf("the contract is %v\nwant %v", rows[0], want)
	}
}

// TestSingleFiles: a form with one source makes its settings.
func TestSingleFiles(t *testing.T) {
	for _, c := range []struct {
		form     parameters
		settings string
	}{
		{parameters{}, `{"optimizer":{"enabled":false,"runs":200}}`},
		{parameters{"codeformat": "Solidity-Single-File", "optimizationused": "1", "runs": "999", "evmversion": "Paris"}, `{"evmVersion":"paris","optimizer":{"enabled":true,"runs":999}}`},
		{parameters{"optimizationused": "0", "runs": "many", "evmversion": "Default"}, `{"optimizer":{"enabled":false,"runs":200}}`},
		{parameters{"libraryname1": "Sums", "libraryaddress1": "0xab", "libraryname10": "More", "libraryaddress10": "0xcd", "libraryname11": "Most"},
			`{"libraries":{"A.sol":{"More":"0xcd","Sums":"0xab"}},"optimizer":{"enabled":false,"runs":200}}`},
	} {
		c.form["sourcecode"], c.form["contractname"] = "contract A {}", "src/B.sol:A"
		in, from, name, err := c.form.compilerInput()
		if err != nil || from != "A.sol" || name != "A" {
			t.Fatal(from, name, err)
		}
		settings, err := json.Marshal(in.Settings)
		if err != nil || string(settings) != c.settings || *in.Sources["A.sol"].Content != "contract A {}" {
			t.Errorf("%v: %s %v, want %s", c.form, settings, err, c.settings)
		}
	}
	b := solctest.Read(t, "../artifacts")
	s := newScanner(t, seedtest.Copy(t, 1), b.Compilers(t))
	counter := solctest.Deploy(t, s.world.MinerOf(s.chain), common.HexToAddress(alice), b.Creation("Counter")+solctest.Argument)
	begun := s.form("module=contract&action=verifysourcecode", map[string]string{
		"contractaddress": counter.Hex(), "sourceCode": "contract Counter {}", "contractname": "Counter", "compilerversion": solctest.Version,
	})
	if a := s.get("module=contract&action=checkverifystatus&guid=" + begun.told()); a.told() != "Fail - Unable to verify. the sources have no contract Counter in Counter.sol" {
		t.Errorf("the fake compiler, which knows another source: %s", a.Result)
	}
}

// TestSources shows what is known of contracts in the row of getsourcecode.
func TestSources(t *testing.T) {
	one := map[string]string{"A.sol": "// SPDX-License-Identifier: GPL-3.0-or-later\ncontract A { bool a = 1 < 2; }"}
	for name, c := range map[string]struct {
		known verification.Contract
		want  source
	}{
		"only an ABI": {verification.Contract{Name: "A", ABI: []byte("[]")}, source{ABI: "[]", ContractName: "A"}},
		"one source without settings": {verification.Contract{Name: "A", Source: "A.sol", Sources: one, Compiler: "0.8.1", Arguments: []byte{0xab}},
			source{SourceCode: one["A.sol"], ContractName: "A", ContractFileName: "A.sol", CompilerVersion: "v0.8.1", LicenseType: "GPL-3.0-or-later", ConstructorArguments: "ab"}},
		"libraries": {verification.Contract{Source: "A.sol", Sources: one, Language: "Solidity",
			Settings: []byte(`{"libraries":{"b.sol":{"Y":"0xCD","X":"12"},"a.sol":{"Z":"0xAb"},"d.sol":{"V":"1"},"c.sol":{"W":"2"}},"optimizer":{"enabled":false,"runs":7},"evmVersion":"london"}`)},
			source{Library: "V:1;W:2;X:12;Y:cd;Z:ab", ContractFileName: "A.sol", Runs: "7", EVMVersion: "london", LicenseType: "GPL-3.0-or-later",
				SourceCode: `{{"language":"Solidity","settings":{"libraries":{"b.sol":{"Y":"0xCD","X":"12"},"a.sol":{"Z":"0xAb"},"d.sol":{"V":"1"},"c.sol":{"W":"2"}},"optimizer":{"enabled":false,"runs":7},"evmVersion":"london"},` +
					`"sources":{"A.sol":{"content":"// SPDX-License-Identifier: GPL-3.0-or-later\ncontract A { bool a = 1 < 2; }"}}}}`}},
		"two sources": {verification.Contract{Source: "A.sol", Sources: map[string]string{"A.sol": "a", "B.sol": "b"}, Settings: []byte(`{"optimizer":{"enabled":true}}`), Language: "Yul"},
			source{ContractFileName: "A.sol", OptimizationUsed: "1", SourceCode: `{{"language":"Yul","settings":{"optimizer":{"enabled":true}},"sources":{"A.sol":{"content":"a"},"B.sol":{"content":"b"}}}}`}},
		"settings that cannot be read": {verification.Contract{Settings: []byte(`[]`)}, source{}},
	} {
		w := &c.want
		for _, field := range []struct {
			at    *string
			usual string
		}{{&w.CompilerType, "solc"}, {&w.OptimizationUsed, "0"}, {&w.Runs, "200"}, {&w.EVMVersion, "Default"}, {&w.LicenseType, "Unknown"}, {&w.Proxy, "0"}} {
			if *field.at == "" {
				*field.at = field.usual
			}
		}
		if have, err := sourceOf(&c.known); err != nil || have != *w {
			t.Errorf("%s: %+v %v\nwant %+v", name, have, err, *w)
		}
	}
}

// TestOwnContracts: the program's own contracts have ABI and source without verification.
func TestOwnContracts(t *testing.T) {
	reading(t).each(func(s *scanner, _ *history) {
		all, err := s.world.DB.Contracts(t.Context(), s.chain.Row.ID)
		s.check(err)
		known := 0
		for _, c := range all {
			var rows []row
			s.check(json.Unmarshal(s.get("module=contract&action=getsourcecode&address="+lower(c.Address)).Result, &rows))
			if c.Artifact == "" || rows[0]["Proxy"] == "1" {
				continue
			}
			abi, err := contracts.ABI(c.Artifact)
			s.check(err)
			if rows[0]["ContractName"] != c.Artifact || !same([]byte(fmt.Sprint(rows[0]["ABI"])), abi) || rows[0]["SourceCode"] != contracts.Source(c.Artifact) {
				t.Errorf("%s is %.500v", c.Artifact, rows[0])
			}
			if a := s.get("module=contract&action=getabi&address=" + lower(c.Address)); a.Status != "1" || a.told() != rows[0]["ABI"] {
				t.Errorf("%s has the ABI %.300s", c.Artifact, a.Result)
			}
			if rows[0]["SourceCode"] != "" {
				known++
			}
		}
		if known < 10 {
			t.Errorf("the source of %d contracts is known", known)
		}
	})
}

// TestProxies: a proxy names its implementation; whoever asks to verify one is told the same.
func TestProxies(t *testing.T) {
	s := writing(t)
	m, proxy, target := s.world.MinerOf(s.chain), common.Address{0xb0, 19: 1}, common.HexToAddress(nobody)
	s.check(m.SetCode(t.Context(), proxy, []byte{0}))
	query := "module=contract&action=checkproxyverification&guid=" + proxy.Hex()
	s.rejects(query, "A corresponding implementation contract was unfortunately not detected for the proxy address.")
	s.check(m.SetStorage(t.Context(), proxy, common.HexToHash("0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"), common.BytesToHash(target[:]), nil))
	s.want("module=contract&action=verifyproxycontract&address="+proxy.Hex(), low(proxy))
	s.want(query, fmt.Sprintf("The proxy's (%s) implementation contract is found at %s and is successfully updated.", low(proxy), nobody))
	var rows []row
	s.check(json.Unmarshal(s.get("module=contract&action=getsourcecode&address="+proxy.Hex()).Result, &rows))
	if rows[0]["Proxy"] != "1" || rows[0]["Implementation"] != nobody || rows[0]["ABI"] != unverified {
		t.Errorf("the proxy is %v", rows[0])
	}
}
