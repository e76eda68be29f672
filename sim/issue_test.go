package sim_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/miner"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/simtest"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// TestIssuedTransactionsStay sends transactions to a world: their rows look as if they had always been there.
func TestIssuedTransactionsStay(t *testing.T) {
	w := copied(t)
	born := w.Digest()
	for range 3 {
		for _, n := range w.Networks {
			if err := n.IssueX(t.Context(), simtest.Payment(t, n, txs.XChain)); err != nil {
				t.Fatal(err)
			}
			if err := n.IssueP(t.Context(), simtest.Payment(t, n, txs.PChain)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tx := simtest.Payment(t, w.Networks[0], txs.XChain)
	if err := w.Networks[0].IssueX(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := w.Networks[0].IssueX(t.Context(), tx); err == nil || !strings.Contains(err.Error(), "failed to get utxo") {
		t.Errorf("the second time: %v", err)
	}
	if string(born) == string(w.Digest()) {
		t.Error("the digest did not notice")
	}
	verifytest.Sound(t, w)
}

// TestTransactionsInTurn: if one of several transactions is refused, none is accepted.
func TestTransactionsInTurn(t *testing.T) {
	w := copied(t)
	n, born, refused := w.Networks[0], w.Digest(), errors.New("refused")
	x, p := simtest.Payment(t, n, txs.XChain), simtest.Payment(t, n, txs.PChain)
	next := func(c txs.Chain, tx *txs.Tx, err error) sim.Next {
		return sim.Next{Chain: c, Write: func(*primary.Network, uint64) (*txs.Tx, error) { return tx, err }}
	}
	if err := n.IssueAll(t.Context(), []sim.Next{next(txs.XChain, x, nil), next(txs.PChain, nil, refused)}); err != refused || !bytes.Equal(w.Digest(), born) {
		t.Errorf("%v: the world is another: %v", err, !bytes.Equal(w.Digest(), born))
	}
	if err := n.IssueAll(t.Context(), []sim.Next{next(txs.XChain, x, nil), next(txs.XChain, nil, nil), next(txs.PChain, p, nil)}); err != nil {
		t.Error(err)
	}
	for c, tx := range map[txs.Chain]*txs.Tx{txs.XChain: x, txs.PChain: p} {
		id := tx.ID()
		if _, err := w.DB.PrimaryTxByHash(t.Context(), n.Chain(c), id[:]); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	verifytest.Sound(t, w)
}

// TestIssuedTransactionsInTime sends transactions immediately, after time has passed, and faster than the chain takes them.
func TestIssuedTransactionsInTime(t *testing.T) {
	w := copied(t)
	sendAtOnce(t, w)
	endStakers(t, w, w.Networks[0])
	mineAfterStakers(t, w, w.Networks[1])
	waitForGas(t, w, w.Networks[1])
	outliveValidators(t, w, w.Networks[1])
	verifytest.Sound(t, w)
}

// sendAtOnce sends to all chains of both networks at the same time.
func sendAtOnce(t *testing.T, w *sim.World) {
	const times = 5
	var senders errgroup.Group
	for _, n := range w.Networks {
		senders.Go(func() error {
			for range times {
				if err := n.IssueP(t.Context(), simtest.Payment(t, n, txs.PChain)); err != nil {
					return err
				}
			}
			return nil
		})
		senders.Go(func() error {
			for range times {
				if err := n.IssueX(t.Context(), simtest.Payment(t, n, txs.XChain)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, m := range w.Miners {
		senders.Go(func() error { return m.Mine(t.Context(), times, time.Hour) })
	}
	if err := senders.Wait(); err != nil {
		t.Fatal(err)
	}
}

// endStakers moves the clock past the ends of stakers. The P-Chain's next transaction comes after the blocks that end them, one after another, with
// and without reward.
func endStakers(t *testing.T, w *sim.World, n *sim.Network) {
	chain := n.Chain(txs.PChain)
	before, err := n.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	later := w.Clock.Now().Add(120 * 24 * time.Hour)
	due, err := n.DB.DueStakers(t.Context(), chain, ids.Empty[:], later.Unix())
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Set(later)
	digest := w.Digest()
	if err := n.IssueP(t.Context(), unsigned(t, simtest.Payment(t, n, txs.PChain))); err == nil || string(w.Digest()) != string(digest) {
		t.Errorf("a transaction that is refused leaves blocks: %v", err)
	}
	tx := simtest.Payment(t, n, txs.PChain)
	if err := n.IssueP(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	head, err := n.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	if head.Time != later.Unix() || head.Txs != 1 {
		t.Errorf("the last block has %d transactions at %d", head.Txs, head.Time-later.Unix())
	}
	kinds, last := map[string]int{}, before.Time
	for height := before.ID.Number() + 1; height <= head.ID.Number(); height++ {
		b, err := n.DB.PrimaryBlock(t.Context(), chain, height)
		if err != nil {
			t.Fatal(err)
		}
		if b.Time < last {
			t.Errorf("block %d is before the one below it", height)
		}
		kinds[b.Type]++
		last = b.Time
	}
	if kinds["Commit"] == 0 || kinds["Abort"] == 0 || kinds["Proposal"] != kinds["Commit"]+kinds["Abort"] || kinds["Proposal"] < len(due)/2 {
		t.Errorf("blocks by type: %v, for %d stakers", kinds, len(due))
	}
	left, err := n.DB.DueStakers(t.Context(), chain, ids.Empty[:], later.Unix())
	if err != nil || len(left) > 0 {
		t.Errorf("%d stakers did not end or begin, %v", len(left), err)
	}
}

// mineAfterStakers makes C-Chain blocks: P-Chain blocks that are due by then come first, and no others.
func mineAfterStakers(t *testing.T, w *sim.World, n *sim.Network) {
	mine := func() (height uint64, left int) {
		mineC(t, w, n, 0)
		height, err := n.PHeight(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		due, err := n.DB.DueStakers(t.Context(), n.Chain(txs.PChain), ids.Empty[:], w.Clock.Unix())
		if err != nil {
			t.Fatal(err)
		}
		return height, len(due)
	}
	before, err := n.PHeight(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, left := mine() // the clock had already moved
	if first <= before || left > 0 {
		t.Errorf("the P-Chain has %d blocks more and %d stakers that did not end", first-before, left)
	}
	if again, _ := mine(); again != first {
		t.Errorf("the P-Chain has %d blocks more for no reason", again-first)
	}
}

func mineC(t *testing.T, w *sim.World, n *sim.Network, later time.Duration) {
	t.Helper()
	i := slices.IndexFunc(w.Miners, func(m *miner.Miner) bool { return m.Chain == n.CChain() })
	if err := w.Miners[i].Mine(t.Context(), 1, later); err != nil {
		t.Fatal(err)
	}
}

// outliveValidators makes C-Chain blocks after the last validator has left: the P-Chain then stands still, the other chains don't. Validators that
// renew themselves stay until their uptime fails.
func outliveValidators(t *testing.T, w *sim.World, n *sim.Network) {
	later := func() (nodes []ids.NodeID) {
		for range 2 {
			mineC(t, w, n, 5*365*24*time.Hour)
		}
		height, err := n.PHeight(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left, err := n.ValidatorsAt(t.Context(), ids.Empty, height)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range left {
			nodes = append(nodes, v.Node)
		}
		return nodes
	}
	renewed := later()
	if len(renewed) == 0 {
		t.Error("no validator renews itself")
	}
	down := map[ids.NodeID]uint32{}
	for _, node := range renewed {
		down[node] = 0
	}
	n.Trouble.Set(sim.Troubles{Uptimes: down})
	if left := later(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if err := n.IssueP(t.Context(), simtest.Payment(t, n, txs.PChain)); err == nil {
		t.Error("the P-Chain makes blocks without validators")
	}
}

// unsigned returns a transaction without its signatures.
func unsigned(t *testing.T, tx *txs.Tx) *txs.Tx {
	t.Helper()
	bare := &txs.Tx{Unsigned: tx.Unsigned}
	if err := bare.Sign(txs.PChain, nil); err != nil {
		t.Fatal(err)
	}
	return bare
}

// waitForGas sends the P-Chain more than it can take in a second: blocks follow as soon as its rules allow, and the clock moves with them.
func waitForGas(t *testing.T, w *sim.World, n *sim.Network) {
	start := w.Clock.Unix()
	key, err := txs.KeyFromBytes(simtest.PersonaKey(t, n, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	owner := txs.NewOwner(key.Address())
	base := func() txs.BaseTx { return *simtest.Payment(t, n, txs.PChain).Unsigned.Base() }
	sign := func(u txs.Unsigned, more ...[]*txs.Key) *txs.Tx {
		tx, err := txs.NewSigned(txs.PChain, u, append([][]*txs.Key{{key}}, more...)...)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	subnet := sign(&txs.CreateSubnetTx{BaseTx: base(), Owner: &owner})
	if err := n.IssueP(t.Context(), subnet); err != nil {
		t.Fatal(err)
	}
	chainOf := func(size int) *txs.Tx {
		return sign(&txs.CreateChainTx{BaseTx: base(), SubnetID: subnet.ID(), ChainName: "large", VMID: ids.ID{1}, FxIDs: []ids.ID{}, GenesisData: make([]byte, size), SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}, []*txs.Key{key})
	}
	for range 6 {
		if err := n.IssueP(t.Context(), chainOf(250_000)); err != nil {
			t.Fatal(err)
		}
	}
	if waited := w.Clock.Unix() - start; waited < 5 || waited > 8 { // 1,530,000 gas: a million was there, and 100,000 come each second
		t.Errorf("the clock moved by %d seconds", waited)
	}
	tooMuch, want := 256<<10, "transaction size exceeds max transaction size"
	if n.Rules.Active(rules.Helicon, uint64(w.Clock.Unix())) {
		tooMuch, want = 1_000_000, "tx exceeds current gas capacity"
	}
	if err := n.IssueP(t.Context(), chainOf(tooMuch)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("more than the chain takes: %v, want %s", err, want)
	}
}
