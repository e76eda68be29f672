// A C-Chain since Helicon whose execution, settlement or price a client disturbs.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
	"snowglobe/handlers/fault"
	"snowglobe/seed/seedtest"
)

// control calls an operation of /sim; the method depends on the body.
func (d *devnet) control(path, body string) (status int, answer map[string]any, text string) {
	d.Helper()
	status, text, answer = (&clocked{d.T, d.url}).send(path, body)
	return status, answer, text
}

func (d *devnet) trouble(body string) {
	d.Helper()
	if status, _, text := d.control("/sim/node", body); status != http.StatusOK {
		d.Fatalf("%s: %d %s", body, status, text)
	}
}

func (d *devnet) recover() {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodDelete, d.url+"/sim/node", nil)
	if err != nil {
		d.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	response.Body.Close()
}

// nodeBlock is the part of a block that the tests read.
type nodeBlock struct {
	Number, BaseFeePerGas *hexutil.Big
	StateRoot             common.Hash
	SettledHeight         *hexutil.Big
	Transactions          []common.Hash
}

func (d *devnet) blockAt(tag string) (b nodeBlock) {
	d.Helper()
	d.call(&b, "eth_getBlockByNumber", tag, false)
	return b
}

// nodeReceipt is the part of a receipt that the tests read.
type nodeReceipt struct{ BlockNumber, GasUsed, EffectiveGasPrice *hexutil.Big }

func (d *devnet) receiptOf(hash common.Hash) (r *nodeReceipt) {
	d.Helper()
	d.call(&r, "eth_getTransactionReceipt", hash)
	return r
}

// paysWith sends a transfer with a gas limit and a tip of one wei, and returns its receipt.
func (d *devnet) paysWith(gas uint64) *nodeReceipt {
	d.Helper()
	return d.receiptOf(d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: gas}))
}

func (d *devnet) number(tag string) uint64 {
	d.Helper()
	return d.blockAt(tag).Number.ToInt().Uint64()
}

// way returns the status of a transaction's block, from /sim/transactions.
func (d *devnet) way(hash common.Hash) string {
	d.Helper()
	_, answer, text := d.control("/sim/transactions/"+hash.Hex(), "")
	if answer["status"] == nil {
		d.Fatal(text)
	}
	return answer["status"].(string)
}

// TestExecutionLags: a block is accepted at once, but its receipt, logs, state and traces are missing until the clock has moved far enough. Then
// subscribers hear of it.
func TestExecutionLags(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	heads := d.newHeads()
	d.trouble(`{"executionLag":"10s"}`)
	before, balance := d.number("latest"), d.text("eth_getBalance", someone, "latest")
	filter := strings.Trim(d.text("eth_newBlockFilter"), `"`)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(7)})
	block := hexutil.EncodeUint64(before + 1)
	for name, waits := range map[string]bool{
		"latest":          d.number("latest") == before && d.number("pending") == before,
		"accepted":        d.number("accepted") == before+1 && d.number(block) == before+1,
		"eth_blockNumber": d.text("eth_blockNumber") == fmt.Sprintf("%q", hexutil.EncodeUint64(before)),
		"receipt":         d.text("eth_getTransactionReceipt", hash) == "null" && d.text("eth_getBlockReceipts", block) == "null",
		"transaction":     strings.Contains(d.text("eth_getTransactionByHash", hash), `"blockNumber":"`+block+`"`),
		"balance":         d.text("eth_getBalance", someone, "latest") == balance,
		"nonce":           d.text("eth_getTransactionCount", d.from, "latest") != d.text("eth_getTransactionCount", d.from, "pending"),
		"filter":          d.text("eth_getFilterChanges", filter) == "[]",
		"way":             d.way(hash) == "accepted",
	} {
		if !waits {
			t.Errorf("%s does not wait for execution", name)
		}
	}
	for _, c := range [][]any{
		{"eth_getBalance", someone, block}, {"eth_call", map[string]any{"to": someone}, block}, {"eth_getProof", someone, []string{}, block}, {"eth_getStorageAt", someone, "0x0", block},
		{"debug_traceTransaction", hash}, {"debug_traceBlockByNumber", block}, {"eth_estimateGas", map[string]any{"to": someone}, block},
	} {
		err := d.client.Client().CallContext(t.Context(), new(json.RawMessage), c[0].(string), c[1:]...)
		if got := codeOf(err); got != "-32000 the block is accepted but not executed yet" {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	select {
	case head := <-heads:
		t.Errorf("a subscriber has heard of block %s", head)
	case <-time.After(50 * time.Millisecond):
	}
	d.control("/sim/clock", `{"advance":"10s"}`)
	if d.text("eth_getTransactionReceipt", hash) == "null" || d.way(hash) == "accepted" || d.text("eth_getBalance", someone, "latest") == balance {
		t.Error("the block is not executed when it is due")
	}
	select {
	case head := <-heads:
		if head != block {
			t.Errorf("a subscriber hears of block %s, %s is executed", head, block)
		}
	case <-time.After(10 * time.Second):
		t.Error("no subscriber hears of the block")
	}
	if !strings.Contains(d.text("eth_getFilterChanges", filter), `"0x`) {
		t.Error("the filter does not have the block")
	}
	hash = d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(7)})
	d.recover()
	if d.text("eth_getTransactionReceipt", hash) == "null" || d.number("latest") != d.number("accepted") {
		t.Error("execution does not catch up")
	}
	d.verify()
}

