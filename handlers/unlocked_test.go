// Methods of anvil, reth and newer nodes about accounts, the pool and the chain, compared with the methods of a node.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
)

// provenAccount is an account from eth_getProof.
type provenAccount struct {
	Balance, Nonce, StorageHash, CodeHash string
}

// TestAccountsAreThoseOfProofs compares whole accounts with their proofs, codes and slots, at every block that changed them.
func TestAccountsAreThoseOfProofs(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		page, _, err := c.Accounts(t.Context(), head, nil, 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, account := range append(page, reader.StateAccount{Address: someone}) {
			for _, block := range []any{"earliest", hexutil.EncodeUint64(head.Number / 2), "latest"} {
				compareAccount(t, func(into any, method string, params ...any) {
					t.Helper()
					if problem := callEVM(t, h, rpcPath(c), method, into, params...); problem != "" {
						t.Fatalf("%s: %s", method, problem)
					}
				}, account.Address, block)
			}
		}
	}
}

func compareAccount(t *testing.T, call func(into any, method string, params ...any), address common.Address, block any) {
	t.Helper()
	var account struct{ Nonce, Balance, StorageRoot, CodeHash string }
	var info struct{ Nonce, Balance, Code string }
	var proof provenAccount
	var code hexutil.Bytes
	call(&account, "eth_getAccount", address, block)
	call(&info, "eth_getAccountInfo", address, block)
	call(&proof, "eth_getProof", address, []string{}, block)
	call(&code, "eth_getCode", address, block)
	if proof.CodeHash == (common.Hash{}).Hex() { // in a proof, a missing account has no hashes
		proof.CodeHash, proof.StorageHash = types.EmptyCodeHash.Hex(), types.EmptyRootHash.Hex()
	}
	if account.Nonce != proof.Nonce || account.Balance != proof.Balance || account.StorageRoot != proof.StorageHash || account.CodeHash != proof.CodeHash ||
		info.Nonce != proof.Nonce || info.Balance != proof.Balance || info.Code != code.String() || crypto.Keccak256Hash(code).Hex() != account.CodeHash {
		t.Errorf("%s at %v: %+v, %.200v and %+v", address, block, account, info, proof)
	}
	var byHash *hexutil.Bytes
	if call(&byHash, "debug_codeByHash", account.CodeHash, block); byHash == nil || !bytes.Equal(*byHash, code) {
		t.Errorf("the code %s of %s is %v", account.CodeHash, address, byHash)
	}
	slots, other := []string{"0x0", "0x1", common.HexToHash("0x2").Hex()}, common.HexToAddress("0x07e2")
	var values map[common.Address][]string
	call(&values, "eth_getStorageValues", map[common.Address][]string{address: slots, other: slots[:1]}, block)
	for i, slot := range slots {
		var value string
		if call(&value, "eth_getStorageAt", address, slot, block); values[address][i] != value {
			t.Errorf("slot %s of %s is %s, and by itself %s", slot, address, values[address][i], value)
		}
	}
	if len(values) != 2 || len(values[other]) != 1 {
		t.Errorf("the values are %v", values)
	}
}

// TestUnlockedAccounts sends with the methods of unlocked accounts: with a receipt at once, again at another price, on conditions.
func TestUnlockedAccounts(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, c := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(c.Row.Name, func(t *testing.T) {
			d := newDevnet(t, w, c)
			sentInSync(d)
			resent(d)
			conditional(d)
			infoAfterEach(d)
			d.verify()
		})
	}
}

func sentInSync(d *devnet) {
	var receipt, again json.RawMessage
	d.call(&receipt, "eth_sendTransactionSync", object{"from": d.from, "to": someone, "value": "0x5"})
	var fields struct{ TransactionHash, From, BlockNumber string }
	if err := json.Unmarshal(receipt, &fields); err != nil {
		d.Fatal(err)
	}
	d.call(&again, "eth_getTransactionReceipt", fields.TransactionHash)
	if !bytes.Equal(receipt, again) || !strings.EqualFold(fields.From, d.from.Hex()) {
		d.Errorf("the receipt is %s, and later %s", receipt, again)
	}
	var raw, one []hexutil.Bytes
	d.call(&raw, "debug_getRawTransactions", fields.BlockNumber)
	one = make([]hexutil.Bytes, 1)
	d.call(&one[0], "eth_getRawTransactionByHash", fields.TransactionHash)
	if len(raw) != 1 || !bytes.Equal(raw[0], one[0]) {
		d.Errorf("the block has %s, the transaction is %s", raw, one)
	}
	d.text("evm_setAutomine", false)
	err := d.client.Client().CallContext(d.Context(), nil, "eth_sendTransactionSync", object{"from": d.from, "to": someone}, 20)
	if got := codeOf(err); !strings.HasPrefix(got, "4 The transaction was added to the transaction pool but wasn't processed in 20ms") {
		d.Error(got)
	}
	d.text("debug_clearTxpool")
	if got := d.text("txpool_status"); got != `{"pending":"0x0","queued":"0x0"}` {
		d.Error(got)
	}
}

