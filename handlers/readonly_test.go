// The built program where it cannot write files or folders.

//go:build unix && !race

package handlers_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/sim/txs"
)

// unprivileged is a user to whom file permissions apply, for tests that run as root.
const unprivileged = 65534

// TestWorldInAFolderThatCannotBeWritten reads a world where neither the file nor its folder is writable.
func TestWorldInAFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	worldFile(t, filepath.Join(home, "w.db"))
	path, _ := binary()
	for _, folder := range []string{filepath.Dir(path), filepath.Dir(home), home} {
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(folder, 0o755) })
	}
	if err := os.Chmod(filepath.Join(home, "w.db"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"digest", "verify"} {
		run := command(t, verb, "--db", filepath.Join(home, "w.db"), "--quiet")
		run.SysProcAttr, run.Dir = modest(), home
		if code, stdout, stderr := outcome(t, run); code != 0 || stdout == "" {
			t.Errorf("%s: exit %d, %s", verb, code, stderr)
		}
	}
	s := startAs(t, modest(), home, "--db", "w.db")
	defer s.cmd.Process.Kill()
	if a, err := http.Get(s.url + "/v1/chains/43114"); err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v %v", a, err)
	}
	a, err := http.Post(s.url+"/ext/bc/X", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"avm.getHeight","params":{}}`))
	if err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v %v", a, err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
		t.Errorf("%v is in the folder: %v", left, err)
	}
}

// TestWorldInAFileThatCannotBeWritten serves a read-only file in a writable folder: changes are refused as in a read-only folder, and no file is left
// beside it.
func TestWorldInAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	worldFile(t, filepath.Join(home, "w.db"))
	path, _ := binary()
	file := filepath.Join(home, "w.db")
	for name, mode := range map[string]os.FileMode{filepath.Dir(path): 0o555, filepath.Dir(home): 0o755, home: 0o777, file: 0o444} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(name, 0o755) })
	}
	started := t.TempDir()
	if err := os.Chmod(started, 0o777); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(started, "ready")
	s := startAs(t, modest(), home, "--db", "w.db", "--ready-file", ready)
	defer s.cmd.Process.Kill()
	for range 1000 { // it comes after the banner
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	refused := func(url, body string, status int) {
		t.Helper()
		a, err := http.Post(s.url+url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		answer, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != status || !bytes.Contains(answer, []byte("the world cannot change: its file or its folder is not writable")) {
			t.Errorf("%s: %d %s %v", url, a.StatusCode, answer, err)
		}
	}
	refused("/v1/operations/transactions:export", `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],
		"includeChains":["43114"],"firstDate":"2026-10-20","lastDate":"2026-10-31"}}`, http.StatusForbidden)
	refused("/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[]}`, http.StatusOK)
	refused("/ext/bc/X", `{"jsonrpc":"2.0","id":1,"method":"avm.issueTx","params":{"tx":"`+someXTx(t, s.url)+`","encoding":"hex"}}`, http.StatusOK)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.banner)
	}
	if !strings.Contains(s.banner.String(), "w.db is read-only: Snowglobe rejects everything that would change the world\n") {
		t.Errorf("the banner does not say that the world is only read:\n%s", s.banner)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
		t.Errorf("%v is in the folder: %v", left, err)
	}
}

// someXTx returns an X-Chain transaction, in hex with its checksum.
func someXTx(t *testing.T, url string) string {
	t.Helper()
	ask := func(method, params string) (result struct{ Tx, Block string }) {
		a, err := http.Post(url+"/ext/bc/X", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		answer := struct{ Result any }{&result}
		if err := json.NewDecoder(a.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return result
	}
	raw, err := formatting.Decode(formatting.Hex, ask("avm.getBlockByHeight", `{"height":"5","encoding":"hex"}`).Block)
	if err != nil {
		t.Fatal(err)
	}
	b, err := txs.ParseBlock(txs.XChain, raw)
	if err != nil {
		t.Fatal(err)
	}
	return ask("avm.getTx", `{"txID":"`+b.Txs()[0].ID().String()+`","encoding":"hex"}`).Tx
}

// TestAPipeIsNoWorld: opening a named pipe would block until another process writes to it.
func TestAPipeIsNoWorld(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{
		"serve --addr 127.0.0.1:0": "not a Snowglobe world: it is a named pipe", "digest": "not a Snowglobe world: it is a named pipe",
		"verify": "not a Snowglobe world: it is a named pipe", "generate": "not a Snowglobe world: it is a named pipe",
	} {
		run := command(t, append(strings.Fields(verb), "--db", "pipe")...)
		if err := syscall.Mkfifo(filepath.Join(run.Dir, "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := outcome(t, run); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", verb, code, stderr)
		}
	}
}

func modest() *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
}
