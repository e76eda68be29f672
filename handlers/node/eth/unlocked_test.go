package eth_test

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

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

type object = nodetest.Object

var someone = common.HexToAddress("0x50e50e")

// provenAccount is an account from eth_getProof.
type provenAccount struct {
	Balance, Nonce, StorageHash, CodeHash string
}

// TestAccountsAreThoseOfProofs compares whole accounts with their proofs, codes and slots, at every block that changed them.
func TestAccountsAreThoseOfProofs(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head := c.Head()
		page, _, err := chain.Accounts(t.Context(), head, nil, 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, account := range append(page, reader.StateAccount{Address: someone}) {
			for _, block := range []any{"earliest", hexutil.EncodeUint64(head.Number / 2), "latest"} {
				compareAccount(c, account.Address, block)
			}
		}
	}
}

func compareAccount(c *nodetest.Chain, address common.Address, block any) {
	c.Helper()
	var account struct{ Nonce, Balance, StorageRoot, CodeHash string }
	var info struct{ Nonce, Balance, Code string }
	var proof provenAccount
	var code hexutil.Bytes
	c.Call(&account, "eth_getAccount", address, block)
	c.Call(&info, "eth_getAccountInfo", address, block)
	c.Call(&proof, "eth_getProof", address, []string{}, block)
	c.Call(&code, "eth_getCode", address, block)
	if proof.CodeHash == (common.Hash{}).Hex() { // in a proof, a missing account has no hashes
		proof.CodeHash, proof.StorageHash = types.EmptyCodeHash.Hex(), types.EmptyRootHash.Hex()
	}
	if account.Nonce != proof.Nonce || account.Balance != proof.Balance || account.StorageRoot != proof.StorageHash || account.CodeHash != proof.CodeHash ||
		info.Nonce != proof.Nonce || info.Balance != proof.Balance || info.Code != code.String() || crypto.Keccak256Hash(code).Hex() != account.CodeHash {
		c.Errorf("%s at %v: %+v, %.200v and %+v", address, block, account, info, proof)
	}
	var byHash *hexutil.Bytes
	if c.Call(&byHash, "debug_codeByHash", account.CodeHash, block); byHash == nil || !bytes.Equal(*byHash, code) {
		c.Errorf("the code %s of %s is %v", account.CodeHash, address, byHash)
	}
	slots, other := []string{"0x0", "0x1", common.HexToHash("0x2").Hex()}, common.HexToAddress("0x07e2")
	var values map[common.Address][]string
	c.Call(&values, "eth_getStorageValues", map[common.Address][]string{address: slots, other: slots[:1]}, block)
	for i, slot := range slots {
		var value string
		if c.Call(&value, "eth_getStorageAt", address, slot, block); values[address][i] != value {
			c.Errorf("slot %s of %s is %s, and by itself %s", slot, address, values[address][i], value)
		}
	}
	if len(values) != 2 || len(values[other]) != 1 {
		c.Errorf("the values are %v", values)
	}
}

// TestUnlockedAccounts sends with the methods of unlocked accounts: with a receipt at once, again at another price, on conditions.
func TestUnlockedAccounts(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, c := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(c.Row.Name, func(t *testing.T) {
			d := nodetest.Open(t, w, c)
			sentInSync(d)
			resent(d)
			conditional(d)
			verifytest.Sound(t, w)
		})
	}
}

func sentInSync(d *nodetest.Chain) {
	var receipt, again json.RawMessage
	d.Call(&receipt, "eth_sendTransactionSync", object{"from": d.From, "to": someone, "value": "0x5"})
	var fields struct{ TransactionHash, From, BlockNumber string }
	if err := json.Unmarshal(receipt, &fields); err != nil {
		d.Fatal(err)
	}
	d.Call(&again, "eth_getTransactionReceipt", fields.TransactionHash)
	if !bytes.Equal(receipt, again) || !strings.EqualFold(fields.From, d.From.Hex()) {
		d.Errorf("the receipt is %s, and later %s", receipt, again)
	}
	var raw, one []hexutil.Bytes
	d.Call(&raw, "debug_getRawTransactions", fields.BlockNumber)
	one = make([]hexutil.Bytes, 1)
	d.Call(&one[0], "eth_getRawTransactionByHash", fields.TransactionHash)
	if len(raw) != 1 || !bytes.Equal(raw[0], one[0]) {
		d.Errorf("the block has %s, the transaction is %s", raw, one)
	}
	d.Text("evm_setAutomine", false)
	if got := d.Problem("eth_sendTransactionSync", object{"from": d.From, "to": someone}, 20); !strings.HasPrefix(got, "4 The transaction was added to the transaction pool but wasn't processed in 20ms") {
		d.Error(got)
	}
	d.Text("debug_clearTxpool")
	if got := d.Text("txpool_status"); got != `{"pending":"0x0","queued":"0x0"}` {
		d.Error(got)
	}
}

