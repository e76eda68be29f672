package sim_test

import (
	"bytes"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
	"snowglobe/sim/verify"
)

// TestAReorgLeavesAWorld replaces blocks, removes others and continues: the world verifies, and the file opens as the same world.
func TestAReorgLeavesAWorld(t *testing.T) {
	w := copied(t)
	from := alice(t, w).EVMAddress()
	pay := func(m *miner.Miner, to byte) {
		t.Helper()
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		ok(t, m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
			return evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: n.Nonce, Gas: 21_000, To: &common.Address{0: 9, 19: to}, Value: big.NewInt(1),
				GasTipCap: new(big.Int), GasFeeCap: new(big.Int).Mul(n.BaseFee, big.NewInt(2))}), id, from)
		}))
	}
	one, two := w.Miners[0], w.Miners[1]
	for to := range byte(6) {
		pay(one, to)
		pay(two, to)
	}
	s, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	ok(t, w.Reorg(t.Context(), one.Chain, 4, make([][]*miner.Transaction, 4)))
	pay(one, 7)
	pay(two, 7)
	ok(t, w.Reorg(t.Context(), one.Chain, 3, nil))
	check := func() {
		t.Helper()
		path := filepath.Join(t.TempDir(), "world.db")
		ok(t, w.DB.WriteCopy(t.Context(), path))
		again, err := sim.Open(t.Context(), path)
		ok(t, err)
		defer again.Close()
		if !bytes.Equal(again.Digest(), w.Digest()) {
			t.Errorf("the file's digest is %x, the world's %x", again.Digest(), w.Digest())
		}
		report, err := verify.Verify(t.Context(), again, nil)
		if err != nil {
			t.Errorf("%v\n%s", err, report)
		}
	}
	check()
	ok(t, w.Revert(t.Context(), s.ID, true))
	if !bytes.Equal(w.Digest(), s.Digest) {
		t.Errorf("after a revert the digest is %x, it was %x", w.Digest(), s.Digest)
	}
	pay(one, 1)
	pay(two, 8)
	check()
}
