// A devnet, driven like Hardhat and anvil users do, seen by every interface.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"github.com/spf13/pflag"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers"
	"snowglobe/sim"
)

var someone = common.HexToAddress("0x50e50e")

// call calls a method and reads its result.
func (d *devnet) call(result any, method string, params ...any) {
	d.Helper()
	if err := d.client.Client().CallContext(d.Context(), result, method, params...); err != nil {
		d.Fatalf("%s: %v", method, err)
	}
}

// text calls a method and returns its result as JSON.
func (d *devnet) text(method string, params ...any) string {
	d.Helper()
	var result json.RawMessage
	d.call(&result, method, params...)
	return string(result)
}

// send sends a transaction from alice, and returns its hash and the error with its code.
func (d *devnet) send(tx *types.DynamicFeeTx) (hash common.Hash, refusal string) {
	d.Helper()
	signed := d.sign(tx)
	raw, err := signed.MarshalBinary()
	if err != nil {
		d.Fatal(err)
	}
	err = d.client.Client().CallContext(d.Context(), new(common.Hash), "eth_sendRawTransaction", hexutil.Encode(raw))
	return signed.Hash(), codeOf(err)
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	var coded ethrpc.Error
	if errors.As(err, &coded) {
		return fmt.Sprint(coded.ErrorCode(), " ", err)
	}
	return err.Error()
}

func (d *devnet) mustSend(tx *types.DynamicFeeTx) common.Hash {
	d.Helper()
	hash, refusal := d.send(tx)
	if refusal != "" {
		d.Fatal(refusal)
	}
	return hash
}

func (d *devnet) head() *types.Header {
	d.Helper()
	head, err := d.client.HeaderByNumber(d.Context(), nil)
	if err != nil {
		d.Fatal(err)
	}
	return head
}

// TestADevnet treats a chain as test clients do, and verifies the world afterwards.
func TestADevnet(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	for _, part := range []struct {
		name string
		test func(*devnet)
	}{
		{"sent at once", sentAtOnce}, {"bindings", bindings}, {"everywhere", everywhere}, {"refusals", refusals}, {"as soon as the rules allow", asSoonAsAllowed}, {"a pool that waits", waiting}, {"blocks as asked for", blocksAsAskedFor}, {"heavy transactions", heavy}, {"signing", signs},
		{"blocks by themselves", byThemselves}, {"L1 refusals", refusalsOfL1}, {"L1 as soon as the rules allow", asSoonAsAllowed}, {"L1 blocks as asked for", blocksAsAskedFor},
	} {
		t.Run(part.name, func(t *testing.T) {
			own := *d
			own.T = t
			if strings.HasPrefix(part.name, "L1") {
				own = *newDevnet(t, w, w.Chains[len(w.Chains)-1])
			}
			part.test(&own)
		})
	}
	d.verify()
}

// refusals have a node's words, with the codes by which libraries show them.
func refusals(d *devnet) {
	nonce, most := d.nonce(), big.NewInt(2_000_000_000_000)
	d.text("anvil_setNextBlockBaseFeePerGas", "0x64")
	for _, c := range []struct {
		tx   types.DynamicFeeTx
		want string
	}{
		{types.DynamicFeeTx{Nonce: nonce - 1, To: &someone}, fmt.Sprintf("-32000 nonce too low: next nonce %d, tx nonce %d", nonce, nonce-1)},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 20_000}, "-32000 intrinsic gas too low: address " + d.from.Hex() + " tx gas (20000), minimum needed 21000"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(1)}, "-32000 max priority fee per gas higher than max fee per gas"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1)}, "-32000 max fee per gas less than block base fee: address " + d.from.Hex() + ", maxFeePerGas: 1, baseFee: 100"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: new(big.Int).Lsh(big.NewInt(1), 100)}, "-32000 insufficient funds for gas * price + value: balance "},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 90_000_000}, "-32003 tx fee (180.00 ether) exceeds the configured cap (100.00 ether)"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 90_000_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e11)}, "-32003 exceeds block gas limit: tx gas (90000000) > current max gas ("},
		{types.DynamicFeeTx{Nonce: nonce, Data: make([]byte, 49_153), Gas: 9_000_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e11)}, "-32003 max initcode size exceeded: code size 49153, limit 49152"},
	} {
		if _, got := d.send(&c.tx); got != c.want && !(len(got) > len(c.want) && got[:len(c.want)] == c.want) {
			d.Errorf("%s\nwant %s", got, c.want)
		}
	}
	for _, c := range []struct {
		signer types.Signer
		tx     types.TxData
		want   string
	}{
		{types.HomesteadSigner{}, &types.LegacyTx{Nonce: nonce, To: &someone, Gas: 21_000, GasPrice: most}, "-32003 only replay-protected (EIP-155) transactions allowed over RPC"},
		{types.LatestSignerForChainID(big.NewInt(1)), &types.LegacyTx{Nonce: nonce, To: &someone, Gas: 21_000, GasPrice: most}, "-32003 invalid sender"},
		{types.NewPragueSigner(big.NewInt(43114)), &types.SetCodeTx{AuthList: []types.SetCodeAuthorization{{}}}, "-32003 transaction type not supported"},
		{types.NewPragueSigner(big.NewInt(43114)), &types.BlobTx{BlobHashes: []common.Hash{{1}}}, "-32003 transaction type not supported"},
	} {
		tx, err := types.SignNewTx(d.key, c.signer, c.tx)
		if err != nil {
			d.Fatal(err)
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			d.Fatal(err)
		}
		if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "eth_sendRawTransaction", hexutil.Encode(raw))); got != c.want {
			d.Errorf("%s\nwant %s", got, c.want)
		}
	}
	if d.nonce() != nonce || d.text("txpool_status") != `{"pending":"0x0","queued":"0x0"}` {
		d.Errorf("something was taken: %s", d.text("txpool_status"))
	}
}

