package control_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
)

// TestSnapshots takes two, goes back to the first, by either form of its id, and begins anew. Each answer has the world's digest and time.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	s := serve(t, w, permit.Rule{}, func(s *rest.Server) error { return control.RegisterSnapshots(s, w) })
	m, fresh, begun := w.MinerOf(w.Networks[0].CChain()), hex.EncodeToString(w.Digest()), w.Clock.Unix()
	mine := func() {
		t.Helper()
		if err := m.Mine(t.Context(), 3, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	list := func() (names []string) {
		t.Helper()
		var all control.Snapshots
		decode(t, s.get("/sim/snapshots"), &all)
		for _, one := range all.Snapshots {
			names = append(names, one.ID+" "+one.Name)
		}
		return names
	}
	mine()
	var first control.Snapshot
	status, text := s.ask(http.MethodPost, "/sim/snapshots", `{"name":"one"}`)
	if decode(t, text, &first); status != http.StatusCreated || first.Digest != hex.EncodeToString(w.Digest()) || first.Unix != w.Clock.Unix() || first.Created != w.Clock.Now().UTC().Format(time.RFC3339) {
		t.Errorf("%d %s", status, text)
	}
	mine()
	s.ask(http.MethodPost, "/sim/snapshots", "")
	if got := strings.Join(list(), ", "); got != "1 one, 2 " || s.get("/sim/snapshots/0x1") != text {
		t.Errorf("the snapshots are %s", got)
	}
	for _, id := range []string{"1", "0x1"} {
		var back control.Returned
		_, text := s.ask(http.MethodPost, "/sim/snapshots/"+id+":revert", "")
		if decode(t, text, &back); back.Digest != first.Digest || back.Clock.Unix != first.Unix || strings.Join(list(), ", ") != "1 one" {
			t.Errorf("the revert to %s leads to %s, with the snapshots %s", id, text, list())
		}
		mine()
	}
	before := w.Digest()
	if status, _ := s.ask(http.MethodDelete, "/sim/snapshots/1", ""); status != http.StatusNoContent || len(list()) > 0 || !bytes.Equal(w.Digest(), before) {
		t.Errorf("%d, the snapshots are %s", status, list())
	}
	var anew control.Returned
	_, text = s.ask(http.MethodPost, "/sim/reset", "")
	if decode(t, text, &anew); anew.Digest != fresh || anew.Clock.Unix != begun {
		t.Errorf("the reset answers %s, the world began with %s at %d", text, fresh, begun)
	}
	for _, id := range []string{"1", "0", "-1", "one", "0x"} {
		for method, end := range map[string]string{http.MethodGet: "", http.MethodPost: ":revert", http.MethodDelete: ""} {
			if status, text := s.ask(method, "/sim/snapshots/"+id+end, ""); status != http.StatusNotFound || !strings.Contains(text, `snapshot \"`+id+`\" does not exist`) {
				t.Errorf("%s %s: %d %s", method, id, status, text)
			}
		}
	}
	for length, want := range map[int]int{100: http.StatusCreated, 101: http.StatusBadRequest} {
		if status, text := s.ask(http.MethodPost, "/sim/snapshots", `{"name":"`+strings.Repeat("x", length)+`"}`); status != want {
			t.Errorf("a name of %d bytes: %d %s", length, status, text)
		}
	}
}