// newHeads subscribes to the numbers of new blocks.
func (d *devnet) newHeads() <-chan string {
	d.Helper()
	client, err := ethrpc.DialContext(d.Context(), d.rpc("ws", "ws"))
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(client.Close)
	heads, numbers := make(chan map[string]any, 64), make(chan string, 64)
	subscription, err := client.EthSubscribe(d.Context(), heads, "newHeads")
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(subscription.Unsubscribe)
	go func() {
		for {
			select {
			case head := <-heads:
				numbers <- head["number"].(string)
			case <-subscription.Err():
				return
			}
		}
	}()
	return numbers
}

// TestSettlementLags: finalized stays behind by the time that a client chose, funds that have just arrived can't be spent meanwhile, and no send
// moves the clock to wait for it. The world verifies, in another process too.
func TestSettlementLags(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	d.trouble(`{"settlementLag":"1m"}`)
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	poor := *d
	poor.key, poor.from = key, crypto.PubkeyToAddress(key.PublicKey)
	given := d.receiptOf(d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &poor.from, Value: big.NewInt(1e18)})).BlockNumber.ToInt().Uint64()
	clock := w.Clock.UnixMilli()
	hash := poor.mustSend(&types.DynamicFeeTx{Nonce: 0, To: &someone, Value: big.NewInt(1)})
	if w.Clock.UnixMilli()-clock > 2_000 || poor.text("eth_getTransactionReceipt", hash) != "null" {
		t.Errorf("%d ms after the funds came, they are spent: %s", w.Clock.UnixMilli()-clock, poor.text("eth_getTransactionReceipt", hash))
	}
	if r := d.paysWith(21_000); r == nil {
		t.Error("a transaction that waits holds up those of others")
	}
	d.text("evm_increaseTime", "0x14")
	d.text("evm_mine")
	if final := d.number("finalized"); final >= given {
		t.Errorf("block %d is final 20 s after block %d, settlement takes a minute", final, given)
	}
	if _, answer, text := d.control("/sim/clock", `{"advance":"2m"}`); answer["settled"] == nil || d.number("finalized") < given {
		t.Errorf("block %d is not final after two minutes: %s", given, text)
	}
	if poor.text("eth_getTransactionReceipt", hash) == "null" {
		d.text("evm_mine")
	}
	if r := poor.receiptOf(hash); r == nil {
		t.Error("the transaction still waits for its funds")
	}
	d.recover()
	r := d.paysWith(21_000)
	d.control("/sim/clock", `{"advance":"6s"}`)
	if d.number("finalized") < r.BlockNumber.ToInt().Uint64() {
		t.Error("settlement still lags")
	}
	d.verify()
}

