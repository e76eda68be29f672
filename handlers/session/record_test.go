package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/fixtures/session"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/miner"
)

// recorded returns the lines of a session, without the world's and the digest.
func recorded(t *testing.T, r *Recorder) string {
	t.Helper()
	text, err := r.Text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("# Seed 1, profile tiny. snowglobe help sessions explains the lines.\nworld %x\n", r.begun)
	end := fmt.Sprintf("# digest %x\n", r.world.Digest())
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, end) {
		t.Errorf("%s does not begin with %s or end with %s", text, head, end)
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, head), end)
}

// counted is what the recorder should think that it keeps.
func counted(r *Recorder) (n int) {
	for _, a := range r.actions {
		n += a.bytes()
	}
	return n
}

// TestRecording: a session has what changed the world, in the order of the changes, with the failures that left something behind, and the clock where it
// moved by itself.
func TestRecording(t *testing.T) {
	w := seedtest.Copy(t, 1)
	people := false
	r := NewRecorder(w, func() bool { return people })
	alice := named(t).accounts["alice"].address
	do := func(method, params string, result any, failed bool, work func(*miner.Miner) error) {
		t.Helper()
		given := []byte(params)
		within, done := r.Call(t.Context(), "C", method, given)
		copy(given, strings.Repeat("x", len(given))) // the client's buffer is used again
		if work != nil {
			if err := work(w.Miners[0]); (err != nil) != failed {
				t.Fatal(err)
			}
		}
		_ = within
		done(result, failed)
	}
	turn := func(method, params string, change, failed bool) {
		t.Helper()
		within, done := r.Call(t.Context(), "C", method, []byte(params))
		if change {
			if err := w.Miners[0].AddBalance(within, alice, uint256.NewInt(1)); err != nil {
				t.Fatal(err)
			}
		} else if err := w.Miners[0].SendNext(within, alice, func(miner.Next) (*types.Transaction, error) { return nil, errors.New("no") }); err == nil {
			t.Fatal("it worked")
		}
		done(nil, failed)
	}
	expect := func(want ...string) {
		t.Helper()
		text := ""
		for _, line := range want {
			text += line + "\n"
		}
		for range 2 { // the second time from the lines that it keeps
			if got := recorded(t, r); got != text {
				t.Errorf("got\n%swant\n%s", got, text)
			}
			if n := counted(r); r.bytes != n {
				t.Errorf("%d bytes are counted as %d", n, r.bytes)
			}
		}
	}
	expect()
	for _, method := range []string{"eth_accounts", "eth_sign", "eth_signTransaction", "personal_unlockAccount", "admin_peers", "debug_verbosity", "eth_fillTransaction"} {
		do(method, "[]", nil, false, nil)
	}
	do("anvil_setBalance", `["0x1"]`, nil, true, nil) // it failed before it could do anything
	expect()
	do("anvil_setBalance", `["0x1"]`, nil, false, nil)
	do("evm_snapshot", `[]`, "0x3", false, nil)
	do("evm_revert", `["0x3"]`, true, false, nil)
	do("evm_revert", `["0x9"]`, false, false, nil) // there is no such snapshot
	expect(`anvil_setBalance ["0x1"] on C`, "snapshot 3", "revert to 3 and delete it")
	turn("anvil_setBalance", `["0x2"]`, true, true)
	turn("anvil_setBalance", `["0x3"]`, false, true)
	expect(`anvil_setBalance ["0x1"] on C`, "snapshot 3", "revert to 3 and delete it", `anvil_setBalance ["0x2"] on C fails`)
	end := r.actions[len(r.actions)-1]
	if !slices.Equal(end.digest, w.Digest()) || end.after != w.Clock.UnixMilli() {
		t.Errorf("%+v", end)
	}

	within, done := r.Operation(t.Context(), "getSession", "GET", "/sim/session", nil)
	done(nil, false)
	within, done = r.Operation(within, "takeSnapshot", "POST", "/sim/snapshots", []byte(`{}`))
	inner, innerDone := r.Operation(within, "resetWorld", "POST", "/sim/reset", nil) // beside the other one
	innerDone(nil, false)
	_ = inner
	done(map[string]string{"id": "4", "name": "lunch"}, false)
	expect(`anvil_setBalance ["0x1"] on C`, "snapshot 3", "revert to 3 and delete it", `anvil_setBalance ["0x2"] on C fails`, "reset", `snapshot 4 "lunch"`)

	first := w.Clock.Now().Add(time.Minute)
	if err := w.Advance(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	moved := "clock to " + timeText(w.Clock.UnixMilli())
	before := strings.Split(strings.TrimSpace(recorded(t, r)), "\n")
	if before[len(before)-1] != moved {
		t.Errorf("%q does not end with %s", before, moved)
	}
	people = true
	do("evm_mine", `[]`, nil, false, nil)
	kept := before[:len(before)-1]
	expect(append(slices.Clone(kept), moved+" with people", "mine on C")...)
	if err := w.Advance(t.Context(), first.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	again := "clock to " + timeText(w.Clock.UnixMilli()) + " with people"
	expect(append(slices.Clone(kept), moved+" with people", "mine on C", again)...)
	turn("anvil_setBalance", `["0x4"]`, false, true) // only the clock's way remains of it
	expect(append(slices.Clone(kept), moved+" with people", "mine on C", again)...)

	line, err := r.Timeline(t.Context())
	if err != nil || len(line.Lines) != len(kept)+3 || line.Lines[0].Line != 1 || line.Lines[0].Text != kept[0] || line.Lines[0].Digest == "" || line.Lines[len(kept)].Digest != "" {
		t.Errorf("%v %+v", err, line)
	}
	r.beginAnew()
	expect()
}

// TestBoundsOfASession: a session keeps the latest actions, and says how many it has lost.
func TestBoundsOfASession(t *testing.T) {
	w := seedtest.Copy(t, 1)
	r := NewRecorder(w, func() bool { return false })
	send := func(n int) {
		_, done := r.Call(t.Context(), "C", "anvil_setCode", []byte(`["`+strings.Repeat("a", n)+`"]`))
		done(nil, false)
	}
	send(keptEach - 4)
	send(keptEach - 3)
	lines, err := r.Lines(t.Context())
	if err != nil || len(lines) != 2 || len(lines[0].text) < keptEach || lines[1].text != fmt.Sprintf("missing anvil_setCode  with %d bytes, more than a session keeps", keptEach+1) {
		t.Fatal(err, len(lines), lines[1].text)
	}
	for range 5 {
		send(keptEach - 4)
	}
	lines, err = r.Lines(t.Context())
	if err != nil || len(lines) != 4 || lines[0].text != "missing 4 earlier actions: a session keeps the latest 4 MiB" || r.bytes != counted(r) || r.bytes > keptBytes {
		t.Fatal(err, len(lines), lines[0].text, r.bytes, counted(r))
	}
	if all, err := r.bases(t.Context(), lines); err != nil || len(all) > 0 {
		t.Errorf("%v %+v", err, all)
	}
	r.KeepAll()
	if r.limit != MostBytes {
		t.Error(r.limit)
	}
}

// TestWaysBack: a world goes back to the last snapshot before a line, or to the beginning if something that no snapshot has was changed.
func TestWaysBack(t *testing.T) {
	lines := func(text ...string) (all []line) {
		for _, l := range text {
			all = append(all, line{text: l})
		}
		return all
	}
	for _, c := range []struct {
		lines            []line
		settings, server bool
	}{
		{lines("alice sends 1 wei to bob on C", "mine on C", "snapshot 1"), false, false}, {lines(`anvil_setBalance ["@bob","0x1"] on C`, "anvil_mine [5] on C"), false, false},
		{lines("evm_setAutomine [false] on C", "mine on C"), true, false}, {lines("mine on C", `POST /sim/node {}`), false, true}, {lines(`POST /sim/imports {}`, `POST /sim/faucet {}`), false, false},
		{lines("evm_setAutomine [false] on C", "DELETE /sim/faults"), true, true}, {lines("missing something", "no line at all"), false, false}, {lines("platform.issueTx {} on P"), false, false},
	} {
		if settings, server := beyond(c.lines); settings != c.settings || server != c.server {
			t.Errorf("%v: %t %t", c.lines, settings, server)
		}
		all := []base{{0, ""}, {2, "1"}, {4, "2"}}
		ways := usable(all, c.lines)
		if only := c.settings || c.server; only && len(ways) != 1 || !only && len(ways) != 3 || len(all) != 3 {
			t.Errorf("%v: %v", c.lines, ways)
		}
	}
	all := []base{{2, "1"}, {4, "2"}}
	for number, want := range map[int]string{1: "", 2: "1", 3: "1", 4: "2", 9: "2"} {
		if found, ok := before(all, number); ok != (want != "") || found.snapshot != want {
			t.Errorf("%d: %+v", number, found)
		}
	}
}

// TestMistakesOfLines: a line's mistake is the client's; others are not.
func TestMistakesOfLines(t *testing.T) {
	one, two := &session.Mistake{Line: 1, Reason: errors.New("a")}, &session.Mistake{Line: 2, Reason: errors.New("b")}
	for _, c := range []struct {
		err  error
		want string
	}{{nil, ""}, {errors.New("a"), ""}, {one, "line 1: a"}, {errors.Join(one, two), "line 1: a|line 2: b"}, {fmt.Errorf("more: %w", two), "line 2: b"}} {
		if got := strings.Join(mistakes(c.err), "|"); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

// TestTheSessionEndsWithALine: a session that went back ends there, and knows its snapshots by their new ids.
func TestTheSessionEndsWithALine(t *testing.T) {
	w := seedtest.Copy(t, 1)
	r := NewRecorder(w, func() bool { return false })
	for _, id := range []string{"0x1", "0x2"} {
		for _, method := range []string{"evm_snapshot", "evm_mine"} {
			_, done := r.Call(t.Context(), "C", method, []byte(`[]`))
			done(id, false)
		}
	}
	if got := recorded(t, r); got != "snapshot 1\nmine on C\nsnapshot 2\nmine on C\n" {
		t.Fatal(got)
	}
	for _, c := range []struct {
		line int
		want string
	}{{3, "snapshot 7\nmine on C\nsnapshot 2\n"}, {2, "snapshot 7\nmine on C\n"}, {0, ""}} {
		lines, err := r.Lines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.cut(lines[:c.line], map[string]string{"1": "7"})
		if got := recorded(t, r); got != c.want || r.bytes != counted(r) {
			t.Errorf("after line %d: %d bytes, %s", c.line, r.bytes, got)
		}
	}
	if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, r); !strings.HasPrefix(got, "clock to ") {
		t.Error(got)
	}
	r.beginAnew()
	if got := recorded(t, r); got != "" || r.fresh || r.begunAt != w.Clock.UnixMilli() {
		t.Error(got)
	}
}
