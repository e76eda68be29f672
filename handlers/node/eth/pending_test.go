package eth_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

// keeper is the init code of a contract that keeps 42 in slot 1, logs topic 7, and returns slot 1 when called.
const keeper = "602a600155" + "600760006000a1" + "6a60015460005260206000f3600052600b6015f3"

const keeperCode = "60015460005260206000f3"

// onBothKinds runs a test on a C-Chain and on an L1, and verifies the world afterwards.
func onBothKinds(t *testing.T, test func(*nodetest.Chain)) {
	t.Helper()
	t.Parallel()
	w := seedtest.Copy(t, 1)
	for _, c := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(c.Row.Name, func(t *testing.T) { test(nodetest.Open(t, w, c)) })
	}
	verifytest.Sound(t, w)
}

// TestWhatWaitsIsThereAtPending calls every method that accepts the pending block while a deployment waits in the pool.
func TestWhatWaitsIsThereAtPending(t *testing.T) { onBothKinds(t, whatWaits) }

func whatWaits(d *nodetest.Chain) {
	d.Text("evm_setAutomine", false)
	defer d.Text("evm_setAutomine", true)
	nonce := d.Nonce()
	contract := crypto.CreateAddress(d.From, nonce)
	hash := d.Send(&types.DynamicFeeTx{Nonce: nonce, Data: common.FromHex(keeper), Gas: 200_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12)})
	word := func(n int) string { return fmt.Sprintf(`"0x%064x"`, n) }
	call := map[string]any{"from": d.From, "to": contract}
	slot := fmt.Sprintf("0x%064x", 1)
	for _, c := range []struct {
		method          string
		before          []any
		latest, pending string
	}{
		{"eth_getCode", []any{contract}, `"0x"`, `"0x` + keeperCode + `"`},
		{"eth_getStorageAt", []any{contract, "0x1"}, word(0), word(42)},
		{"eth_call", []any{call}, `"0x"`, word(42)},
		{"eth_estimateGas", []any{call}, `"0x5208"`, `"0x5b9f"`}, // it uses 23,118; go-ethereum's search ends within 1.5 %
		{"eth_createAccessList", []any{call}, `{"accessList":[],"gasUsed":"0x5208"}`,
			fmt.Sprintf(`{"accessList":[{"address":"%s","storageKeys":["%s"]}],"gasUsed":"0x634a"}`, strings.ToLower(contract.Hex()), slot)},
	} {
		for tag, want := range map[string]string{"latest": c.latest, "pending": c.pending} {
			if got := d.Text(c.method, append(c.before, tag)...); got != want {
				d.Errorf("%s at %s: %s, want %s", c.method, tag, got, want)
			}
		}
	}
	waitsInBlock(d, hash, contract, call)
	hasNoRootYet(d, contract, call)
	d.Text("evm_mine")
	if tx := d.Transaction(hash); tx.Row.Status != 1 || d.Text("eth_getCode", contract, "latest") != `"0x`+keeperCode+`"` {
		d.Errorf("%+v", tx.Row)
	}
}

// waitsInBlock reads the pending block's receipts, and simulates a block after it.
func waitsInBlock(d *nodetest.Chain, hash common.Hash, contract common.Address, call map[string]any) {
	head := d.Head()
	var receipts []struct {
		TransactionHash common.Hash
		BlockNumber     string
		ContractAddress common.Address
		Status          string
		Logs            []struct {
			Address common.Address
			Topics  []common.Hash
		}
	}
	d.Call(&receipts, "eth_getBlockReceipts", "pending")
	if len(receipts) != 1 || receipts[0].TransactionHash != hash || receipts[0].ContractAddress != contract || receipts[0].Status != "0x1" ||
		receipts[0].BlockNumber != fmt.Sprintf("%#x", head.Number+1) || len(receipts[0].Logs) != 1 || receipts[0].Logs[0].Address != contract || receipts[0].Logs[0].Topics[0] != (common.Hash{31: 7}) {
		d.Errorf("receipts %+v", receipts)
	}
	var simulated []struct {
		Number string
		Calls  []struct{ ReturnData, Status string }
	}
	d.Call(&simulated, "eth_simulateV1", map[string]any{"blockStateCalls": []any{map[string]any{"calls": []any{call}}}}, "pending")
	if len(simulated) != 1 || simulated[0].Number != fmt.Sprintf("%#x", head.Number+2) || len(simulated[0].Calls) != 1 ||
		simulated[0].Calls[0].ReturnData != fmt.Sprintf("0x%064x", 42) || simulated[0].Calls[0].Status != "0x1" {
		d.Errorf("simulated %+v", simulated)
	}
}

// hasNoRootYet requests data that a node has only for the head: proofs, logs and traces for pending are the head's, and nothing is traced on top of
// the pending block.
func hasNoRootYet(d *nodetest.Chain, contract common.Address, call map[string]any) {
	slots := []string{"0x1"}
	if got, want := d.Text("eth_getProof", contract, slots, "pending"), d.Text("eth_getProof", contract, slots, "latest"); got != want || !strings.Contains(got, `"value":"0x0"`) {
		d.Errorf("%s\nat latest %s", got, want)
	}
	if got, want := d.Text("eth_getLogs", map[string]any{"fromBlock": "pending", "toBlock": "pending", "address": contract}), "[]"; got != want {
		d.Error(got)
	}
	if got, want := d.Text("debug_traceBlockByNumber", "pending"), d.Text("debug_traceBlockByNumber", "latest"); got != want {
		d.Errorf("%s\nat latest %s", got, want)
	}
	if got := d.Problem("debug_traceCall", call, "pending"); got != "-32000 tracing on top of pending is not supported" {
		d.Error(got)
	}
}
