// Worlds served across Helicon, with every interface at once.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// TestTheClockCrossesHelicon serves a world before the activation of each network. Helicon's shortest stake is refused in the node's words until the
// clock has crossed the activation, and again after a revert. A restart on either side changes nothing.
func TestTheClockCrossesHelicon(t *testing.T) {
	t.Parallel()
	profile, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]time.Time{"fuji": seed.DefaultUntil.AddDate(0, 0, 7), "mainnet": seed.DefaultUntil.AddDate(0, 0, 14)}
	for _, name := range []string{"mainnet", "fuji"} {
		profile.Upgrades = append(profile.Upgrades, name+":helicon="+at[name].Format("2006-01-02T15:04:05Z"))
	}
	o := seed.Options{Path: filepath.Join(t.TempDir(), "world.db"), Seed: 1, Profile: profile, Until: seed.DefaultUntil}
	var world *sim.World
	var h http.Handler
	wallets := map[string]*wallet{}
	restart := func() {
		if world != nil {
			if err := world.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if world, err = seed.Open(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		if h, err = handlers.New(world, handlers.Options{Network: "mainnet"}); err != nil {
			t.Fatal(err)
		}
		for _, n := range world.Networks {
			wallets[n.Name] = (&views{t, world, h, n}).wallet("whale")
		}
	}
	restart()
	t.Cleanup(func() { world.Close() })
	before := ask(h, http.MethodPost, "/sim/snapshots", `{}`)
	var snapshot struct{ ID string }
	if err := json.Unmarshal([]byte(before), &snapshot); err != nil || snapshot.ID == "" {
		t.Fatal(before, err)
	}
	short := func(w *wallet, name string) *txs.AddPermissionlessValidatorTx {
		node, proof := w.proof(name)
		tx := w.validator(node, proof, 0, w.output(w.l.Rules.BaseStaking.MinValidatorStake))
		tx.Validator.End += w.l.Rules.StakingAt(w.l.Rules.ActivationTime(rules.Helicon)).MinValidationDuration
		return tx
	}
	refused := func(name string) {
		t.Helper()
		wallets[name].refused("{tx}staking period is too short", short(wallets[name], "short"))
		wallets[name].refused("{tx}attempting to use a Helicon-upgrade feature prior to activation", wallets[name].autoRenewed("early", 14*24*3600, 0))
	}
	for _, crossed := range []func(){func() {}, restart} {
		refused("fuji")
		refused("mainnet")
		for _, name := range []string{"fuji", "mainnet"} {
			wallets[name].until(uint64(at[name].Unix()) - 1)
			crossed()
			refused(name)
			wallets[name].decode("until", ask(h, http.MethodPost, "/sim/clock", `{"until":"helicon"}`))
			if now := world.Clock.Unix(); now != at[name].Unix() {
				t.Fatalf("the clock is at %d, and Helicon of %s activates at %d", now, name, at[name].Unix())
			}
			crossed()
			wallets[name].issue(txs.PChain, short(wallets[name], "short"))
			if name == "fuji" {
				refused("mainnet")
			}
		}
		verifytest.Sound(t, world)
		if answer := ask(h, http.MethodPost, "/sim/snapshots/"+snapshot.ID+":revert", `{}`); world.Clock.Unix() != seed.DefaultUntil.Unix() {
			t.Fatal(answer)
		}
		snapshot.ID = ""
		again := ask(h, http.MethodPost, "/sim/snapshots", `{}`)
		if err := json.Unmarshal([]byte(again), &snapshot); err != nil || snapshot.ID == "" {
			t.Fatal(again, err)
		}
	}
}

// TestUpgradesOfTheCommandLine: the flag, given several times or with commas, and its environment variable choose several upgrades.
func TestUpgradesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const never, fuji = "helicon=never", "fuji:helicon=2026-01-01T00:00:00Z"
	for _, c := range []struct{ args, environ []string }{
		{[]string{"--upgrade", never, "--upgrade", fuji}, nil},
		{[]string{"--upgrade", never + "," + fuji}, nil},
		{nil, []string{"SNOWGLOBE_UPGRADE=" + never + "," + fuji}},
		{[]string{"--upgrade=" + never, "--upgrade=" + fuji}, []string{"SNOWGLOBE_UPGRADE=granite=now"}},
	} {
		f := pflag.NewFlagSet("snowglobe", pflag.ContinueOnError)
		world := seed.NewFlags(f)
		handlers.NewFlags(f)
		f.Bool("force", false, "")
		f.Bool("json", false, "")
		handlers.NewTypes(f)
		if _, err := handlers.CommandLine(f).Parse(append([]string{"generate", "--profile=tiny"}, c.args...), c.environ, io.Discard); err != nil {
			t.Fatal(err)
		}
		o, err := world.Options(time.Now())
		if err != nil || fmt.Sprint(o.Upgrades) != fmt.Sprint([]string{never, fuji}) {
			t.Errorf("%v: %v, %v", c, o.Upgrades, err)
		}
	}
}

// TestUptimeOfTheAnsweringNode: seen up for 85 % of its time, a node earns its reward only if its validation began before Helicon.
func TestUptimeOfTheAnsweringNode(t *testing.T) {
	t.Parallel()
	for choice, rewards := range map[string]bool{"helicon=never": true, "helicon=2025-12-01T00:00:00Z": false} {
		world := seedtest.Copy(t, 1, choice)
		h, err := handlers.New(world, handlers.Options{Network: "mainnet"})
		if err != nil {
			t.Fatal(err)
		}
		v := &views{t, world, h, world.Networks[0]}
		v.rpc("info", "info.uptime", map[string]any{}) // a cached answer must not stay
		if answer := ask(h, http.MethodPost, "/sim/node", fmt.Sprintf(`{"network":"mainnet","uptimes":[{"nodeId":"%s","percent":85}]}`, v.l.LocalNode.ID())); !strings.Contains(answer, `"percent":85`) {
			t.Fatal(answer)
		}
		shown := v.rpc("info", "info.uptime", map[string]any{})
		if share, err := strconv.ParseFloat(fmt.Sprint(shown["rewardingStakePercentage"]), 64); err != nil || (share > 50) != rewards {
			t.Errorf("%s: %v, want that the stake rewards: %t", choice, shown, rewards)
		}
	}
}