// resent replaces a waiting transaction. The pool is empty, and blocks are made on request only.
func resent(d *devnet) {
	nonce := hexutil.Uint64(d.nonce())
	call := object{"from": d.from, "to": someone, "nonce": nonce, "gas": "0x5208", "value": "0x9", "maxFeePerGas": "0x1d1a94a2000", "maxPriorityFeePerGas": "0x1"}
	resend := func(params ...any) (hash common.Hash, problem string) {
		if err := d.client.Client().CallContext(d.Context(), &hash, "eth_resend", params...); err != nil {
			problem = codeOf(err)
		}
		return hash, problem
	}
	if _, problem := resend(call, "0x2d79883d2000"); !strings.HasPrefix(problem, "-32000 transaction 0x") || !strings.HasSuffix(problem, " not found") {
		d.Error(problem)
	}
	var first common.Hash
	d.call(&first, "eth_sendTransaction", call)
	other := maps.Clone(call)
	other["value"] = "0x8"
	if _, problem := resend(other, "0x2d79883d2000"); !strings.HasSuffix(problem, " not found") {
		d.Errorf("another transaction was replaced: %s", problem)
	}
	fresh, problem := resend(call, "0x2d79883d2000", "0x7530")
	if problem != "" || fresh == first {
		d.Fatal(problem, fresh)
	}
	var waits, mined *struct{ Hash, GasPrice, Gas, Value, BlockNumber string }
	d.call(&waits, "eth_getTransactionBySenderAndNonce", d.from, nonce)
	if waits == nil || waits.Hash != fresh.Hex() || waits.GasPrice != "0x2d79883d2000" || waits.Gas != "0x7530" || waits.Value != "0x9" {
		d.Errorf("%+v waits", waits)
	}
	d.text("evm_mine")
	d.text("evm_setAutomine", true)
	d.call(&mined, "eth_getTransactionBySenderAndNonce", d.from, nonce)
	if mined == nil || mined.Hash != fresh.Hex() || mined.BlockNumber == "" {
		d.Errorf("%+v was mined", mined)
	}
	if got := d.text("eth_getTransactionByHash", first); got != "null" {
		d.Errorf("the first transaction is %s", got)
	}
	for nonce, want := range map[uint64]string{d.nonce(): "null", 1 << 40: "null"} {
		if got := d.text("eth_getTransactionBySenderAndNonce", d.from, hexutil.Uint64(nonce)); got != want {
			d.Errorf("nonce %d is %s", nonce, got)
		}
	}
}

// conditional sends a transaction that depends on a counter which the same transaction increments.
func conditional(d *devnet) {
	code := common.FromHex("0x6001600054018060005560005260206000f3") // counts in slot 0
	counter := crypto.CreateAddress(d.from, d.nonce())
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), Gas: 200_000, Data: append(common.FromHex(fmt.Sprintf("0x60%02x600c60003960%02x6000f3", len(code), len(code))), code...)})
	number := d.head().Number.Uint64()
	var root struct{ StorageRoot common.Hash }
	d.call(&root, "eth_getAccount", counter)
	send := func(condition object) string {
		raw, err := d.sign(&types.DynamicFeeTx{Nonce: d.nonce(), To: &counter, Gas: 200_000}).MarshalBinary()
		if err != nil {
			d.Fatal(err)
		}
		return codeOf(d.client.Client().CallContext(d.Context(), nil, "eth_sendRawTransactionConditional", hexutil.Bytes(raw), condition))
	}
	known := func(storage any) object { return object{"knownAccounts": object{counter.Hex(): storage}} }
	slots := func(count int64) object {
		return known(object{common.Hash{}.Hex(): common.BigToHash(big.NewInt(count))})
	}
	for _, refused := range []object{slots(1), known(common.HexToHash("0x1")), {"blockNumberMin": hexutil.Uint64(number + 2)}, {"blockNumberMax": hexutil.Uint64(number)}} {
		if got := send(refused); !strings.HasPrefix(got, "-32003 transaction rejected: ") {
			d.Errorf("%v: %s", refused, got)
		}
	}
	if now := d.head().Number.Uint64(); now != number {
		d.Errorf("the head is %d", now)
	}
	met := slots(0)
	met["blockNumberMin"], met["blockNumberMax"] = hexutil.Uint64(number+1), hexutil.Uint64(number+1)
	if got := send(met); got != "" {
		d.Error(got)
	}
	if got := send(known(root.StorageRoot)); !strings.HasPrefix(got, "-32003 transaction rejected: the storage root of ") {
		d.Error(got)
	}
	if d.call(&root, "eth_getAccount", counter); send(known(root.StorageRoot)) != "" {
		d.Error("the storage root is the known one")
	}
	if got := d.text("eth_getStorageAt", counter, "0x0", "latest"); got != `"`+common.BigToHash(common.Big2).Hex()+`"` {
		d.Errorf("the counter is %s", got)
	}
	many := object{}
	for i := range 1_001 {
		many[common.BigToHash(big.NewInt(int64(i))).Hex()] = common.Hash{}
	}
	if got := send(known(many)); !strings.HasPrefix(got, "-38026 the conditions name 1002 accounts and slots") {
		d.Error(got)
	}
}

