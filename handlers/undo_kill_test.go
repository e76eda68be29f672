// The built program, killed while it reverts.

//go:build !race

package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim"
	"snowglobe/sim/verify/verifytest"
)

// TestAKillDuringARevert kills a server repeatedly during a revert or a reset: the world is in the old state or in the target state, never in
// between, and can be reverted from there.
func TestAKillDuringARevert(t *testing.T) {
	t.Parallel()
	rounds := 6
	if testing.Short() {
		t.Log("left out of a short run: all rounds but one")
		rounds = 1
	}
	folder, ids := t.TempDir(), readWorld(t)
	path := filepath.Join(folder, "w.db")
	random := rand.New(rand.NewPCG(19, 0))
	gone, stayed := 0, 0
	for round := range rounds {
		s := start(t, folder, "--quiet", "--db", "w.db")
		c := clocked{t, s.url}
		digest := func() string {
			_, said, _ := c.send("/sim/health", "")
			_, after, _ := strings.Cut(said, `"digest":"`)
			return strings.SplitN(after, `"`, 2)[0]
		}
		d := clientOf(t, s, ids)
		send := func(n int) {
			for range n {
				d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
			}
		}
		post := func(path string) string {
			answer, err := http.Post(s.url+path, "application/json", nil)
			if err != nil {
				return err.Error()
			}
			defer answer.Body.Close()
			return answer.Status
		}
		send(3)
		if said := post("/sim/snapshots"); !strings.HasPrefix(said, "201") {
			t.Fatal(said)
		}
		before := digest()
		send(3)
		d.text("anvil_mine", "0x190") // so that reverting takes a while
		after := digest()
		back := fmt.Sprintf("/sim/snapshots/%d:revert", round+1)
		killed := make(chan struct{})
		time.AfterFunc(time.Duration(random.IntN(80))*time.Millisecond, func() {
			_ = s.cmd.Process.Kill()
			close(killed)
		})
		said := post(back)
		<-killed
		_ = s.cmd.Wait() // it was killed
		w, err := sim.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		switch now := fmt.Sprintf("%x", w.Digest()); {
		case now == before:
			gone++
		case now == after && !strings.HasPrefix(said, "200"):
			stayed++
		default:
			t.Errorf("round %d: the digest is %s, it was %s and is to be %s: %s", round, now, after, before, said)
		}
		verifytest.Sound(t, w)
		if err := w.Revert(t.Context(), int64(round+1), false); err != nil {
			t.Error(err)
		}
		if now := fmt.Sprintf("%x", w.Digest()); now != before {
			t.Errorf("round %d: the digest is %s after going back, want %s", round, now, before)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d worlds had gone back, %d had not", gone, stayed)
}
