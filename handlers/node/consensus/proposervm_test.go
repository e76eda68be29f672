package consensus_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/consensus"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/simtest"
	"snowglobe/sim/txs"
)

// proposerVMs serves the ProposerVMs of a network's chains, by name.
func proposerVMs(t *testing.T, n *sim.Network) map[string]*rpctest.Client {
	t.Helper()
	service := func(vm *consensus.ProposerVM) *rpctest.Client {
		return rpctest.New(t, rpc.Service{Name: "proposervm", Methods: vm})
	}
	all := map[string]*rpctest.Client{"P": service(consensus.NewProposerVM(n, txs.PChain)), "X": service(consensus.NewProposerVM(n, txs.XChain))}
	for _, c := range n.World.Chains {
		if n.World.NetworkOf(c) == n {
			all[ids.ID(c.Row.BlockchainID).String()] = service(consensus.NewEVMProposerVM(n, c))
		}
	}
	return all
}

type epoch struct {
	Number       uint64 `json:"number,string"`
	StartTime    int64  `json:"startTime,string"`
	PChainHeight uint64 `json:"pChainHeight,string"`
}

// epochSeconds is how long an epoch lasts at least (ACP-181).
const epochSeconds = 300

// checkEpochs recomputes the epochs of a network's chains: those of P and X from their blocks, all others' from the clock and the times of the P-Chain's blocks.
func checkEpochs(t *testing.T, n *sim.Network) {
	t.Helper()
	w := n.World
	pHead, err := w.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	var proposed string
	for name, vm := range proposerVMs(t, n) {
		height := rpctest.Get[struct{ Height string }](vm, "proposervm.getProposedHeight", nil).Height
		if proposed == "" {
			proposed = height
		}
		if height != proposed || height == "0" {
			t.Errorf("%s proposes the height %s, another chain %s", name, height, proposed)
		}
		e := rpctest.Get[epoch](vm, "proposervm.getCurrentEpoch", nil)
		chain, primary := map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain}[name]
		if !primary {
			at, err := w.DB.PrimaryBlock(t.Context(), n.Chain(txs.PChain), e.PChainHeight)
			if err != nil {
				t.Fatal(err)
			}
			after := int64(math.MaxInt64)
			if e.PChainHeight < pHead.ID.Number() {
				next, err := w.DB.PrimaryBlock(t.Context(), n.Chain(txs.PChain), e.PChainHeight+1)
				if err != nil {
					t.Fatal(err)
				}
				after = next.Time
			}
			head, err := w.ChainByBlockchainID(must(ids.FromString(name))).Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			now := max(w.Clock.Unix(), int64(head.Header.Time))
			if e.StartTime%epochSeconds != 0 || e.StartTime > now || e.StartTime <= now-epochSeconds || e.Number < 1 || at.Time >= e.StartTime || after < e.StartTime {
				t.Errorf("%s: the epoch is %+v at %d, its block is of %d, the next one of %d", name, e, now, at.Time, after)
			}
			continue
		}
		head, err := w.DB.PrimaryHead(t.Context(), n.Chain(chain))
		if err != nil {
			t.Fatal(err)
		}
		want := epoch{head.Epoch, int64(head.EpochStart), head.EpochHeight}
		if head.Epoch == 0 || uint64(head.Time) >= head.EpochStart+epochSeconds { // the block sealed the epoch
			want = epoch{head.Epoch + 1, head.Time, head.PHeight}
		}
		if e != want {
			t.Errorf("%s: the epoch is %+v, want %+v", name, e, want)
		}
	}
}

func must(id ids.ID, err error) ids.ID {
	if err != nil {
		panic(err)
	}
	return id
}

// TestEpochs follows the epochs of every chain while blocks are made and time goes by.
func TestEpochs(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, n := range w.Networks {
		checkEpochs(t, n)
	}
	n := w.Networks[0]
	seen := map[string]bool{}
	for step := range 8 {
		if err := n.IssueX(t.Context(), simtest.Payment(t, n, txs.XChain)); err != nil {
			t.Fatal(err)
		}
		checkEpochs(t, n)
		for name, vm := range proposerVMs(t, n) {
			seen[fmt.Sprint(name, rpctest.Get[epoch](vm, "proposervm.getCurrentEpoch", nil))] = true
		}
		if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Duration(60+40*step)*time.Second)); err != nil {
			t.Fatal(err)
		}
		checkEpochs(t, n)
	}
	if len(seen) < 8 {
		t.Errorf("only %d epochs were seen", len(seen))
	}
}