// infoAfterEach reads accounts in the middle of a block.
func infoAfterEach(d *devnet) {
	d.text("evm_setAutomine", false)
	balance, nonce := d.text("eth_getBalance", someone, "latest"), d.nonce()
	for i := range uint64(3) {
		d.mustSend(&types.DynamicFeeTx{Nonce: nonce + i, Gas: 21_000, To: &someone, Value: big.NewInt(100)})
	}
	d.text("evm_mine")
	d.text("evm_setAutomine", true)
	var before hexutil.Big
	if err := json.Unmarshal([]byte(balance), &before); err != nil {
		d.Fatal(err)
	}
	for i := range int64(3) {
		var receiver, sender struct {
			Balance *hexutil.Big
			Nonce   hexutil.Uint64
		}
		d.call(&receiver, "debug_accountInfoAt", "latest", hexutil.Uint64(i), someone)
		d.call(&sender, "debug_accountInfoAt", "latest", i, d.from)
		if got := new(big.Int).Sub(receiver.Balance.ToInt(), before.ToInt()).Int64(); got != 100*(i+1) || uint64(sender.Nonce) != nonce+uint64(i)+1 {
			d.Errorf("after transaction %d: %d more, nonce %d", i, got, sender.Nonce)
		}
		if i < 2 {
			continue
		}
		var latest hexutil.Big
		if d.call(&latest, "eth_getBalance", d.from, "latest"); sender.Balance.ToInt().Cmp(latest.ToInt()) != 0 {
			d.Errorf("after the last transaction the balance is %s, after the block %s", sender.Balance, &latest)
		}
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "debug_accountInfoAt", "latest", 3, d.from)); got != "-32602 transaction index 3 is out of range for a block with 3 transactions" {
		d.Error(got)
	}
}

// TestConfiguration compares eth_config with go-ethereum's fork ids and the chain's rules, and eth_capabilities with what the chain serves.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h := surfaceOf(t, w)
	type fork struct {
		ActivationTime  uint64
		BlobSchedule    struct{ Target, Max uint64 }
		ChainID, ForkID string
		Precompiles     map[string]common.Address
		SystemContracts map[string]common.Address
	}
	for _, c := range w.Chains {
		var config struct{ Current, Next, Last *fork }
		if problem := callEVM(t, h, rpcPath(c), "eth_config", &config); problem != "" {
			t.Fatal(problem)
		}
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now, next := config.Current, config.Next
		if now.ChainID != hexutil.EncodeUint64(c.Genesis.ChainID) || now.ActivationTime > head.Header.Time || now.SystemContracts == nil ||
			now.Precompiles["ECREC"] != common.BytesToAddress([]byte{1}) || now.Precompiles["P256VERIFY"] != common.HexToAddress("0x100") {
			t.Errorf("%s: %+v", c.Row.Name, now)
		}
		var active map[string]any
		if callEVM(t, h, rpcPath(c), "eth_getActivePrecompilesAt", &active) == "" {
			for key := range active {
				if now.Precompiles[key] == (common.Address{}) {
					t.Errorf("%s: eth_config lacks %s", c.Row.Name, key)
				}
			}
		}
		if (next == nil) != (config.Last == nil) || next != nil && next.ActivationTime <= head.Header.Time {
			t.Errorf("%s: next %+v, last %+v", c.Row.Name, next, config.Last)
		}
		if next != nil && next.ForkID == now.ForkID {
			t.Errorf("%s: both fork ids are %s", c.Row.Name, now.ForkID)
		}
		var can struct {
			Head                                           struct{ Number, Hash string }
			State, Tx, Logs, Receipts, Blocks, StateProofs *struct {
				Disabled    *bool
				OldestBlock string
			}
		}
		if problem := callEVM(t, h, rpcPath(c), "eth_capabilities", &can); problem != "" {
			t.Fatal(problem)
		}
		if can.Head.Hash != head.Hash.Hex() || can.Head.Number != hexutil.EncodeUint64(head.Number) {
			t.Errorf("%s: the head is %+v", c.Row.Name, can.Head)
		}
		for i, has := range []*struct {
			Disabled    *bool
			OldestBlock string
		}{can.State, can.Tx, can.Logs, can.Receipts, can.Blocks, can.StateProofs} {
			if has == nil || has.Disabled == nil || *has.Disabled || has.OldestBlock != "0x0" {
				t.Errorf("%s: capability %d is %+v", c.Row.Name, i, has)
			}
		}
	}
}
