package seed_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"snowglobe/seed"
	"snowglobe/seed/evm"
	"snowglobe/seed/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// Bounds of a history: Granite's activation, the number of years after seed.DefaultUntil that is still allowed, and the fewest transactions of a
// chain.
const (
	years           = 10
	minimumPerChain = 200
)

var granite = time.Date(2025, 11, 19, 16, 0, 0, 0, time.UTC)

func TestProfileErrorsNameKeyAndLine(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "name: x\ndays: 5\nchains: 2\ntransactions: 500\nsnow: 1\n", "p.yaml:5: snow: there is no such key; there are name, days"},
		{"not a number", "name: x\ndays: many\n", `p.yaml:2: days: "many" is not a whole number`},
		{"too few days", "name: x\ndays: 0\nchains: 2\ntransactions: 500\n", "p.yaml:2: days: 0 is not from 2 to 250"},
		{"too many chains", "name: x\ndays: 9\nchains: 99\ntransactions: 500\n", "p.yaml:3: chains: 99 is not from"},
		{"negative", "name: x\ndays: 9\nchains: 2\ntransactions: -5\n", "p.yaml:4: transactions: -5 is not from"},
		{"too few for the chains", "name: x\ndays: 9\nchains: 5\ntransactions: 500\n", "p.yaml:4: transactions: it is 500, 5 chains need at least"},
		{"too few validators", "name: x\ndays: 9\nchains: 2\ntransactions: 500\nvalidators: 3\n", "p.yaml:5: validators: 3 is not from 40"},
		{"too few L1 validators", "name: x\ndays: 9\nchains: 5\ntransactions: 1000\nl1Validators: 12\n", "p.yaml:5: l1Validators: it is 12, 5 chains need at least 7 on mainnet"},
		{"too busy", "name: x\ndays: 2\nchains: 2\ntransactions: 9000000\n", "p.yaml:4: transactions: it is 9000000, in 2 days a C-Chain's gas target leaves room for 1200000"},
		{"no name", "days: 9\nchains: 2\ntransactions: 500\n", "p.yaml:1: name: it is required"},
		{"empty", "", "it is empty"},
		{"not YAML", "name: [", "p.yaml:1: "},
	} {
		_, err := seed.ParseProfile("p.yaml", []byte(c.yaml))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "p.yaml") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestHistoryStaysInTheSpan(t *testing.T) {
	p, err := seed.LoadProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckSpan(seed.DefaultUntil, time.Time{}); err != nil {
		t.Error(err)
	}
	for _, until := range []time.Time{seed.DefaultUntil.AddDate(years, 0, 0).Add(time.Second), granite.AddDate(0, 0, p.Days-1)} {
		if err := p.CheckSpan(until, seed.DefaultUntil.AddDate(-1, 0, 0)); err == nil || !strings.Contains(err.Error(), "Granite") {
			t.Errorf("until %s: %v", until, err)
		}
	}
}

func TestUnknownProfileNamesTheKnownOnes(t *testing.T) {
	_, err := seed.LoadProfile("huge")
	if err == nil || !strings.Contains(err.Error(), "default, large, tiny") {
		t.Error(err)
	}
}

