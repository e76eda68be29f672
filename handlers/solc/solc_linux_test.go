package solc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fake writes a compiler as a script of shell built-ins: a compiler has no search path.
func fake(t *testing.T, path, version, body string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then\necho \"Version: %s.Linux.g++\"\nelse\n%s\nfi\n", version, body)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const output = `echo '{"contracts":{},"sources":{}}'`

// TestFindLooksWhereToolsKeepCompilers: at --solc first, then in Foundry's and Hardhat's folders; a version with another commit is not found.
func TestFindLooksWhereToolsKeepCompilers(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	svm := fake(t, filepath.Join(home, ".svm/0.8.19/solc-0.8.19"), "0.8.19+commit.7dd6d404", output)
	xdg := fake(t, filepath.Join(home, "data/svm/0.8.20/solc-0.8.20"), "0.8.20+commit.a1b79de6", output)
	hardhat := fake(t, filepath.Join(home, "cache/hardhat-nodejs/compilers-v3/linux-amd64/solc-linux-amd64-v0.8.21+commit.d9974bed"), "0.8.21+commit.d9974bed", output)
	named := fake(t, filepath.Join(home, "solc"), "0.8.22+commit.4fc1097e", output)
	all := New([]string{named})
	for version, want := range map[string]string{
		"v0.8.19+commit.7dd6d404": svm, "0.8.20": xdg, "v0.8.21+commit.d9974bed": hardhat, "0.8.22+commit.4fc1097e": named,
		"v0.8.19+commit.00000000": "", "0.8.2": "", "v0.8.30+commit.73712a01": "",
	} {
		found, err := all.Find(t.Context(), version)
		missing := new(MissingError)
		switch {
		case want == "" && (!errors.As(err, &missing) || !strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "--artifacts")):
			t.Errorf("%s: %v", version, err)
		case want != "" && (err != nil || found.File != want):
			t.Errorf("%s is %+v, %v, expected %s", version, found, err, want)
		}
	}
	for _, wrong := range []string{"", "latest", "vyper:0.3.7", "v0.8.30+commit.73712a01;rm", "../../0.8.30"} {
		if _, err := all.Find(t.Context(), wrong); !errors.Is(err, ErrVersion) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if listed, err := all.List(t.Context()); err != nil || len(listed) != 4 || listed[0].File != svm {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	if _, err := New([]string{filepath.Join(home, "none")}).Find(t.Context(), "0.8.30"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is missing: %v", err)
	}
}

// TestACompilerIsConfined: it runs in an empty folder with an empty environment, ends when its time is over, and may not print without end.
func TestACompilerIsConfined(t *testing.T) {
	compile := func(ctx context.Context, body string) ([]byte, error) {
		path := fake(t, filepath.Join(t.TempDir(), "solc"), "0.8.30+commit.73712a01", body)
		c, err := New([]string{path}).Find(t.Context(), "0.8.30")
		if err != nil {
			t.Fatal(err)
		}
		return c.Compile(ctx, []byte("{}\n"))
	}
	out, err := compile(t.Context(), `read -r input; for f in *; do files="$files$f "; done; echo "{\"input\":$input,\"path\":\"$PATH\",\"home\":\"$HOME\",\"files\":\"$files\",\"arguments\":\"$*\"}"`)
	if want := `{"input":{},"path":"","home":"","files":"* ","arguments":"--standard-json"}`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("the compiler says %s, %v, expected %s", out, err, want)
	}
	if runtime.GOOS == "linux" {
		if _, err := compile(t.Context(), `read -r input; echo x >file || exit 3; `+output); err == nil {
			t.Error("the compiler writes a file")
		}
	}
	if _, err := compile(t.Context(), `while :; do echo "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"; done`); !errors.Is(err, errOutput) {
		t.Errorf("endless output: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := compile(ctx, `while :; do :; done`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endless work: %v", err)
	}
	if _, err := compile(t.Context(), `echo '{"errors":[{"severity":"error","formattedMessage":"ParserError: no"}]}'`); err == nil || err.Error() != "the compiler says: ParserError: no" {
		t.Errorf("an error in the source: %v", err)
	}
	if _, err := compile(t.Context(), `echo wrong >&2; exit 1`); err == nil || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("a failure: %v", err)
	}
}

// TestInputsAreClosed: every source has its text, nothing is fetched, no solver starts, and the client does not choose the output.
func TestInputsAreClosed(t *testing.T) {
	in, err := ParseInput([]byte(`{"language":"Solidity","sources":{"a.sol":{"content":"contract A {}"}},"settings":{"modelChecker":{"engine":"all","solvers":["z3"]},
		"outputSelection":{"*":{"*":["*"],"":["ast"]}},"optimizer":{"enabled":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := in.For("a.sol", "A")
	var sent struct {
		Settings map[string]json.RawMessage
	}
	if err := errors.Join(err, json.Unmarshal(text, &sent)); err != nil || sent.Settings["modelChecker"] != nil || string(sent.Settings["optimizer"]) != `{"enabled":true}` ||
		!strings.HasPrefix(string(sent.Settings["outputSelection"]), `{"a.sol":{"A":["abi"`) || strings.Contains(string(text), "ast") {
		t.Errorf("the compiler gets %s, %v", text, err)
	}
	for wrong, want := range map[string]string{
		`{"language":"Solidity","sources":{"a.sol":{"urls":["file:///etc/passwd"]}}}`: "has no content",
		`{"language":"Solidity","sources":{}}`:                                        "no sources",
		`{"language":"Vyper","sources":{"a":{"content":""}}}`:                         `"Vyper" is not supported`,
		`contract A {}`: "not a standard JSON input",
	} {
		if _, err := ParseInput([]byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
