package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/session"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
)

// TestBackToALine goes back line by line: the world gets the digest it had, the session ends there, and playing it anew gives the same digest.
func TestBackToALine(t *testing.T) {
	for _, setting := range []string{"evm_setAutomine [false] on C", "mine on C", `POST /sim/node {"settlementLag":"5m"}`} {
		t.Run(setting, func(t *testing.T) { backToALine(t, setting) })
	}
}

func backToALine(t *testing.T, setting string) {
	w := seedtest.Copy(t, 1)
	defer w.Close()
	s, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, path, bytes.NewBufferString(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		a := httptest.NewRecorder()
		s.ServeHTTP(a, r)
		return a.Code, a.Body.String()
	}
	timeline := func() (found session.Timeline) {
		_, text := send("GET", "/sim/session/lines", "")
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	digests := []string{fmt.Sprintf("%x", w.Digest())}
	text := `alice sends 1 AVAX to bob on C
anvil_setBalance ["@fresh","0x5"] on C
snapshot
bob sends 1 gwei to alice on fuji/C
clock advance 1h
snapshot
%s
alice sends 2 AVAX to bob on C
mine 2 on C
alice calls usdx.transfer(bob, 5) on 70411`
	for line := range strings.Lines(fmt.Sprintf(text, setting)) {
		if code, answer := send("POST", "/sim/session:play", `{"session":`+fmt.Sprintf("%q", line)+`}`); code != 200 {
			t.Fatal(line, answer)
		}
		digests = append(digests, fmt.Sprintf("%x", w.Digest()))
	}
	if found := timeline(); len(found.Lines) != 10 || !found.Back || found.Lines[2].Snapshot != "1" || found.Lines[5].Snapshot != "2" || found.Lines[9].Digest != digests[10] {
		t.Errorf("%+v", found)
	}
	for _, line := range []int{9, 7, 6, 5, 4, 3, 1, 0} {
		code, answer := send("POST", "/sim/session:back", fmt.Sprintf(`{"line":%d}`, line))
		if got := fmt.Sprintf("%x", w.Digest()); code != 200 || got != digests[line] {
			t.Fatalf("back at line %d the digest is %s, it was %s: %s", line, got, digests[line], answer)
		}
		if found := timeline(); len(found.Lines) != line {
			t.Errorf("back at line %d: %+v", line, found)
		}
		if line%4 > 0 {
			continue
		}
		_, recorded := send("GET", "/sim/session", "")
		player, again := serve(t)
		if played, err := player.Play(t.Context(), recorded); err != nil || played.Digest != digests[line] {
			t.Errorf("%v %v of %x\n%s", err, played, again.Digest(), recorded)
		}
	}
	if code, answer := send("POST", "/sim/session:back", `{"line":1}`); code != http.StatusNotFound || !strings.Contains(answer, "the session has no line 1: it has 0 lines") {
		t.Errorf("%d %s", code, answer)
	}
	if err := w.CheckDigest(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoWayBack: a session that begins with a changed world can go back only as far as its first snapshot.
func TestNoWayBack(t *testing.T) {
	path := t.TempDir() + "/w.db"
	w := seedtest.Generate(t, path, "tiny", 1)
	play := func(w *sim.World, text string) http.Handler {
		t.Helper()
		s, err := handlers.New(w, handlers.Options{Network: "mainnet"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if _, err := session.NewPlayer(w, s.Handler).Play(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		return s.Handler
	}
	play(w, "mine on C")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := play(w, "mine on C\nsnapshot\nmine on C")
	for line, want := range map[int]int{0: http.StatusConflict, 1: http.StatusConflict, 2: http.StatusOK} {
		r := httptest.NewRequest("POST", "/sim/session:back", strings.NewReader(fmt.Sprintf(`{"line":%d}`, line)))
		r.Header.Set("Content-Type", "application/json")
		a := httptest.NewRecorder()
		if h.ServeHTTP(a, r); a.Code != want {
			t.Errorf("line %d: %d %s", line, a.Code, a.Body)
		}
	}
}
