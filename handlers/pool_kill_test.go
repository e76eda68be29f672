// The built program's pool after kills and clean stops.

//go:build !race

package handlers_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/verify/verifytest"
)

// clientOf is alice on mainnet's C-Chain of a process.
func clientOf(t *testing.T, s *started, w *sim.World) *devnet {
	t.Helper()
	key, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	d := &devnet{T: t, world: w, url: s.url, chain: w.NetworkNamed(fixtures.MainnetName).CChain(), key: key, from: crypto.PubkeyToAddress(key.PublicKey)}
	if d.client, err = ethclient.Dial(s.url + "/ext/bc/C/rpc"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.client.Close)
	return d
}

// TestThePoolAfterAKill: mined transactions are in blocks and not in the pool, transactions saved at a clean stop remain, and only later ones are
// lost. Nothing is mined unasked, until the last server mines at once and at an interval.
func TestThePoolAfterAKill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func() *sim.World {
		w, err := sim.Open(t.Context(), filepath.Join(folder, "w.db"))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := start(t, folder, "--quiet", "--db", "w.db", "--no-mining")
	w := readWorld(t) // the same world in memory; only its chain ids are needed
	d := clientOf(t, first, w)
	nonce := d.nonce()
	send := func(after uint64) {
		t.Helper()
		d.mustSend(&types.DynamicFeeTx{Nonce: nonce + after, To: &someone})
	}
	status := func(pending, queued int) {
		t.Helper()
		if got, want := d.text("txpool_status"), fmt.Sprintf(`{"pending":"%#x","queued":"%#x"}`, pending, queued); got != want {
			t.Errorf("the pool has %s, want %s", got, want)
		}
	}
	send(0)
	send(1)
	d.text("evm_mine")
	send(2)
	send(3)
	send(6)
	status(2, 1)
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := first.cmd.Wait(); err != nil {
		t.Fatal(err)
	}

	second := start(t, folder, "--quiet", "--db", "w.db", "--no-mining")
	d = clientOf(t, second, w)
	status(2, 1)
	d.text("evm_mine")
	send(4)
	send(5)
	status(3, 0)
	head := d.head()
	second.kill(t)

	third := start(t, folder, "--quiet", "--db", "w.db", "--block-time", "1s", "--mixed-mining")
	d = clientOf(t, third, w)
	if at, err := d.client.HeaderByNumber(t.Context(), head.Number); err != nil || at.Time != head.Time || !bytes.Equal(at.Root[:], head.Root[:]) {
		t.Errorf("block %d: %v, %v", head.Number, at, err)
	}
	status(0, 1)
	if got := d.nonce(); got != nonce+4 {
		t.Errorf("the next nonce is %d, want %d", got, nonce+4)
	}
	send(4)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 5, To: &someone})
	receipt, err := d.client.TransactionReceipt(t.Context(), hash)
	if err != nil {
		t.Fatal("not mined at once:", err)
	}
	status(0, 0)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if number := d.head().Number.Uint64(); number > receipt.BlockNumber.Uint64()+1 { // the next block took what had waited
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no block came by itself")
		}
	}
	third.kill(t)
	last := open()
	defer last.Close()
	verifytest.Sound(t, last)
	if left := last.MinerOf(last.NetworkNamed(fixtures.MainnetName).CChain()).Pool.All(); len(left) != 0 {
		t.Errorf("%d transactions of blocks are in the pool", len(left))
	}
}

// kill ends a process like kill -9.
func (s *started) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended otherwise: %v", err)
	}
}