// waiting tests a pool without automine: a gap, a replacement, the pending block and the next block's transactions.
func waiting(d *devnet) {
	d.text("evm_setAutomine", false)
	defer d.text("evm_setAutomine", true)
	nonce, head := d.nonce(), d.head()
	first := d.mustSend(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(100), GasTipCap: big.NewInt(100), GasFeeCap: big.NewInt(1e12)})
	later := d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 2, To: &someone, Value: big.NewInt(7)})
	if got := d.text("txpool_status"); got != `{"pending":"0x1","queued":"0x1"}` {
		d.Error(got)
	}
	if _, got := d.send(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(100), GasTipCap: big.NewInt(100), GasFeeCap: big.NewInt(1e12)}); got != "-32000 already known" {
		d.Error(got)
	}
	if _, got := d.send(&types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(109), GasFeeCap: big.NewInt(12e11)}); got != "-32003 replacement transaction underpriced" {
		d.Error(got)
	}
	second := d.mustSend(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(200), GasTipCap: big.NewInt(110), GasFeeCap: big.NewInt(11e11)})
	if tx, pending, err := d.client.TransactionByHash(d.Context(), second); err != nil || !pending || tx.Value().Int64() != 200 {
		d.Error(tx, pending, err)
	}
	if got := d.text("eth_getTransactionByHash", first); got != "null" {
		d.Errorf("the replaced one: %s", got)
	}
	var block struct {
		Number       hexutil.Uint64
		Hash, Nonce  *string
		Transactions []common.Hash
	}
	d.call(&block, "eth_getBlockByNumber", "pending", false)
	if uint64(block.Number) != head.Number.Uint64()+1 || block.Hash != nil || block.Nonce != nil || len(block.Transactions) != 1 || block.Transactions[0] != second {
		d.Errorf("pending block %+v", block)
	}
	for tag, want := range map[string]string{"latest": `"0x0"`, "pending": `"0xc8"`} {
		if got := d.text("eth_getBalance", someone, tag); got != want {
			d.Errorf("balance at %s: %s, want %s", tag, got, want)
		}
	}
	if d.nonce() != nonce+1 || d.text("eth_getTransactionCount", d.from, "latest") != fmt.Sprintf("%q", hexutil.Uint64(nonce)) {
		d.Errorf("next nonce %d", d.nonce())
	}
	if got := d.text("txpool_contentFrom", d.from); len(got) < 500 || d.text("txpool_inspect") == "{}" {
		d.Error(got)
	}
	d.text("evm_mine")
	if receipt, err := d.client.TransactionReceipt(d.Context(), second); err != nil || receipt.BlockNumber.Uint64() != head.Number.Uint64()+1 {
		d.Error(receipt, err)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone, Value: big.NewInt(1)})
	d.text("anvil_mine")
	if got := d.text("eth_getBalance", someone, "latest"); got != `"0xd0"` {
		d.Errorf("the gap is filled: %s", got)
	}
	if receipt, err := d.client.TransactionReceipt(d.Context(), later); err != nil || receipt.TransactionIndex != 1 {
		d.Error(receipt, err)
	}
	dropped := d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	if got := d.text("anvil_dropTransaction", dropped); got != fmt.Sprintf("%q", dropped.Hex()) || d.text("anvil_dropTransaction", dropped) != "null" {
		d.Error(got)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	d.text("anvil_removePoolTransactions", d.from)
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	d.text("anvil_dropAllTransactions")
	if got := d.text("txpool_status"); got != `{"pending":"0x0","queued":"0x0"}` {
		d.Error(got)
	}
}

