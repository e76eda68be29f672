// Every method about a pending transaction, as part of the devnet tests.

package handlers_test

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// keeper is the init code of a contract that keeps 42 in slot 1, logs topic 7, and returns slot 1 when called.
const keeper = "602a600155" + "600760006000a1" + "6a60015460005260206000f3600052600b6015f3"

const keeperCode = "60015460005260206000f3"

// whatWaits calls every method that accepts the pending block while a deployment waits in the pool.
func whatWaits(d *devnet) {
	d.text("evm_setAutomine", false)
	defer d.text("evm_setAutomine", true)
	nonce := d.nonce()
	contract := crypto.CreateAddress(d.from, nonce)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: nonce, Data: common.FromHex(keeper), Gas: 200_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12)})
	word := func(n int) string { return fmt.Sprintf(`"0x%064x"`, n) }
	call := map[string]any{"from": d.from, "to": contract}
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
			if got := d.text(c.method, append(c.before, tag)...); got != want {
				d.Errorf("%s at %s: %s, want %s", c.method, tag, got, want)
			}
		}
	}
	d.waitsInBlock(hash, contract, call)
	d.hasNoRootYet(contract, call)
	d.text("evm_mine")
	if receipt, err := d.client.TransactionReceipt(d.Context(), hash); err != nil || receipt.Status != 1 || receipt.ContractAddress != contract {
		d.Error(receipt, err)
	}
}

// waitsInBlock reads the pending block's receipts, and simulates a block after it.
func (d *devnet) waitsInBlock(hash common.Hash, contract common.Address, call map[string]any) {
	head := d.head()
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
	d.call(&receipts, "eth_getBlockReceipts", "pending")
	if len(receipts) != 1 || receipts[0].TransactionHash != hash || receipts[0].ContractAddress != contract || receipts[0].Status != "0x1" ||
		receipts[0].BlockNumber != fmt.Sprintf("%#x", head.Number.Uint64()+1) || len(receipts[0].Logs) != 1 || receipts[0].Logs[0].Address != contract || receipts[0].Logs[0].Topics[0] != (common.Hash{31: 7}) {
		d.Errorf("receipts %+v", receipts)
	}
	var simulated []struct {
		Number string
		Calls  []struct{ ReturnData, Status string }
	}
	d.call(&simulated, "eth_simulateV1", map[string]any{"blockStateCalls": []any{map[string]any{"calls": []any{call}}}}, "pending")
	if len(simulated) != 1 || simulated[0].Number != fmt.Sprintf("%#x", head.Number.Uint64()+2) || len(simulated[0].Calls) != 1 ||
		simulated[0].Calls[0].ReturnData != fmt.Sprintf("0x%064x", 42) || simulated[0].Calls[0].Status != "0x1" {
		d.Errorf("simulated %+v", simulated)
	}
}

// hasNoRootYet requests data that a node has only for the head: proofs, logs and traces for pending are the head's, and nothing is traced on top of
// the pending block.
func (d *devnet) hasNoRootYet(contract common.Address, call map[string]any) {
	slots := []string{"0x1"}
	if got, want := d.text("eth_getProof", contract, slots, "pending"), d.text("eth_getProof", contract, slots, "latest"); got != want || !strings.Contains(got, `"value":"0x0"`) {
		d.Errorf("%s\nat latest %s", got, want)
	}
	if got, want := d.text("eth_getLogs", map[string]any{"fromBlock": "pending", "toBlock": "pending", "address": contract}), "[]"; got != want {
		d.Error(got)
	}
	if got, want := d.text("debug_traceBlockByNumber", "pending"), d.text("debug_traceBlockByNumber", "latest"); got != want {
		d.Errorf("%s\nat latest %s", got, want)
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "debug_traceCall", call, "pending")); got != "-32000 tracing on top of pending is not supported" {
		d.Error(got)
	}
}