// TestAFullQueueCanBeAsked: while the queue is full, pending is the newest block, and what clients ask of it before they send has an answer.
func TestAFullQueueCanBeAsked(t *testing.T) {
	t.Parallel()
	d := withFullQueue(t)
	latest := d.number("latest")
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	if n := d.number("pending"); n != latest {
		t.Errorf("pending is block %d, latest is %d", n, latest)
	}
	for _, method := range []string{"eth_call", "eth_estimateGas", "eth_fillTransaction"} {
		params := []any{map[string]any{"from": d.from, "to": someone}, "pending"}
		if method == "eth_fillTransaction" {
			params = params[:1]
		}
		if err := d.client.Client().CallContext(t.Context(), new(any), method, params...); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	d.recover()
	if n := d.number("pending"); n != latest+1 {
		t.Errorf("after recovery pending is block %d, latest is %d", n, latest)
	}
	d.text("evm_mine")
	if d.receiptOf(hash) == nil {
		t.Error("the transaction still waits")
	}
	d.verify()
}

// withFullQueue makes settlement lag until a C-Chain takes no more blocks. Nothing is mined automatically.
func withFullQueue(t *testing.T) *devnet {
	t.Helper()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	d.text("evm_setAutomine", false)
	d.trouble(`{"settlementLag":"1h"}`)
	for limit := d.head().GasLimit; ; {
		d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Gas: limit, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12)})
		if code := codeOf(d.client.Client().CallContext(t.Context(), nil, "evm_mine")); code != "" {
			if !strings.HasPrefix(code, "-32000 queue exceeds gas threshold for new block") {
				t.Fatal(code)
			}
			d.text("anvil_dropAllTransactions")
			return d
		}
	}
}

// TestNothingIsFinalBeforeItIsExecuted: while execution lags, safe and finalized name an executed block, whatever later headers settle.
func TestNothingIsFinalBeforeItIsExecuted(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	d.trouble(`{"executionLag":"1h"}`)
	latest := d.number("latest")
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	d.text("evm_mine")
	if settled := d.head().Number.Uint64(); settled != latest {
		t.Fatalf("latest is block %d, was %d", settled, latest)
	}
	for _, tag := range []string{"safe", "finalized"} {
		if n := d.number(tag); n > latest {
			t.Errorf("%s is block %d, latest is %d", tag, n, latest)
		}
		if got := d.text("eth_getBalance", d.from, tag); !strings.HasPrefix(got, `"0x`) {
			t.Errorf("a balance at %s: %s", tag, got)
		}
		if got := d.text("eth_getLogs", map[string]any{"fromBlock": tag, "toBlock": tag}); !strings.HasPrefix(got, "[") {
			t.Errorf("logs at %s: %s", tag, got)
		}
		if err := d.client.Client().CallContext(t.Context(), new(any), "eth_feeHistory", "0x1", tag, nil); err != nil {
			t.Errorf("the fee history at %s: %v", tag, err)
		}
	}
	d.recover()
	if n, r := d.number("finalized"), d.receiptOf(hash); r == nil || n < r.BlockNumber.ToInt().Uint64() {
		t.Errorf("block %d is final after recovery", n)
	}
	d.verify()
}