func TestProfileMakesExactlyItsTransactions(t *testing.T) {
	w := world(t, "tiny", 3)
	var total int64
	for _, c := range w.Chains {
		head, err := w.DB.Head(t.Context(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		total += head.AllTxs
		if head.Time > seed.DefaultUntil.Unix() {
			t.Errorf("chain %d ends at %d, after history's end", c.Row.EVMID, head.Time)
		}
	}
	if total != 600 {
		t.Errorf("tiny has %d transactions, not 600", total)
	}
}

// TestFewestTransactionsAreEnough makes a world for each number of chains with the fewest transactions that a profile may have, and with the fewest
// L1 validators or with many.
func TestFewestTransactionsAreEnough(t *testing.T) {
	step := 1
	if testing.Short() {
		t.Log("left out of a short run: numbers of chains between the fewest and the most")
		step = len(evm.ChainSpecs) - 2 // the fewest chains and the most
	}
	for chains := 2; chains <= len(evm.ChainSpecs); chains += step {
		for i, more := range []string{"", "l1Validators: 160\n"} {
			if testing.Short() && (i == 0) == (chains == 2) {
				t.Log("left out of a short run: this size")
				continue
			}
			p, err := seed.ParseProfile("fewest", fmt.Appendf(nil, "name: fewest\ndays: 2\nchains: %d\ntransactions: %d\n%s", chains, chains*minimumPerChain, more))
			if err != nil {
				t.Fatal(err)
			}
			w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 3, Profile: p, Until: seed.DefaultUntil})
			if err != nil {
				t.Errorf("%d chains %s: %v", chains, more, err)
				continue
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestManyDelegatorsOfFewValidators makes worlds with so few validators that some account would delegate the same amount to the same node twice in
// the genesis.
func TestManyDelegatorsOfFewValidators(t *testing.T) {
	p := *small
	p.Days, p.Delegators = 14, 700
	for _, number := range []int64{1, 6} {
		w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: number, Profile: &p, Until: seed.DefaultUntil})
		if err != nil {
			t.Errorf("seed %d: %v", number, err)
			continue
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// randomProfile returns a small profile within the bounds, and the end of its history. Each number is often the minimum.
func randomProfile(t *testing.T, r *rand.Rand) (*seed.Profile, time.Time) {
	t.Helper()
	upTo := func(least, most int) int {
		if r.IntN(4) == 0 {
			return least
		}
		return least + int(float64(most-least)*r.Float64()*r.Float64())
	}
	chains := upTo(2, len(evm.ChainSpecs))
	text := fmt.Sprintf("name: random\ndays: %d\nchains: %d\ntransactions: %d\nvalidators: %d\ndelegators: %d\nl1Validators: %d\nprimaryTransactions: %d\n",
		upTo(2, 250), chains, upTo(chains*minimumPerChain, chains*minimumPerChain+100), upTo(40, 160), upTo(60, 1000), upTo(2*(primary.L1RoleCount+chains), 80),
		upTo(300, 600))
	p, err := seed.ParseProfile("random", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	first := granite.AddDate(0, 0, p.Days)
	return p, first.Add(time.Duration(r.Int64N(int64(seed.DefaultUntil.AddDate(years, 0, 0).Sub(first).Seconds())+1)) * time.Second)
}

// TestEveryProfileCanBeMade makes worlds with random profiles, seeds and times, and verifies some of them.
func TestEveryProfileCanBeMade(t *testing.T) {
	count := profilesMade
	if testing.Short() {
		t.Log("left out of a short run: all random profiles but two")
		count = 2
	}
	for n := range count {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(n)))
			p, until := randomProfile(t, r)
			number := r.Int64()
			w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: number, Profile: p, Until: until})
			if err != nil {
				t.Fatalf("seed %d, %+v until %s: %v", number, *p, until.Format(time.RFC3339), err)
			}
			defer w.Close()
			if n%20 != 1 {
				return
			}
			if _, err := verify.Verify(t.Context(), w, nil); err != nil {
				t.Errorf("seed %d, %+v until %s: %v", number, *p, until.Format(time.RFC3339), err)
			}
		})
	}
}

// TestArtifactFolders: folders of compiled contracts are relative to the file, and not part of the world.
func TestArtifactFolders(t *testing.T) {
	p, err := seed.ParseProfile(filepath.Join("some", "world.yaml"), []byte("name: mine\nartifacts: [out, ../other/artifacts]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join("some", "out"), filepath.Join("other", "artifacts")}; !slices.Equal(p.ArtifactFolders(), want) {
		t.Errorf("%q, want %q", p.ArtifactFolders(), want)
	}
	plain, err := seed.ParseProfile("world.yaml", []byte("name: mine\n"))
	if err != nil {
		t.Fatal(err)
	}
	with, err := yaml.Marshal(p)
	without, err2 := yaml.Marshal(plain)
	if err = errors.Join(err, err2); err != nil || !bytes.Equal(with, without) {
		t.Errorf("%v: the file keeps %s", err, with)
	}
	if _, err := seed.ParseProfile("world.yaml", []byte("name: mine\nartifacts:\n  - ''\n")); err == nil || !strings.HasPrefix(err.Error(), "world.yaml:3: artifacts[0]: ") {
		t.Error(err)
	}
}