// refusalsOfL1 sends transactions that an L1 refuses because of its fee configuration.
func refusalsOfL1(d *devnet) {
	want := "-32003 transaction underpriced: address " + d.from.Hex() + " have gas fee cap (1) < pool minimum fee cap ("
	if _, got := d.send(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1)}); !strings.HasPrefix(got, want) {
		d.Error(got)
	}
}

// asSoonAsAllowed: while the clock stands still, a block follows its parent as soon as ACP-226 allows, and the clock moves to it. After the clock was
// advanced, a block has the clock's time.
func asSoonAsAllowed(d *devnet) {
	send := func() (milliseconds, delay uint64) {
		d.Helper()
		d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
		var head struct{ Timestamp, TimestampMilliseconds, MinDelayExcess hexutil.Uint64 }
		d.call(&head, "eth_getBlockByNumber", "latest", false)
		if now := d.world.Clock.UnixMilli(); now != int64(head.TimestampMilliseconds) || head.Timestamp != head.TimestampMilliseconds/1000 {
			d.Errorf("the clock is at %d, the block at %d, second %d", now, head.TimestampMilliseconds, head.Timestamp)
		}
		return uint64(head.TimestampMilliseconds), uint64(math.Exp(float64(head.MinDelayExcess) / (1 << 20)))
	}
	before, delay := send()
	for range 3 {
		at, next := send()
		if at != before+delay || delay < 500 {
			d.Errorf("%d ms after its parent, the delay is %d", at-before, delay)
		}
		before, delay = at, next
	}
	d.text("evm_increaseTime", 3600)
	if at, _ := send(); at != before+3_600_000 {
		d.Errorf("%d ms after its parent, the clock was an hour on", at-before)
	}
}

// blocksAsAskedFor makes blocks with times, fees, limits and coinbases that the network would not allow.
func blocksAsAskedFor(d *devnet) {
	before := d.head()
	d.text("anvil_mine", "0x3", "0x3c")
	head := d.head()
	if head.Number.Uint64() != before.Number.Uint64()+3 || head.Time < before.Time+180 || int64(head.Time) != d.world.Clock.Unix() {
		d.Errorf("%d at %d, before %d at %d", head.Number, head.Time, before.Number, before.Time)
	}
	d.text("evm_setNextBlockTimestamp", head.Time+1)
	d.text("anvil_setNextBlockBaseFeePerGas", "0x4d2")
	d.text("anvil_setBlockGasLimit", "0xe4e1c0")
	d.text("hardhat_setCoinbase", someone)
	defer d.text("anvil_setCoinbase", "0x0100000000000000000000000000000000000000")
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "evm_setNextBlockTimestamp", head.Time)); got != fmt.Sprintf("-32000 timestamp error: %d is lower than or equal to previous block's timestamp %d", head.Time, head.Time) {
		d.Error(got)
	}
	earned, err := d.client.BalanceAt(d.Context(), someone, nil)
	if err != nil {
		d.Fatal(err)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &d.from})
	made := d.head()
	if made.Time != head.Time+1 || made.BaseFee.Int64() != 1234 || made.GasLimit != 15_000_000 || made.Coinbase != someone {
		d.Errorf("%d, base fee %d, gas limit %d, coinbase %s", made.Time, made.BaseFee, made.GasLimit, made.Coinbase)
	}
	if now, err := d.client.BalanceAt(d.Context(), someone, nil); err != nil || now.Sub(now, earned).Int64() != 21_000*1235 {
		d.Errorf("the coinbase earned %d, %v", now, err)
	}
	if got := d.text("evm_mine", map[string]any{"blocks": 2}); got != `"0x0"` || d.head().Number.Uint64() != made.Number.Uint64()+2 || d.head().BaseFee.Int64() == 1234 && d.chain.Row.Kind == "C" {
		d.Errorf("%s, %d", got, d.head().BaseFee)
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "evm_setNextBlockTimestamp", int64(99_999_999_999))); got != "-32000 timestamp error: the world's clock cannot go that far: 5138-11-16T09:46:39Z is after 2056-10-24T00:00:00Z" {
		d.Error(got)
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "anvil_mine", 1000, 86_400*30)); !strings.Contains(got, "1000 blocks 720h0m0s apart: the world's clock cannot go that far: ") {
		d.Error(got)
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "anvil_mine", "0xffffff")); got != "-32000 the number of blocks is 16777215: expected at most 100000" {
		d.Error(got)
	}
}

