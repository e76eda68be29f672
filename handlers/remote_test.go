// Verbs of the built program that ask a running server.

//go:build !race

package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestVerbsThatAskAServer takes a snapshot, reverts to it, and makes another world, from the command line.
func TestVerbsThatAskAServer(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	defer server.cmd.Process.Kill()
	run := func(want int, words ...string) string {
		t.Helper()
		code, stdout, stderr := outcome(t, command(t, append(words, "--addr", strings.TrimPrefix(server.url, "http://"))...))
		if code != want {
			t.Errorf("%v: exit %d, %s%s", words, code, stdout, stderr)
		}
		return strings.TrimSpace(stdout + stderr)
	}
	if id := run(0, "snapshot", "take", "before"); id != "1" {
		t.Errorf("snapshot %q", id)
	}
	if list := run(0, "snapshot"); !strings.HasPrefix(list, "1  2026-") || !strings.HasSuffix(list, "  before") {
		t.Errorf("snapshots %q", list)
	}
	if list := run(0, "snapshot", "list", "--json"); !strings.HasPrefix(list, `{"snapshots":[{"id":"1","name":"before"`) {
		t.Errorf("snapshots %q", list)
	}
	if digest := run(0, "snapshot", "revert", "1"); len(digest) != 64 || run(0, "snapshot", "reset") != digest {
		t.Errorf("digest %q", digest)
	}
	if said := run(1, "snapshot", "delete", "7"); !strings.HasSuffix(said, `snapshot "7" does not exist: GET /sim/snapshots lists all snapshots`) {
		t.Error(said)
	}
	url := run(0, "world", "make", "mine")
	if answer, err := http.Get(url + "/sim/health"); url != server.url+"/w/mine" || err != nil || answer.StatusCode != http.StatusOK {
		t.Error(url, answer, err)
	}
	if list := run(0, "world", "list"); strings.Join(strings.Fields(list), " ") != "main "+server.url+" mine "+url {
		t.Errorf("worlds %q", list)
	}
	run(0, "world", "delete", "mine")
	run(2, "world", "delete")
	server.cmd.Process.Kill()
	server.cmd.Wait()
	for _, verb := range []string{"healthcheck", "env", "world"} {
		if said := run(1, verb); !strings.Contains(said, "start one with snowglobe serve, or name another with --addr") {
			t.Error(said)
		}
	}
}
