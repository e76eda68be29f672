// A state dump of anvil's, as the node and the Data API of one server show it.

package handlers_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/verify"
	"snowglobe/sim/verify/verifytest"
)

// dumped is a state dump, decoded without the program's own reader.
type dumped struct {
	Accounts map[common.Address]struct {
		Nonce   uint64
		Balance hexutil.Big
		Code    hexutil.Bytes
		Storage map[common.Hash]common.Hash
	}
}

func decodeDump(t *testing.T, compressed []byte) (d dumped) {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&d)
	}
	if err != nil || len(d.Accounts) == 0 {
		t.Fatal("the dump cannot be read:", err)
	}
	return d
}

// holds compares every account of a dump with the node's data.
func (d *devnet) holds(want dumped) {
	d.Helper()
	for address, a := range want.Accounts {
		if got := d.text("eth_getBalance", address, "latest"); got != `"`+a.Balance.String()+`"` {
			d.Errorf("%s has %s, in the dump %s", address, got, &a.Balance)
		}
		if nonce, err := d.client.NonceAt(d.Context(), address, nil); err != nil || nonce < a.Nonce {
			d.Errorf("the nonce of %s is %d, in the dump %d, %v", address, nonce, a.Nonce, err)
		}
		if got := d.text("eth_getCode", address, "latest"); got != `"`+a.Code.String()+`"` {
			d.Errorf("%s has other code than in the dump", address)
		}
		for slot, value := range a.Storage {
			if got := d.text("eth_getStorageAt", address, slot, "latest"); got != `"`+value.Hex()+`"` {
				d.Errorf("slot %s of %s is %s, in the dump %s", slot, address, got, value)
			}
		}
	}
}

// anvilDump is what anvil 1.7.1 returned for anvil_dumpState, after it deployed the artifact Token and sent some of it.
func anvilDump(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "fixtures", "interchange", "testdata", "anvil-1.7.1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	return hexutil.MustDecode(string(text))
}

// TestAnvilDump loads an anvil dump on both kinds of chain. Every account is as in the dump, the index has its token and holders, the world verifies,
// and a revert undoes it all.
func TestAnvilDump(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	raw := anvilDump(t)
	want := decodeDump(t, raw)
	for _, c := range []int{0, len(w.Chains) - 1} {
		d := newDevnet(t, w, w.Chains[c])
		d.loadsAnvil(raw, want)
	}
	verifytest.Sound(t, w)
	if err := verify.Inspect(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

func (d *devnet) loadsAnvil(raw []byte, want dumped) {
	// The first contract that the well-known mnemonic's first account creates.
	token := common.HexToAddress("0x5FbDB2315678afecb367f032d93F642f64180aa3")
	before, commits := d.text("anvil_dumpState"), len(d.changes())
	snapshot := d.text("evm_snapshot")
	digest := string(d.world.Digest())
	if got := d.text("anvil_loadState", hexutil.Encode(raw)); got != "true" {
		d.Fatal(got)
	}
	d.holds(want)
	for owner, amount := range map[string]string{alice: "999987654315", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8": "12345678", "0x00000000000000000000000000000000cA441ED0": "7"} {
		if said, listed := d.erc20(token, common.HexToAddress(owner)); said != amount || listed != amount {
			d.Errorf("%s has %s of the token, the Data API lists %s, want %s", owner, said, listed, amount)
		}
	}
	loaded := d.changes()
	if got := d.text("hardhat_loadState", hexutil.Encode(raw)); got != "true" || len(d.changes()) != len(loaded) {
		d.Errorf("loading a dump again changes %d values", len(d.changes())-len(loaded))
	}
	d.holds(decodeDump(d.T, hexutil.MustDecode(strings.Trim(d.text("anvil_dumpState"), `"`))))
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: 50_000})
	if got := d.text("evm_revert", json.RawMessage(snapshot)); got != "true" || string(d.world.Digest()) != digest || len(d.changes()) != commits {
		d.Error("a revert leaves traces of the dump")
	}
	if d.text("anvil_dumpState") != before {
		d.Error("after the revert the state is another")
	}
	if got := d.text("anvil_loadState", hexutil.Encode(raw)); got != "true" { // to be verified
		d.Error(got)
	}
}

// changes returns the state changes of the chain.
func (d *devnet) changes() []string {
	d.Helper()
	head, err := d.client.BlockNumber(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	all, err := d.world.DB.StateChanges(d.Context(), d.chain.Row.ID, 0, head)
	if err != nil {
		d.Fatal(err)
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = fmt.Sprint(all[i])
	}
	return texts
}