// TestABlockIsToldOfOnce: subscribers hear only once of a block that is not executed yet when the world is reverted to it.
func TestABlockIsToldOfOnce(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	heads := d.newHeads()
	d.trouble(`{"executionLag":"2 blocks"}`)
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	first, snapshot := d.number("accepted"), strings.Trim(d.text("evm_snapshot"), `"`)
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	d.text("evm_revert", snapshot)
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	d.recover()
	for number := first; number <= d.number("latest"); number++ {
		select {
		case head := <-heads:
			if head != hexutil.EncodeUint64(number) {
				t.Errorf("a subscriber hears of block %s, not of %d", head, number)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no subscriber hears of block %d", number)
		}
	}
}

// TestThePriceOfASchedule: before the first transaction, the announced prices are high enough for a rise by 15 % to matter, wherever a client looks. A cap
// of what was announced then waits, and a fifth more suffices.
func TestThePriceOfASchedule(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnetWith(t, w, w.Networks[0].CChain(), handlers.Options{Network: "mainnet", Follows: true})
	if err := d.server.Follow(t.Context(), fault.Repeat(fault.List{{Kind: "fee", Times: 1, On: "world", Key: "fee", Nth: 1}})); err != nil {
		t.Fatal(err)
	}
	const price = 1_000_000_000
	var fee, suggested hexutil.Big
	d.call(&fee, "eth_baseFee")
	d.call(&suggested, "eth_gasPrice")
	history, err := d.client.FeeHistory(t.Context(), 2, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	newest := history.BaseFee[len(history.BaseFee)-2:]
	if fee.ToInt().Int64() != price || suggested.ToInt().Int64() != price+1 || d.head().BaseFee.Int64() != price || newest[0].Int64() != price || newest[1].Int64() != price {
		t.Errorf("announced are %d, %d, %d and %d", fee.ToInt(), suggested.ToInt(), d.head().BaseFee, history.BaseFee)
	}
	if pending, latest := d.number("pending"), d.number("latest"); pending != latest {
		t.Errorf("block %d is pending after %d", pending, latest)
	}
	enough := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(price*12/10 + 1)})
	if d.receiptOf(enough) == nil {
		t.Error("a cap of a fifth more waits")
	}
	if risen := d.head().BaseFee.Int64(); risen != price*115/100 {
		t.Errorf("gas cost %d", risen)
	}
	earlier, err := d.client.FeeHistory(t.Context(), 1, new(big.Int).Sub(d.head().Number, big.NewInt(1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if after := earlier.BaseFee[1]; after.Cmp(d.head().BaseFee) != 0 {
		t.Errorf("up to the block before, the next base fee is %d instead of the newest block's %d", after, d.head().BaseFee)
	}
	if _, refusal := d.send(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(price - 1)}); !strings.Contains(refusal, "max fee per gas less than block base fee") {
		t.Errorf("a cap below the announced price: %s", refusal)
	}
	tight := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: suggested.ToInt()})
	if d.receiptOf(tight) != nil {
		t.Error("a cap of the announced price does not wait")
	}
	d.recover()
	d.text("evm_mine")
	if d.receiptOf(tight) == nil {
		t.Error("the transaction still waits after the price fell")
	}
	d.trouble(`{"priceRise":50}`)
	d.call(&fee, "eth_baseFee")
	r := d.paysWith(21_000)
	most := d.blockAt(r.BlockNumber.String()).BaseFeePerGas.ToInt()
	if paid := new(big.Int).Sub(r.EffectiveGasPrice.ToInt(), common.Big1); paid.Cmp(fee.ToInt()) <= 0 || paid.Cmp(most) > 0 {
		t.Errorf("announced %d, paid %d, at most %d", fee.ToInt(), paid, most)
	}
	d.verify()
}