// heavy sends transactions that each use almost all of a block: each waits until the chain has capacity again, by the world's clock.
func heavy(d *devnet) {
	reverter, err := contracts.Load("Reverter")
	if err != nil {
		d.Fatal(err)
	}
	for range 3 {
		before := d.head()
		hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: d.contract("reverter"), Data: reverter.ABI.Methods["burnGas"].ID,
			Gas: before.GasLimit * 99 / 100, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12)})
		receipt, err := d.client.TransactionReceipt(d.Context(), hash)
		if err != nil || receipt.GasUsed != before.GasLimit*99/100 || receipt.Status != 0 {
			d.Error(receipt, err)
		}
		if after := d.head(); after.Time < before.Time+2 || after.Time > before.Time+7 {
			d.Errorf("%d seconds later", after.Time-before.Time)
		}
	}
}

// signs signs for the personas' accounts.
func signs(d *devnet) {
	var all []common.Address
	d.call(&all, "eth_accounts")
	if len(all) < 10 || all[0] != d.from {
		d.Fatal(all)
	}
	var signature hexutil.Bytes
	for _, call := range [][]any{{"eth_sign", d.from, "0x68690a"}, {"personal_sign", "0x68690a", d.from}} {
		d.call(&signature, call[0].(string), call[1:]...)
		signature[64] -= 27
		key, err := crypto.SigToPub(accounts.TextHash([]byte("hi\n")), signature)
		if err != nil || crypto.PubkeyToAddress(*key) != d.from {
			d.Error(err)
		}
	}
	// The signature is the one in go-ethereum's documentation of personal_ecRecover.
	var signer common.Address
	d.call(&signer, "personal_ecRecover", "0xdeadbeaf",
		"0xa3f20717a250c2b0b729b7e5becbff67fdaef7e0699da4de7ca5895b02a170a12d887fd3b17bfdce3481f10bea41f45ba9f709d39ce8325427b57afcfc994cee1b")
	if signer != common.HexToAddress("0x9b2055d370f73ec7d8a03e965129118dc8f5bf83") {
		d.Error(signer)
	}
	typed := map[string]any{"primaryType": "Mail", "message": map[string]any{"text": "hi"}, "domain": map[string]any{"name": "x"},
		"types": map[string]any{"EIP712Domain": []any{map[string]any{"name": "name", "type": "string"}}, "Mail": []any{map[string]any{"name": "text", "type": "string"}}}}
	d.call(&signature, "eth_signTypedData_v4", d.from, typed)
	var hash common.Hash
	d.call(&hash, "eth_sendTransaction", map[string]any{"from": d.from, "to": someone, "value": "0x9"})
	receipt, err := d.client.TransactionReceipt(d.Context(), hash)
	if err != nil || receipt.Status != 1 || receipt.Type != types.DynamicFeeTxType {
		d.Error(receipt, err)
	}
	if got := codeOf(d.client.Client().CallContext(d.Context(), nil, "eth_sendTransaction", map[string]any{"from": someone, "to": someone})); got != "-32000 unknown account" {
		d.Error(got)
	}
	var done struct{ Status, TransactionIndex hexutil.Uint64 }
	for _, call := range []map[string]any{
		{"from": d.from, "to": someone, "gas": "0x5208", "gasPrice": "0x1d1a94a2000", "nonce": hexutil.Uint64(d.nonce())},
		{"from": d.from, "to": someone, "nonce": hexutil.Uint64(d.nonce() + 1)},
	} {
		var raw hexutil.Bytes // the result is a plain string, as ethers and viem expect
		d.call(&raw, "eth_signTransaction", call)
		d.call(&done, "eth_sendRawTransactionSync", raw)
	}
	if done.Status != 1 {
		d.Errorf("%+v", done)
	}
}

