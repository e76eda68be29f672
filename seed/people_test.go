package seed_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/relayer"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// populated returns a world in a file, advanced with its people in steps.
func populated(t *testing.T, steps []time.Duration) (*sim.World, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.db")
	p, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(t.Context(), seed.Options{Path: path, Seed: 6, Profile: p, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	if err := relayer.Start(t.Context(), w, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	refused := func(err error) { t.Error(err) }
	people := seed.NewPeople(w, refused)
	for i, to := range steps {
		if i%7 == 0 {
			people = seed.NewPeople(w, refused) // as after a restart
		}
		if err := people.Advance(t.Context(), seed.DefaultUntil.Add(to)); err != nil {
			t.Fatal(err)
		}
	}
	return w, path
}

// TestPeopleLiveOn advances a world by some days in one step and in many. The results are equal, continue every kind of activity in the history, and
// verify.
func TestPeopleLiveOn(t *testing.T) {
	const days = 3
	var hours []time.Duration
	for h := range time.Duration(days * 24) {
		hours = append(hours, (h+1)*time.Hour-17*time.Minute+time.Duration(h)*time.Millisecond)
	}
	var digests [][]byte
	for _, steps := range [][]time.Duration{{days * 24 * time.Hour}, append(hours, days*24*time.Hour)} {
		w, path := populated(t, steps)
		if now := w.Clock.Now(); now.Sub(seed.DefaultUntil) < days*24*time.Hour || now.Sub(seed.DefaultUntil) > days*24*time.Hour+10*time.Second {
			t.Errorf("it is %s", now)
		}
		same := len(digests) > 0 && bytes.Equal(digests[0], w.Digest())
		digests = append(digests, w.Digest())
		checkLife(t, w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if same && testing.Short() {
			t.Log("left out of a short run: verification of a digest that was verified")
			continue // already verified
		}
		if err := verifyFile(t, path); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(digests[0], digests[1]) {
		t.Error("the steps in which people live make a difference")
	}
}

// leftAlone compares the nonces of the mnemonic's accounts, for which only clients send after the history.
func leftAlone(t *testing.T, c *reader.Chain, before, after *reader.Block) {
	t.Helper()
	then, err := c.State(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.State(t.Context(), after)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range fixtures.Personas[:fixtures.MnemonicAccounts] {
		key, err := crypto.HexToECDSA(strings.TrimPrefix(p.Key, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		if address := crypto.PubkeyToAddress(key.PublicKey); then.GetNonce(address) != now.GetNonce(address) {
			t.Errorf("%s on chain %d has the nonce %d, at the end of the history %d", p.Name, c.Row.EVMID, now.GetNonce(address), then.GetNonce(address))
		}
	}
}

// checkLife checks what people do on each chain after the history.
func checkLife(t *testing.T, w *sim.World) {
	t.Helper()
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for number := head.Number; number > 0; number-- {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			if int64(b.Header.Time) <= w.Meta.Until {
				leftAlone(t, c, b, head)
				break
			}
			made++
		}
		if made < 10 {
			t.Errorf("chain %d has %d blocks after the history", c.Row.EVMID, made)
		}
	}
	sent, err := w.DB.MessagesSince(t.Context(), w.Meta.Until)
	if err != nil || len(sent) == 0 {
		t.Errorf("%d messages are sent after the history: %v", len(sent), err)
	}
	kinds := map[string]int{}
	for _, n := range w.Networks {
		for _, chain := range []txs.Chain{txs.PChain, txs.XChain} {
			first, err := w.DB.FirstPrimarySince(t.Context(), n.Chain(chain), w.Meta.Until+1)
			if err != nil {
				t.Fatal(err)
			}
			all, err := w.DB.PrimaryTxsBetween(t.Context(), store.At(n.Chain(chain), first, 0), store.Last(n.Chain(chain)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				kinds[chain.String()+"."+all[i].Type]++
			}
		}
	}
	for _, n := range w.Networks {
		blocks, err := w.DB.AtomicBlocks(t.Context(), n.CChain().Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			if blocks[i].Time <= w.Meta.Until {
				continue
			}
			all, err := w.DB.PrimaryTxs(t.Context(), store.At(n.Chain(txs.CChain), blocks[i].ID.Number(), 0))
			if err != nil || len(all) != 1 {
				t.Fatal(len(all), err)
			}
			kinds["C."+all[0].Type]++
		}
	}
	for _, kind := range []string{"C.ExportTx", "C.ImportTx", "P.BaseTx", "P.AddPermissionlessValidatorTx", "P.AddPermissionlessDelegatorTx", "P.RewardValidatorTx", "X.BaseTx", "X.ExportTx"} {
		if kinds[kind] == 0 {
			t.Errorf("there is no %s after the history, but %v", kind, kinds)
		}
	}
}
