package session_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/session"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// serve returns a player for a new world of seed 1, and the world.
func serve(t *testing.T) (*session.Player, *sim.World) {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	s, err := handlers.New(w, handlers.Options{Network: "mainnet", Relayer: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return session.NewPlayer(w, s.Handler), w
}

// TestDeterminism plays a committed session of 200 random actions and expects the same digest on every operating system and processor.
func TestDeterminism(t *testing.T) {
	raw, err := os.ReadFile("testdata/random.session")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	player, _ := serve(t)
	played, err := player.Play(t.Context(), text)
	if err != nil || len(played.Notes) > 0 || played.Lines < 150 {
		t.Fatal(played, err)
	}
	want := text[strings.LastIndex(text, "digest ")+len("digest "):]
	if played.Digest != strings.TrimSpace(want) {
		t.Errorf("digest %s, committed is %s", played.Digest, want)
	}
}

// TestPlay plays handwritten sessions: each succeeds, or stops at the expected line with a reason.
func TestPlay(t *testing.T) {
	player, w := serve(t)
	for _, c := range []struct{ text, want string }{
		{"alice sends 1.5 AVAX to bob on C\n\n# twice\nalice sends 1 gwei to bob on fuji/C", "2 lines"},
		{"alice calls usdx.transfer(bob, 5) on C\nalice calls usdx.transfer(address,uint256)(bob, 5) on C", "2 lines"},
		{"alice calls usdx.transfer(bob, 99_999_999 ether) on C fails", "1 lines"},
		{"bob sends 99999999999 AVAX to alice on C fails", "1 lines"},
		{"bob sends 1 wei to alice on C fails", "line 1: it succeeded, but the line expects it to fail"},
		{"bob sends 99999999999 AVAX to alice on C", "line 1: eth_sendTransaction: .*insufficient"},
		{"snapshot a \"before lunch\"\nanvil_setBalance [\"@fresh\",\"0x1\"] on C\nsnapshot b\nrevert to a and delete it\nrevert to b", "line 5: snapshot \"2\" does not exist"},
		{"anvil_setBalance [\"@nobody-else\",\"0x1\"] on C", "line 1: \"nobody-else\" is not an account"},
		{"anvil_setBalnce [\"@fresh\",\"0x1\"] on C", "line 1: .*does not exist"},
		{"mine on D", "line 1: there is no EVM chain \"D\""},
		{"clock advance 1h\nclock to 2020-01-01T00:00:00Z", "2 lines"},
		{"missing the state of yesterday", "line 1: the session leaves out something that it cannot play: the state of yesterday"},
		{"world " + strings.Repeat("0", 64) + "\nmine 2 every 3s on C", "recorded on another world"},
		{"digest " + strings.Repeat("0", 64), "line 1: the world has the digest"},
		{"mine\nalice sends\nbob jumps", "line 1: .*line 2: .*line 3: \"bob\": expected an account that sends"},
		{"POST /sim/faults {\"match\":{\"rpcMethod\":\"eth_sendTransaction\"},\"action\":{\"status\":503}}\nalice sends 1 wei to bob on C\nDELETE /sim/faults", "3 lines"},
		{"POST /sim/faults {\"match\":{}}", "line 1: "},
		{"raw 0x01 on C fails", "1 lines"},
		{"issue 0x01 on P", "line 1: platform.issueTx: "},
		{"issue 0x01 on P fails # nothing that anybody could read", "1 lines"},
	} {
		played, err := player.Play(t.Context(), c.text)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(played.Lines, " lines ", played.Notes)
		}
		if !regexp.MustCompile("(?s)" + c.want).MatchString(got) {
			t.Errorf("%s\n%s, want %s", c.text, got, c.want)
		}
	}
	if err := w.CheckDigest(t.Context()); err != nil {
		t.Error(err)
	}
}
