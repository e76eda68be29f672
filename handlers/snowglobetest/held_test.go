package snowglobetest_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/control"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/snowglobetest"
)

// sender sends one of alice's transactions, always the same bytes.
type sender struct {
	t    *testing.T
	s    *snowglobetest.Server
	node *rpc.Client
	tx   *types.Transaction
	raw  hexutil.Bytes
}

func newSender(t *testing.T) *sender {
	s := snowglobetest.Run(t)
	node, err := rpc.Dial(s.RPCURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	alice, to := s.Persona("alice"), common.Address{19: 7}
	var nonce hexutil.Uint64
	if err := node.Call(&nonce, "eth_getTransactionCount", alice.Address, "latest"); err != nil {
		t.Fatal(err)
	}
	tx := types.MustSignNewTx(alice.Key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{
		ChainID: big.NewInt(43114), Nonce: uint64(nonce), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &to, Value: big.NewInt(1),
	})
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return &sender{t, s, node, tx, raw}
}

func (x *sender) send() error { return x.node.Call(nil, "eth_sendRawTransaction", x.raw) }

func (x *sender) mined() bool {
	var receipt json.RawMessage
	if err := x.node.Call(&receipt, "eth_getTransactionReceipt", x.tx.Hash()); err != nil {
		x.t.Fatal(err)
	}
	return len(receipt) > 0 && string(receipt) != "null"
}

func (x *sender) held() (all []control.HeldTransaction) {
	answer, err := http.Get(x.s.URL + "/sim/faults")
	if err != nil {
		x.t.Fatal(err)
	}
	defer answer.Body.Close()
	faults := control.Faults{}
	if err := json.NewDecoder(answer.Body).Decode(&faults); err != nil {
		x.t.Fatal(err)
	}
	return faults.Held
}

func (x *sender) rule(mining string) (remove func()) {
	return x.s.Fault(fault.Rule{Match: fault.Match{RPCMethod: "eth_sendRawTransaction"}, Action: fault.Action{Mining: mining}})
}

// TestHeldTransaction: a rule holds a transaction while it is in the pool, and no longer. Sending it again neither releases it nor holds the next one
// with the same bytes.
func TestHeldTransaction(t *testing.T) {
	x := newSender(t)
	snapshot := x.s.Snapshot()
	remove := x.rule("never")
	if err := x.send(); err != nil {
		t.Fatal(err)
	}
	if err := x.send(); err == nil || err.Error() != "already known" {
		t.Errorf("sent again while it is held: %v", err)
	}
	x.s.Mine("C", 2)
	if x.mined() {
		t.Fatal("mined under a rule that says never")
	}
	alice := x.s.Persona("alice")
	want := control.HeldTransaction{Network: "mainnet", ChainID: "43114", TxHash: x.tx.Hash().Hex(), From: alice.Address.Hex(), Nonce: x.tx.Nonce()}
	if held := x.held(); len(held) != 1 || held[0] != want {
		t.Errorf("GET /sim/faults shows %+v, want %+v", held, want)
	}
	withIt := x.s.Snapshot()
	x.s.Revert(withIt)
	if x.s.Mine("C", 1); x.mined() || len(x.held()) != 1 {
		t.Error("going back to a snapshot in which it waits freed it, although the rule is still there")
	}
	x.s.Revert(snapshot)
	if held := x.held(); len(held) > 0 {
		t.Errorf("still held after going back to before it was sent: %+v", held)
	}
	remove()
	if err := x.send(); err != nil || !x.mined() {
		t.Errorf("the same bytes after the world went back: %v, mined is %t", err, x.mined())
	}
}

// TestHeldUntilTheRuleGoes: without a rule about mining, nothing is held forever.
func TestHeldUntilTheRuleGoes(t *testing.T) {
	x := newSender(t)
	remove := x.rule("never")
	other := x.rule("1h")
	if err := x.send(); err != nil {
		t.Fatal(err)
	}
	remove()
	if x.mined() {
		t.Fatal("mined while there is another rule about mining")
	}
	if other(); !x.mined() || len(x.held()) > 0 {
		t.Errorf("mined is %t, held %+v after the last rule about mining is gone", x.mined(), x.held())
	}
}

// TestHeldForATime: neither removing the rule nor sending again changes a promised time.
func TestHeldForATime(t *testing.T) {
	x := newSender(t)
	remove := x.rule("1s")
	if err := x.send(); err != nil {
		t.Fatal(err)
	}
	remove()
	if err := x.send(); err == nil {
		t.Error("taken twice")
	}
	if held := x.held(); x.mined() || len(held) != 1 || held[0].Until == "" {
		t.Errorf("mined at once, or not shown: %+v", held)
	}
	for deadline := time.Now().Add(20 * time.Second); !x.mined(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never mined")
		}
	}
}

// TestDroppedAndSentAgain: a hold ends with its transaction, and the end of a former hold does not end a later one.
func TestDroppedAndSentAgain(t *testing.T) {
	x := newSender(t)
	short := x.rule("200ms")
	if err := x.send(); err != nil {
		t.Fatal(err)
	}
	if err := x.node.Call(nil, "anvil_dropTransaction", x.tx.Hash()); err != nil {
		t.Fatal(err)
	}
	short()
	long := x.rule("never")
	if err := x.send(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond)
	if x.s.Mine("C", 1); x.mined() {
		t.Error("the first hold's end freed what another rule holds")
	}
	if err := x.node.Call(nil, "anvil_dropTransaction", x.tx.Hash()); err != nil {
		t.Fatal(err)
	}
	if long(); x.mined() || len(x.held()) > 0 {
		t.Error("a dropped transaction is held, or mined")
	}
	if err := x.send(); err != nil || !x.mined() {
		t.Errorf("after it was dropped: %v, mined is %t", err, x.mined())
	}
}

// TestSupplyAfterGoingBack: fees burned in undone blocks do not count.
func TestSupplyAfterGoingBack(t *testing.T) {
	s := snowglobetest.Run(t)
	supply := func() map[string]string {
		answer, err := http.Get(s.URL + "/v1/avax/supply")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		all := map[string]string{}
		if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	equal := func(when string, want map[string]string) {
		t.Helper()
		got := supply()
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %s, want %s", when, name, got[name], value)
			}
		}
	}
	live := func() {
		answer, err := http.Post(s.URL+"/sim/clock", "application/json", strings.NewReader(`{"advance":"27h","populate":true}`))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	before, snapshot := supply(), s.Snapshot()
	live()
	later := supply()
	if later["totalXBurned"] == before["totalXBurned"] || later["totalPBurned"] == before["totalPBurned"] {
		t.Fatal("nothing happened")
	}
	s.Revert(snapshot)
	equal("after going back", before)
	live()
	equal("when the same happens again", later)
	s.Reset()
	equal("after a reset", before)
}
