package anvil_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/verify"
	"snowglobe/sim/verify/verifytest"
)

// TestANonceIsUsedAgain: after a nonce was set back it is used again, but not by the same transaction.
func TestANonceIsUsedAgain(t *testing.T) { onBothKinds(t, setsNonces) }

func setsNonces(d *nodetest.Chain) {
	tx := &types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone, Value: common.Big1}
	d.Send(tx)
	d.Text("anvil_setNonce", d.From, tx.Nonce)
	if refusal := d.Problem("eth_sendRawTransaction", d.Raw(d.Sign(tx))); !strings.Contains(refusal, "already known") {
		d.Error(refusal)
	}
	d.Send(&types.DynamicFeeTx{Nonce: tx.Nonce, To: &someone, Value: common.Big2})
}

// TestChangesOfTheStateLast: changes are in the file, the same requests give the same digest, blocks build on them, and verify and the inspection
// find every manipulated one.
func TestChangesOfTheStateLast(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	if err := seedtest.Shared(t, "tiny", 1).DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	digests, fresh := map[string]bool{}, common.HexToAddress("0xf4e54")
	for _, w := range []*sim.World{seedtest.Copy(t, 1), w} {
		d := nodetest.Open(t, w, w.Chains[0])
		d.Text("anvil_setBalance", fresh, "0xde0b6b3a7640000")
		d.Text("anvil_dealERC20", fresh, d.Contract("usdx"), "0x7")
		d.Text("anvil_setNonce", fresh, 3)
		d.Text("evm_mine")
		d.Text("anvil_setCode", fresh, "0x602a60005260206000f3")
		d.Text("anvil_impersonateAccount", fresh)
		d.Text("evm_setAutomine", false)
		d.Text("eth_sendTransaction", map[string]any{"from": fresh, "to": someone, "value": "0x1"})
		d.Text("anvil_setStorageAt", fresh, "0x1", common.BigToHash(common.Big2))
		digests[string(w.Digest())] = true
	}
	if len(digests) != 1 {
		t.Error("the same requests made two digests")
	}
	digest := string(w.Digest())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = sim.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	d := nodetest.Open(t, w, w.Chains[0])
	if string(w.Digest()) != digest || d.Text("eth_getStorageAt", fresh, "0x1", "latest") != `"`+common.BigToHash(common.Big2).Hex()+`"` {
		t.Error("a change is lost")
	}
	d.Text("evm_mine") // it contains what waited without a signature
	d.Text("anvil_setBalance", fresh, "0x5")
	if got := d.Text("eth_getTransactionCount", fresh, "latest"); got != `"0x4"` {
		t.Error("what waited is not in the block:", got)
	}
	verifytest.Sound(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, tampering := range []string{
		"UPDATE state_change SET value = zeroblob(32) WHERE sequence = 0 AND kind = 'balance'",
		"UPDATE state_change SET address = zeroblob(20) WHERE kind = 'code'",
		"DELETE FROM state_change WHERE kind = 'nonce'",
		"UPDATE state_change SET owner = NULL",
		"UPDATE account SET balance = zeroblob(32) WHERE hex(address) LIKE '%F4E54' AND block = (SELECT max(block) FROM state_change)",
		"UPDATE holding SET amount = x'08' WHERE hex(owner) LIKE '%F4E54'",
		"DELETE FROM impersonated_tx",
		"INSERT INTO impersonated_tx SELECT max(id) FROM tx WHERE id NOT IN (SELECT id FROM impersonated_tx)",
		"UPDATE tx SET sender = zeroblob(20) WHERE id IN (SELECT id FROM impersonated_tx)",
	} {
		if testing.Short() && i%16 != 0 {
			continue
		}
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(copied, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", copied)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(tampering)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		w, err := sim.Open(t.Context(), copied)
		if err == nil {
			_, err = verify.Verify(t.Context(), w, nil)
			if inspected := verify.Inspect(t.Context(), w, nil); inspected == nil && !strings.Contains(tampering, "holding") {
				t.Errorf("%s: the inspection found nothing", tampering)
			}
			w.Close()
		}
		if err == nil {
			t.Errorf("%s: nobody noticed", tampering)
		}
	}
}