// TestASilentWebSocket: a transaction is carried out without an answer, and other calls are answered until the connection is reset.
func TestASilentWebSocket(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnetWith(t, w, w.Networks[0].CChain(), handlers.Options{Network: "mainnet", Follows: true})
	if err := d.server.Follow(t.Context(), fault.Repeat(fault.List{{Kind: "silent", Times: 1, On: "eth_sendRawTransaction", Key: "*", Nth: 1}})); err != nil {
		t.Fatal(err)
	}
	tx := d.sign(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	socket, err := ethclient.Dial(d.rpc("ws", "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	since, sent := time.Now(), make(chan error, 1)
	go func() { sent <- socket.SendTransaction(t.Context(), tx) }()
	for d.receiptOf(tx.Hash()) == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := socket.BlockNumber(t.Context()); err != nil {
		t.Errorf("another call: %v", err)
	}
	if err := <-sent; err == nil || time.Since(since) < 5*time.Second {
		t.Errorf("after %s: %v", time.Since(since), err)
	}
}

// TestRefusedFaults: impossible faults are refused with a reason, and nothing changes.
func TestRefusedFaults(t *testing.T) {
	t.Parallel()
	since, before := tinyWorld(t), seedtest.Copy(t, 1, "helicon=never")
	for _, c := range []struct {
		before     bool
		body, want string
	}{
		{true, `{"priceRise":50}`, "until Helicon, the C-Chain of mainnet executes and settles blocks when it accepts them"},
		{true, `{"executionLag":"10s"}`, "until Helicon"},
		{false, `{"executionLag":"soon"}`, "executionLag: lag \\\"soon\\\" is not allowed"},
		{false, `{"executionLag":"-1s"}`, "executionLag: lag"},
		{false, `{"settlementLag":"4s"}`, "settlementLag: \\\"4s\\\" is not allowed: expected text such as 1m, from 5s to 24h0m0s, or 0"},
		{false, `{"settlementLag":"25h"}`, "settlementLag"},
		{false, `{"settlementLag":"5 blocks"}`, "settlementLag"},
		{false, `{"priceRise":-1}`, "priceRise"},
		{false, `{"priceRise":100001}`, "priceRise"},
	} {
		w := since
		if c.before {
			w = before
		}
		d := newDevnet(t, w, w.Networks[0].CChain())
		if status, _, text := d.control("/sim/node", c.body); status != http.StatusBadRequest || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %s", c.body, status, text, c.want)
		}
		if _, _, text := d.control("/sim/node", ""); !strings.Contains(text, `"executionLag":"0","settlementLag":"0","priceRise":0`) {
			t.Errorf("after %s: %s", c.body, text)
		}
	}
}

// TestTheWayOfATransaction compares /sim/transactions with the receipt, the block and another client's trace.
func TestTheWayOfATransaction(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	c, l1 := w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]
	for _, d := range []*devnet{newDevnet(t, w, c), newDevnet(t, w, l1)} {
		hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Gas: 500_000})
		r, chain := d.receiptOf(hash), d.chain == c
		_, way, text := d.control("/sim/transactions/"+hash.Hex(), "")
		fee := new(big.Int).Mul(r.GasUsed.ToInt(), r.EffectiveGasPrice.ToInt())
		status, charged := "settled", "21000"
		if chain {
			status, charged = "executed", "250000"
		}
		for name, want := range map[string]string{
			"status": status, "gasLimit": "500000", "gasUsed": "21000", "gasCharged": charged, "pricePaid": r.EffectiveGasPrice.ToInt().String(), "feePaid": fee.String(),
			"block": r.BlockNumber.ToInt().String(), "priceBound": new(big.Int).Add(d.blockAt(r.BlockNumber.String()).BaseFeePerGas.ToInt(), common.Big1).String(),
		} {
			if way[name] != want {
				t.Errorf("chain %d: %s is %v, want %s: %s", d.chain.Row.EVMID, name, way[name], want, text)
			}
		}
		if !chain {
			continue
		}
		d.control("/sim/clock", `{"advance":"6s"}`)
		if _, way, text = d.control("/sim/transactions/"+hash.Hex(), ""); way["status"] != "settled" || way["settledBy"] != fmt.Sprint(d.number("latest")) {
			t.Errorf("after six seconds: %s", text)
		}
	}
	d := newDevnet(t, w, c)
	if status, _, text := d.control("/sim/transactions/"+common.Hash{1}.Hex(), ""); status != http.StatusNotFound {
		t.Errorf("an unknown transaction: %d %s", status, text)
	}
	if status, _, text := d.control("/sim/transactions/0x12", ""); status != http.StatusBadRequest {
		t.Errorf("no hash: %d %s", status, text)
	}
}
