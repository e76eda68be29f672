package sourcify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/solc"
	"snowglobe/handlers/solc/solctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// verifier serves a world with contracts whose source the compiler knows.
type verifier struct {
	*server
	build          *solctest.Build
	counter, maker common.Address
}

func newVerifier(t *testing.T) *verifier {
	t.Helper()
	w, b := seedtest.Copy(t, 1), solctest.Read(t, "../artifacts")
	m := w.MinerOf(w.Chains[0])
	return &verifier{serve(t, w, b.Compilers(t), nil), b, solctest.Deploy(t, m, alice, b.Creation("Counter")+solctest.Argument), solctest.Deploy(t, m, alice, b.Creation("Maker"))}
}

// standard makes a body with the compiler's standard JSON.
func (v *verifier) standard(identifier, compiler string) string {
	return text(object{"stdJsonInput": v.build.Input, "compilerVersion": compiler, "contractIdentifier": identifier})
}

// metadata makes a body with metadata and sources.
func (v *verifier) metadata(change func(metadata, settings, sources object)) string {
	v.Helper()
	var input struct {
		Settings object
		Sources  map[string]struct{ Content string }
	}
	v.check(json.Unmarshal(v.build.Input, &input))
	settings := object{"compilationTarget": object{solctest.Source: "Counter"}, "evmVersion": "paris", "optimizer": input.Settings["optimizer"],
		"libraries": object{solctest.Source + ":Sums": "0xab", "Other": "0xcd"}}
	metadata := object{"language": "Solidity", "compiler": object{"version": solctest.Version}, "settings": settings, "sources": object{solctest.Source: object{"keccak256": "0x"}}}
	sources := object{solctest.Source: input.Sources[solctest.Source].Content, "unused.sol": ""}
	change(metadata, settings, sources)
	return text(object{"metadata": metadata, "sources": sources})
}

func text(v any) string {
	raw, _ := json.Marshal(v) // plain values
	return string(raw)
}

