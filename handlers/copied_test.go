//go:build !race

// Requests that a page copies as tests: they pass, and fail once the server answers otherwise.

package handlers_test

import (
	"go/format"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers/snowglobetest"
)

// TestARequestCopiedAsATest copies a call, an operation and a refusal from the request's page as tests for Go and pytest. They pass, and fail once
// the server answers otherwise.
func TestARequestCopiedAsATest(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(t)
	read := func(r *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tests, python := t.TempDir(), ""
	for i, send := range []func() (*http.Response, error){
		func() (*http.Response, error) {
			return http.Post(s.RPCURL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1",false]}`))
		},
		func() (*http.Response, error) { return http.Get(s.URL + "/v1/chains/43114?a=%22") },
		func() (*http.Response, error) { return http.Get(s.URL + "/v1/chains/nothing") },
	} {
		read(send())
		list := read(http.Get(s.URL + "/requests"))
		page := read(http.Get(s.URL + regexp.MustCompile(`/requests/[0-9]+`).FindString(list)))
		for _, tab := range []string{"Go", "pytest"} {
			_, code, _ := strings.Cut(page, `data-tab="`+tab+`"><pre class="tall" tabindex="0"><code>`)
			code, _, found := strings.Cut(code, "</code>")
			if code = html.UnescapeString(code); !found {
				t.Fatalf("no code for %s\n%s", tab, page)
			}
			if tab == "pytest" {
				name := regexp.MustCompile(`def (test_\w+)`).FindStringSubmatch(code)[1]
				python += code + "\n" + name + "()\n"
				continue
			}
			if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
				t.Errorf("%v: gofmt makes this\n%s\nof\n%s", err, formatted, code)
			}
			if err := os.WriteFile(filepath.Join(tests, string(rune('a'+i))+"_test.go"), []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(tests, "go.mod"), []byte("module copied\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Env = tests, append(os.Environ(), "SNOWGLOBE_URL="+s.URL)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Log("python3 is missing: the tests for pytest do not run")
	}
	passes := func(want bool) {
		t.Helper()
		if out, err := run("go", "test", "-count=1", "-vet=off", "./..."); (err == nil) != want {
			t.Errorf("Go: %v\n%s", err, out)
		}
		if interpreter != "" {
			if out, err := run(interpreter, "-c", python); (err == nil) != want {
				t.Errorf("Python: %v\n%s\n%s", err, out, python)
			}
		}
	}
	passes(true)
	read(http.Post(s.URL+"/sim/faults", "application/json", strings.NewReader(`{"match":{"path":"/v1/*"},"action":{"status":503}}`)))
	read(http.Post(s.URL+"/sim/faults", "application/json", strings.NewReader(`{"match":{"rpcMethod":"eth_getBlockByNumber"},"action":{"rpcError":{"code":-1,"message":"no"}}}`)))
	passes(false)
}