// resent replaces a waiting transaction. The pool is empty, and blocks are made on request only.
func resent(d *nodetest.Chain) {
	nonce := hexutil.Uint64(d.Nonce())
	call := object{"from": d.From, "to": someone, "nonce": nonce, "gas": "0x5208", "value": "0x9", "maxFeePerGas": "0x1d1a94a2000", "maxPriorityFeePerGas": "0x1"}
	resend := func(params ...any) (hash common.Hash, problem string) {
		if err := d.Try(&hash, "eth_resend", params...); err != nil {
			problem = err.Error()
		}
		return hash, problem
	}
	if _, problem := resend(call, "0x2d79883d2000"); !strings.HasPrefix(problem, "-32000 transaction 0x") || !strings.HasSuffix(problem, " not found") {
		d.Error(problem)
	}
	var first common.Hash
	d.Call(&first, "eth_sendTransaction", call)
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
	d.Call(&waits, "eth_getTransactionBySenderAndNonce", d.From, nonce)
	if waits == nil || waits.Hash != fresh.Hex() || waits.GasPrice != "0x2d79883d2000" || waits.Gas != "0x7530" || waits.Value != "0x9" {
		d.Errorf("%+v waits", waits)
	}
	d.Text("evm_mine")
	d.Text("evm_setAutomine", true)
	d.Call(&mined, "eth_getTransactionBySenderAndNonce", d.From, nonce)
	if mined == nil || mined.Hash != fresh.Hex() || mined.BlockNumber == "" {
		d.Errorf("%+v was mined", mined)
	}
	if got := d.Text("eth_getTransactionByHash", first); got != "null" {
		d.Errorf("the first transaction is %s", got)
	}
	for nonce, want := range map[uint64]string{d.Nonce(): "null", 1 << 40: "null"} {
		if got := d.Text("eth_getTransactionBySenderAndNonce", d.From, hexutil.Uint64(nonce)); got != want {
			d.Errorf("nonce %d is %s", nonce, got)
		}
	}
}

// conditional sends a transaction that depends on a counter which the same transaction increments.
func conditional(d *nodetest.Chain) {
	code := common.FromHex("0x6001600054018060005560005260206000f3") // counts in slot 0
	counter := crypto.CreateAddress(d.From, d.Nonce())
	d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), Gas: 200_000, Data: append(common.FromHex(fmt.Sprintf("0x60%02x600c60003960%02x6000f3", len(code), len(code))), code...)})
	number := d.Head().Number
	var root struct{ StorageRoot common.Hash }
	d.Call(&root, "eth_getAccount", counter)
	send := func(condition object) string {
		raw := d.Raw(d.Sign(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &counter, Gas: 200_000}))
		return d.Problem("eth_sendRawTransactionConditional", raw, condition)
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
	if now := d.Head().Number; now != number {
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
	if d.Call(&root, "eth_getAccount", counter); send(known(root.StorageRoot)) != "" {
		d.Error("the storage root is the known one")
	}
	if got := d.Text("eth_getStorageAt", counter, "0x0", "latest"); got != `"`+common.BigToHash(common.Big2).Hex()+`"` {
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

// TestConfiguration compares eth_config with go-ethereum's fork ids and the chain's rules, and eth_capabilities with what the chain serves.
func TestConfiguration(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	type fork struct {
		ActivationTime  uint64
		BlobSchedule    struct{ Target, Max uint64 }
		ChainID, ForkID string
		Precompiles     map[string]common.Address
		SystemContracts map[string]common.Address
	}
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		var config struct{ Current, Next, Last *fork }
		c.Call(&config, "eth_config")
		head := c.Head()
		now, next := config.Current, config.Next
		if now.ChainID != hexutil.EncodeUint64(chain.Genesis.ChainID) || now.ActivationTime > head.Header.Time || now.SystemContracts == nil ||
			now.Precompiles["ECREC"] != common.BytesToAddress([]byte{1}) || now.Precompiles["P256VERIFY"] != common.HexToAddress("0x100") {
			t.Errorf("%s: %+v", chain.Row.Name, now)
		}
		var active map[string]any
		if c.Try(&active, "eth_getActivePrecompilesAt") == nil {
			for key := range active {
				if now.Precompiles[key] == (common.Address{}) {
					t.Errorf("%s: eth_config lacks %s", chain.Row.Name, key)
				}
			}
		}
		if (next == nil) != (config.Last == nil) || next != nil && next.ActivationTime <= head.Header.Time {
			t.Errorf("%s: next %+v, last %+v", chain.Row.Name, next, config.Last)
		}
		if next != nil && next.ForkID == now.ForkID {
			t.Errorf("%s: both fork ids are %s", chain.Row.Name, now.ForkID)
		}
		var can struct {
			Head                                           struct{ Number, Hash string }
			State, Tx, Logs, Receipts, Blocks, StateProofs *struct {
				Disabled    *bool
				OldestBlock string
			}
		}
		c.Call(&can, "eth_capabilities")
		if can.Head.Hash != head.Hash.Hex() || can.Head.Number != hexutil.EncodeUint64(head.Number) {
			t.Errorf("%s: the head is %+v", chain.Row.Name, can.Head)
		}
		for i, has := range []*struct {
			Disabled    *bool
			OldestBlock string
		}{can.State, can.Tx, can.Logs, can.Receipts, can.Blocks, can.StateProofs} {
			if has == nil || has.Disabled == nil || *has.Disabled || has.OldestBlock != "0x0" {
				t.Errorf("%s: capability %d is %+v", chain.Row.Name, i, has)
			}
		}
	}
}