// begin begins a verification and returns its state once it has ended.
func (v *verifier) begin(path, body string) object {
	v.Helper()
	w := v.try("POST", path, strings.NewReader(body))
	var begun struct{ VerificationID string }
	if err := json.Unmarshal(w.Body.Bytes(), &begun); err != nil || w.Code != http.StatusAccepted {
		v.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	state := v.get("/v2/verify/"+begun.VerificationID, http.StatusOK)
	for _, name := range []string{"jobStartTime", "jobFinishTime"} {
		if at, err := time.Parse(time.RFC3339, fmt.Sprint(state[name])); err != nil || time.Since(at) > time.Minute || !strings.HasSuffix(fmt.Sprint(state[name]), "Z") {
			v.Errorf("%s is %v", name, state[name])
		}
		delete(state, name)
	}
	var milliseconds int
	if n, err := fmt.Sscan(fmt.Sprint(state["compilationTime"]), &milliseconds); n != 1 || err != nil || milliseconds > 60_000 {
		v.Errorf("the compiler took %v", state["compilationTime"])
	}
	if delete(state, "compilationTime"); state["verificationId"] != begun.VerificationID || state["isJobCompleted"] != true {
		v.Errorf("the job is %v", state)
	}
	delete(state, "verificationId")
	delete(state, "isJobCompleted")
	if e, failed := state["error"].(object); failed && e["errorId"] != begun.VerificationID {
		v.Errorf("the error is %v", e)
	} else if failed {
		delete(e, "errorId")
	}
	return state
}

// TestVerification verifies a contract from the compiler's standard JSON input, after everything that may go wrong.
func TestVerification(t *testing.T) {
	v := newVerifier(t)
	path, nobody := "/v2/verify/43114/"+v.maker.Hex(), common.Address{1, 2, 3}
	const maker = solctest.Source + ":Maker"
	for _, c := range []struct {
		path, body, code string
		status           int
		text             string
	}{
		{"/v2/verify/43114/" + nobody.Hex(), v.standard(maker, "0.8.30"), "contract_not_deployed", 404, "There is no bytecode at address " + nobody.Hex() + " on chain 43114"},
		{path, v.standard(maker, "0.8.1"), "unsupported_compiler_version", 400, "the compiler 0.8.1 is not on this machine"},
		{path, v.standard(maker, "newest"), "unsupported_compiler_version", 400, "expected a version of the Solidity compiler"},
		{path, v.standard("Maker", "0.8.30"), "invalid_parameter", 400, `contractIdentifier "Maker" is not of the form source:name`},
		{path, v.standard(":Maker", "0.8.30"), "invalid_parameter", 400, `the sources have no ""`},
		{path, v.standard("Maker.sol:Maker", "0.8.30"), "invalid_parameter", 400, `the sources have no "Maker.sol", which contractIdentifier names`},
		{path, text(object{"stdJsonInput": 1, "contractIdentifier": maker}), "invalid_parameter", 400, "the source is not a standard JSON input of the compiler"},
	} {
		v.refuses("POST", c.path, c.body, c.status, c.code, c.text)
	}
	unverified := unknown(43114, v.maker)
	for name, text := range map[string]string{"Counter": "Counter compiles to ", "Nothing": "the sources have no contract Nothing in " + solctest.Source} {
		state := v.begin(path, v.standard(solctest.Source+":"+name, solctest.Version))
		if e, _ := state["error"].(object); e["customCode"] != "no_match" || !strings.HasPrefix(fmt.Sprint(e["message"]), text) || !reflect.DeepEqual(state["contract"], unverified) {
			t.Errorf("%s: %v", name, state)
		}
	}
	state := v.begin(path, v.standard(maker, "v"+solctest.Version))
	want := object{"match": "exact_match", "creationMatch": "exact_match", "runtimeMatch": "exact_match", "chainId": "43114", "address": v.maker.Hex(),
		"verifiedAt": v.world.Clock.Now().UTC().Format(time.RFC3339), "matchId": "43114-" + strings.ToLower(v.maker.Hex())}
	if !reflect.DeepEqual(state, object{"contract": want}) {
		t.Errorf("the contract is %v, want %v", state, want)
	}
	v.refuses("POST", path, v.standard(maker, "0.8.30"), http.StatusConflict, "already_verified", "The contract "+v.maker.Hex()+" on chain 43114 is already verified")
	shown := v.get("/v2/contract/43114/"+v.maker.Hex()+"?fields=all", http.StatusOK)
	var input object
	v.check(json.Unmarshal(v.build.Input, &input))
	compiled, in := shown["compilation"].(object), shown["stdJsonInput"].(object)
	if compiled["fullyQualifiedName"] != maker || compiled["compilerVersion"] != solctest.Version || compiled["compilerSettings"].(object)["evmVersion"] != "paris" || in["language"] != "Solidity" ||
		!reflect.DeepEqual(in["sources"], input["sources"]) || !reflect.DeepEqual(in["settings"], compiled["compilerSettings"]) || !reflect.DeepEqual(shown["sources"], input["sources"]) || shown["verifiedAt"] != want["verifiedAt"] {
		t.Errorf("the contract is %v", shown)
	}
}

// TestMetadata verifies a contract from metadata, whose libraries and target the compiler's input has elsewhere.
func TestMetadata(t *testing.T) {
	v := newVerifier(t)
	path := "/v2/verify/metadata/43114/" + v.counter.Hex()
	for text, c := range map[string]struct {
		code   string
		change func(metadata, settings, sources object)
	}{
		"the metadata has no compilationTarget":                      {"invalid_parameter", func(_, settings, _ object) { delete(settings, "compilationTarget") }},
		"the metadata has no compilationTarget ":                     {"invalid_parameter", func(_, settings, _ object) { settings["compilationTarget"] = object{"a": "A", "b": "B"} }},
		"the metadata has no compilationTarget  ":                    {"invalid_parameter", func(_, settings, _ object) { settings["compilationTarget"] = "a" }},
		"the metadata's libraries are not addresses by name":         {"invalid_parameter", func(_, settings, _ object) { settings["libraries"] = 1 }},
		"the source " + solctest.Source + ", which the metadata nam": {"missing_source", func(_, _, sources object) { delete(sources, solctest.Source) }},
		`the language "Vyper" is not supported`:                      {"invalid_parameter", func(metadata, _, _ object) { metadata["language"] = "Vyper" }},
		`the sources have no "a.sol"`:                                {"invalid_parameter", func(_, settings, _ object) { settings["compilationTarget"] = object{"a.sol": "Counter"} }},
		"expected a version of the Solidity compiler":                {"unsupported_compiler_version", func(metadata, _, _ object) { delete(metadata, "compiler") }},
	} {
		v.refuses("POST", path, v.metadata(c.change), http.StatusBadRequest, c.code, strings.TrimSpace(text))
	}
	state := v.begin(path, v.metadata(func(_, _, _ object) {}))
	if c, _ := state["contract"].(object); c["match"] != "exact_match" || c["creationMatch"] != "exact_match" || len(state) != 1 {
		t.Fatalf("the contract is %v", state)
	}
	rows, err := v.world.DB.AllVerified(t.Context(), 2)
	var input struct {
		Settings struct {
			CompilationTarget any
			EVMVersion        string
			Libraries         map[string]map[string]string
		}
		Sources map[string]any
	}
	if err != nil || len(rows) != 1 || json.Unmarshal(rows[0].Input, &input) != nil {
		t.Fatal(rows, err)
	}
	libraries := map[string]map[string]string{solctest.Source: {"Sums": "0xab"}, "": {"Other": "0xcd"}}
	if s := input.Settings; s.CompilationTarget != nil || s.EVMVersion != "paris" || !reflect.DeepEqual(s.Libraries, libraries) || len(input.Sources) != 1 {
		t.Errorf("the compiler read %s", rows[0].Input)
	}
	two, err := nested([]byte(`{"a.sol:A":"1","a.sol:B":"2","c:d.sol:C":"3",":D":"4"}`))
	if string(two) != `{"":{"D":"4"},"a.sol":{"A":"1","B":"2"},"c:d.sol":{"C":"3"}}` || err != nil {
		t.Errorf("libraries are %s %v", two, err)
	}
}

// TestJobs: a job that has not ended says so; failures have the code of their cause; of too many the newest are refused.
func TestJobs(t *testing.T) {
	v := newVerifier(t)
	path := "/v2/verify/43114/" + v.maker.Hex()
	broken := &verifier{serve(t, v.world, solctest.Compilers(t, `{"errors":[{"severity":"error","message":"wrong"}]}`), nil), v.build, v.counter, v.maker}
	if e, _ := broken.begin(path, v.standard(solctest.Source+":Maker", "0.8.30"))["error"].(object); !reflect.DeepEqual(e, object{"customCode": "compiler_error", "message": "the compiler says: wrong"}) {
		t.Errorf("wrong sources: %v", e)
	}
	strange := &verifier{serve(t, v.world, solctest.Compilers(t, "nothing"), nil), v.build, v.counter, v.maker}
	if e, _ := strange.begin(path, v.standard(solctest.Source+":Maker", "0.8.30"))["error"].(object); !reflect.DeepEqual(e, object{"customCode": "internal_error", "message": "the compiler's output is not JSON"}) {
		t.Errorf("a compiler that does not work: %v", e)
	}
	slow := &verifier{serve(t, v.world, solctest.Waiting(t), nil), v.build, v.counter, v.maker}
	for i := range 17 {
		w := slow.try("POST", path, strings.NewReader(v.standard(solctest.Source+":Maker", "0.8.30")))
		if want := map[bool]int{true: http.StatusAccepted, false: http.StatusTooManyRequests}[i < 16]; w.Code != want {
			t.Errorf("job %d: %d %s", i, w.Code, w.Body)
		}
		var begun struct{ VerificationID string }
		if v.check(json.Unmarshal(w.Body.Bytes(), &begun)); i > 0 {
			continue
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		r, waiting := httptest.NewRequest("GET", "/v2/verify/"+begun.VerificationID, nil).WithContext(impatient), httptest.NewRecorder()
		slow.ServeHTTP(waiting, r)
		var state object
		v.check(json.Unmarshal(waiting.Body.Bytes(), &state))
		delete(state, "jobStartTime")
		if want := (object{"isJobCompleted": false, "verificationId": begun.VerificationID, "contract": unknown(43114, v.maker)}); waiting.Code != http.StatusOK || !reflect.DeepEqual(state, want) {
			t.Errorf("a job that has not ended is %d %v, want %v", waiting.Code, state, want)
		}
	}
	if n, err := v.world.DB.CountVerified(t.Context()); n > 0 || err != nil {
		t.Errorf("%d contracts are verified, %v", n, err)
	}
	path = filepath.Join(t.TempDir(), "world.db")
	v.check(v.world.DB.WriteCopy(t.Context(), path))
	w, err := sim.OpenReadOnly(t.Context(), path)
	v.check(err)
	defer w.Close()
	readOnly := serve(t, w, solc.New(nil), nil)
	readOnly.refuses("POST", "/v2/verify/43114/"+v.maker.Hex(), v.standard(solctest.Source+":Maker", "0.8.30"), http.StatusForbidden, "forbidden", store.ErrReadOnly.Error())
}