// byThemselves: the chain makes blocks at an interval.
func byThemselves(d *devnet) {
	ctx, stop := context.WithCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.world.Mine(ctx, func(err error) { d.Error(err) })
	}()
	d.text("anvil_setIntervalMining", 1)
	if d.text("anvil_getAutomine") != "false" || d.text("anvil_getIntervalMining") != "1" {
		d.Error("the modes are not as set")
	}
	d.text("evm_setIntervalMining", 20)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if receipt, err := d.client.TransactionReceipt(d.Context(), hash); err == nil && receipt.Status == 1 {
			break
		}
		if time.Now().After(deadline) {
			d.Fatal("no block was made")
		}
	}
	d.text("evm_setIntervalMining", 0)
	d.text("evm_setAutomine", true)
	stop()
	<-ended
}

// TestWhatWaitsIsThereAgain: the pool survives a restart, and is not part of the digest.
func TestWhatWaitsIsThereAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	digest := string(w.Digest())
	d := newDevnet(t, w, w.Chains[0])
	d.text("evm_setAutomine", false)
	nonce := d.nonce()
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone})
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 5, To: &someone})
	content := d.text("txpool_content")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = sim.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if string(w.Digest()) != digest {
		t.Error("what waits is in the digest")
	}
	d = newDevnet(t, w, w.Chains[0])
	if got := d.text("txpool_content"); got != content {
		t.Errorf("%s\nbefore %s", got, content)
	}
	d.text("evm_mine")
	if got := d.text("txpool_status"); got != `{"pending":"0x0","queued":"0x1"}` {
		t.Error(got)
	}
	d.verify()
}

// recorded lists requests that change the world in every way, as a client once sent them.
var recorded = []struct{ path, body string }{
	{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x000000000000000000000000000000000050e50e","value":"0x7"}]}`},
	{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":2,"method":"anvil_setBalance","params":["0x000000000000000000000000000000000050e50e","0xde0b6b3a7640000"]}`},
	{"/sim/clock", `{"advance":"36h"}`},
	{"/v1/operations/transactions:export", `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],"includeChains":["43114"]}}`},
	{"/ext/bc/C/rpc", `[{"jsonrpc":"2.0","id":3,"method":"evm_setAutomine","params":[false]},{"jsonrpc":"2.0","id":4,"method":"eth_sendTransaction","params":[{"from":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","data":"0x602a60005260206000f3"}]},{"jsonrpc":"2.0","id":5,"method":"anvil_mine","params":["0x3","0x5"]}]`},
	{"/fuji/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":6,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}]}`},
}

// TestRecordedRequestsMakeOneDigest replays them in two worlds. The digest is the same on every machine.
func TestRecordedRequestsMakeOneDigest(t *testing.T) {
	t.Parallel()
	const want = "597a690c9436182baa9313440d00c4f2629d60f32ed972e0409491b0643c3e15"
	for i := range 2 {
		w := tinyWorldOf(t, 1)
		d := newDevnet(t, w, w.Chains[0])
		for _, r := range recorded {
			answer, err := http.Post(d.url+r.path, "application/json", strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode >= 300 || bytes.Contains(text, []byte(`"error"`)) {
				t.Fatalf("%s: %d %s, %v", r.body, answer.StatusCode, text, err)
			}
		}
		if got := hex.EncodeToString(w.Digest()); got != want {
			t.Errorf("the digest is %s", got)
		}
		if i == 0 || !testing.Short() {
			d.verify()
		} else {
			d.Log("left out of a short run: verification of this one")
		}
	}
}

// TestWhenBlocksAreMade reads the flags, under anvil's names, and checks how the chains behave.
func TestWhenBlocksAreMade(t *testing.T) {
	t.Parallel()
	w := tinyWorldOf(t, 1)
	for _, c := range []struct {
		args     []string
		automine bool
		interval time.Duration
	}{
		{nil, true, 0}, {[]string{"--block-time", "2s"}, false, 2 * time.Second}, {[]string{"--block-time", "12"}, false, 12 * time.Second},
		{[]string{"--block-time=500ms", "--mixed-mining"}, true, 500 * time.Millisecond}, {[]string{"--no-mining"}, false, 0},
	} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags := handlers.NewFlags(f)
		if err := f.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		o, err := flags.Options(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		h, err := handlers.New(w, o)
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
		for _, m := range w.Miners {
			if m.Automine() != c.automine || m.Interval() != c.interval {
				t.Errorf("%v: automine %t, every %s", c.args, m.Automine(), m.Interval())
			}
			m.SetAutomine(true)
			m.SetInterval(0)
		}
	}
}
