package eth_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/verify/verifytest"
)

// batchStatus is the result of wallet_getCallsStatus.
type batchStatus struct {
	Version, ID, ChainID string
	Status               int
	Atomic               bool
	Receipts             []struct {
		Logs                       []*types.Log
		Status, GasUsed            string
		BlockHash, TransactionHash common.Hash
		BlockNumber                hexutil.Uint64
	}
}

// batcher is a client that sends batches.
type batcher struct {
	*nodetest.Chain
	token *common.Address
}

// pack encodes a call of a contract's artifact.
func (b *batcher) pack(artifact, method string, args ...any) hexutil.Bytes {
	b.Helper()
	a, err := contracts.Load(artifact)
	if err != nil {
		b.Fatal(err)
	}
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// to is one call of a batch.
func to(address *common.Address, data hexutil.Bytes) map[string]any {
	return map[string]any{"to": address, "data": data}
}

// request is the parameter of wallet_sendCalls.
func (b *batcher) request(atomic bool, calls ...map[string]any) map[string]any {
	return map[string]any{"version": "2.0.0", "from": b.From, "chainId": hexutil.Uint64(b.Chain.Chain.Row.EVMID), "atomicRequired": atomic, "calls": calls}
}

// batch sends a batch and returns its id, or the error.
func (b *batcher) batch(request map[string]any) (id, refusal string) {
	b.Helper()
	var result struct{ ID string }
	if err := b.Try(&result, "wallet_sendCalls", request); err != nil {
		refusal = err.Error()
	}
	return result.ID, refusal
}

func (b *batcher) status(id string) (s batchStatus) {
	b.Helper()
	b.Call(&s, "wallet_getCallsStatus", id)
	if s.ID != id || s.Version != "2.0.0" || s.ChainID != hexutil.EncodeUint64(b.Chain.Chain.Row.EVMID) {
		b.Errorf("status of %s: %+v", id, s)
	}
	for _, r := range s.Receipts {
		var receipt types.Receipt
		if b.Call(&receipt, "eth_getTransactionReceipt", r.TransactionHash); receipt.BlockHash != r.BlockHash || hexutil.EncodeUint64(receipt.Status) != r.Status || len(receipt.Logs) != len(r.Logs) {
			b.Errorf("receipt %+v, want %+v", r, receipt)
		}
	}
	return s
}

// outcome writes a batch's status and those of its receipts.
func (s *batchStatus) outcome() string {
	text := fmt.Sprint(s.Status, " ")
	for _, r := range s.Receipts {
		text += strings.TrimPrefix(r.Status, "0x")
	}
	return text
}

func (b *batcher) allowance() *big.Int {
	b.Helper()
	var result hexutil.Bytes
	b.Call(&result, "eth_call", to(b.token, b.pack("Token", "allowance", b.From, b.From)), "latest")
	return new(big.Int).SetBytes(result)
}

// TestBatchesOfCalls sends batches on a C-Chain and on an L1.
func TestBatchesOfCalls(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	for _, c := range w.Chains {
		if c.Row.EVMID != 43114 && c.Row.EVMID != 70411 {
			continue
		}
		t.Run(c.Row.Name, func(t *testing.T) {
			b := &batcher{Chain: nodetest.Open(t, w, c)}
			b.token = b.Contract("usdx")
			b.together()
			b.orNone()
			b.oneByOne()
			b.waits()
			b.impersonated()
			b.refusals()
			verifytest.Sound(t, w)
		})
	}
}

// together: an approval and the transfer that needs it are in one block, with the gas they use and nothing else.
func (b *batcher) together() {
	head, nonce, held := b.Head().Number, b.Nonce(), b.allowance()
	approve, transfer := b.pack("Token", "approve", b.From, big.NewInt(77)), b.pack("Token", "transferFrom", b.From, someone, big.NewInt(77))
	if held.Sign() != 0 {
		b.Fatal("alice may spend her own tokens already")
	}
	id, refusal := b.batch(b.request(true, to(b.token, approve), to(b.token, transfer), map[string]any{"to": someone, "value": "0x5"}))
	s := b.status(id)
	if refusal != "" || !s.Atomic || s.outcome() != "200 111" {
		b.Fatalf("%s %s %+v", refusal, s.outcome(), s)
	}
	if b.Head().Number != head+1 || b.Nonce() != nonce+3 || b.allowance().Sign() != 0 {
		b.Errorf("block %d after %d, nonce %d after %d, allowance %s", b.Head().Number, head, b.Nonce(), nonce, b.allowance())
	}
	for i, r := range s.Receipts {
		tx := b.Transaction(r.TransactionHash)
		if uint64(r.BlockNumber) != head+1 || tx.Nonce() != nonce+uint64(i) {
			b.Errorf("transaction %d: %+v", i, r)
			continue
		}
		if used, _ := hexutil.DecodeUint64(r.GasUsed); tx.Gas() < used || tx.Gas() > used*2 {
			b.Errorf("transaction %d: gas %d, used %d", i, tx.Gas(), used)
		}
	}
	if logs := s.Receipts[1].Logs; len(logs) == 0 || logs[0].Address != *b.token {
		b.Errorf("logs %+v", logs)
	}
}

// orNone: if an atomic batch fails, nothing is sent, its error is the call's, and its id stays free.
func (b *batcher) orNone() {
	head, nonce := b.Head().Number, b.Nonce()
	request := b.request(true, map[string]any{"to": someone, "value": "0x5"}, to(b.Contract("reverter"), b.pack("Reverter", "withReason", "no snow")))
	request["id"] = "mine"
	if _, refusal := b.batch(request); refusal != "3 call 1: execution reverted: no snow" {
		b.Error(refusal)
	}
	if b.Head().Number != head || b.Nonce() != nonce {
		b.Error("something was sent")
	}
	if err := b.Problem("wallet_getCallsStatus", "mine"); err != `5730 there is no batch "mine"` {
		b.Error(err)
	}
	request["atomicRequired"] = false
	id, refusal := b.batch(request)
	if s := b.status(id); refusal != "" || id != "mine" || s.Atomic || s.outcome() != "600 10" {
		b.Errorf("%s %s %s", id, refusal, s.outcome())
	}
	if _, refusal := b.batch(request); refusal != `5720 there is a batch "mine" already` {
		b.Error(refusal)
	}
	b.Text("wallet_showCallsStatus", "mine")
}

// oneByOne: without atomicity each call gets its own block and may rely on earlier ones.
func (b *batcher) oneByOne() {
	head := b.Head().Number
	approve, transfer := b.pack("Token", "approve", b.From, big.NewInt(5)), b.pack("Token", "transferFrom", b.From, someone, big.NewInt(5))
	fails := to(b.Contract("reverter"), b.pack("Reverter", "withoutData"))
	for _, c := range []struct {
		calls []map[string]any
		want  string
	}{
		{[]map[string]any{to(b.token, approve), to(b.token, transfer)}, "200 11"}, {[]map[string]any{fails, fails}, "500 00"}, {[]map[string]any{fails, to(b.token, approve)}, "600 01"},
	} {
		id, refusal := b.batch(b.request(false, c.calls...))
		if s := b.status(id); refusal != "" || s.Atomic || s.outcome() != c.want {
			b.Errorf("%s %s, want %s", refusal, s.outcome(), c.want)
		}
		if head += 2; b.Head().Number != head {
			b.Errorf("block %d, want %d", b.Head().Number, head)
		}
	}
}

// waits: without automine a batch cannot be atomic; a batch that isn't waits, and is mined, dropped or undone with the world.
func (b *batcher) waits() {
	capabilities := func() string { return b.Text("wallet_getCapabilities", b.From) }
	pays := map[string]any{"to": someone, "value": "0x5"}
	supported := fmt.Sprintf(`{"%#x":{"atomic":{"status":"supported"}}}`, b.Chain.Chain.Row.EVMID)
	if got := capabilities(); got != supported {
		b.Errorf("%s, want %s", got, supported)
	}
	var snapshot string
	b.Call(&snapshot, "evm_snapshot")
	b.Text("evm_setAutomine", false)
	if got := capabilities(); got != strings.Replace(supported, "supported", "unsupported", 1) {
		b.Error(got)
	}
	if _, refusal := b.batch(b.request(true, pays)); !strings.HasPrefix(refusal, "5760 ") {
		b.Error(refusal)
	}
	id, _ := b.batch(b.request(false, pays, pays))
	check := func(want string) {
		b.Helper()
		if s := b.status(id); s.outcome() != want {
			b.Errorf("%s, want %s", s.outcome(), want)
		}
	}
	check("100 ")
	b.Text("anvil_mine")
	check("200 11")
	mined := id
	id, _ = b.batch(b.request(false, pays))
	check("100 ")
	b.Text("anvil_dropAllTransactions")
	check("400 ")
	b.Text("evm_setAutomine", true)
	b.Text("evm_revert", snapshot)
	id = mined
	check("400 ")
	if got := b.Text("wallet_getCapabilities", b.From, []string{"0x1"}); got != "{}" {
		b.Error(got)
	}
}

// impersonated: a contract sends a batch, too.
func (b *batcher) impersonated() {
	treasury := *b.Contract("multicall")
	b.Text("anvil_setBalance", treasury, "0xde0b6b3a7640000")
	request := b.request(true, map[string]any{"to": someone, "value": "0x5"}, to(b.token, b.pack("Token", "approve", b.From, big.NewInt(3))))
	request["from"] = treasury
	if _, refusal := b.batch(request); !strings.HasPrefix(refusal, "4100 the node does not send for ") {
		b.Error(refusal)
	}
	b.Text("anvil_impersonateAccount", treasury)
	id, refusal := b.batch(request)
	if s := b.status(id); refusal != "" || s.outcome() != "200 11" {
		b.Errorf("%s %s", refusal, s.outcome())
	}
	b.Text("anvil_stopImpersonatingAccount", treasury)
}

// refusals: every mistake has EIP-5792's code.
func (b *batcher) refusals() {
	pays := map[string]any{"to": someone, "value": "0x5"}
	change := func(change func(map[string]any)) map[string]any {
		request := b.request(true, pays)
		change(request)
		return request
	}
	set := func(key string, value any) map[string]any {
		return change(func(r map[string]any) { r[key] = value })
	}
	head := b.Head().Number
	for want, request := range map[string]map[string]any{
		`-32602 version "3" is not supported: want "2.0.0"`:                                  set("version", "3"),
		"-32602 chainId is missing":                                                          change(func(r map[string]any) { delete(r, "chainId") }),
		fmt.Sprintf("5710 this endpoint serves chain %#x, not 0x1", b.Chain.Chain.Row.EVMID): set("chainId", "0x1"),
		"-32602 atomicRequired is missing":                                                   change(func(r map[string]any) { delete(r, "atomicRequired") }),
		"-32602 calls is empty":                                                              set("calls", []any{}),
		"5740 the batch has 101 calls: expected at most 100":                                 set("calls", slices.Repeat([]map[string]any{pays}, 101)),
		"-32602 an id has 1 to 4096 bytes":                                                   set("id", strings.Repeat("x", 4097)),
		"5700 the capability paymasterService is not supported":                              set("capabilities", map[string]any{"paymasterService": map[string]any{"url": "http://x"}}),
		"-32602 call 0 has neither to nor data":                                              set("calls", []any{map[string]any{"value": "0x1"}}),
		"4100 the node does not send for 0x000000000000000000000000000000000050e50E; let it with anvil_impersonateAccount": set("from", someone),
		"-38014 insufficient funds": set("calls", []any{map[string]any{"to": someone, "value": "0xffffffffffffffffffffffffffffffff"}}),
		"-32602 invalid argument 0": set("chainId", "C"),
	} {
		if _, refusal := b.batch(request); !strings.HasPrefix(refusal, want) {
			b.Errorf("%s, want %s", refusal, want)
		}
	}
	optional := set("capabilities", map[string]any{"paymasterService": map[string]any{"url": "http://x", "optional": true}})
	if _, refusal := b.batch(optional); refusal != "" || b.Head().Number != head+1 {
		b.Errorf("%s, block %d after %d", refusal, b.Head().Number, head)
	}
	if got := b.Problem("wallet_getCapabilities", someone); !strings.HasPrefix(got, "4100 ") {
		b.Error(got)
	}
}

// TestTheWalletsChainsAndTokens asks for chains, tokens and permissions as apps ask MetaMask, with parameters in a list and, for an asset, as an
// object.
func TestTheWalletsChainsAndTokens(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d, l1 := nodetest.Open(t, w, w.Networks[0].CChain()), ids.ID(w.ChainNamed("70411").Row.BlockchainID).String()
	usdx, alice := d.Contract("usdx").Hex(), strings.ToLower(d.From.Hex())
	chain := func(id, symbol, more string) string {
		return `[{"chainId":"` + id + `","chainName":"x","rpcUrls":["http://127.0.0.1"],"nativeCurrency":{"name":"x","symbol":"` + symbol + `","decimals":18}` + more + `}]`
	}
	asset := func(kind, address, more string) string {
		return `{"type":"` + kind + `","options":{"address":"` + address + `"` + more + `}}`
	}
	for _, c := range []struct{ method, params, want string }{
		{"wallet_switchEthereumChain", `[{"chainId":"0xa86a"}]`, `null`},
		{"wallet_switchEthereumChain", `[{"chainId":"0x1130b"}]`, `4901 chain 0x1130b (Icefall) is at /mainnet/ext/bc/` + l1 + `/rpc: an endpoint serves one chain`},
		{"wallet_switchEthereumChain", `[{"chainId":"0x1"}]`, `4902 Unrecognized chain ID 0x1: this world has no such chain`},
		{"wallet_switchEthereumChain", `[{"chainId":1}]`, `-32602`},
		{"wallet_addEthereumChain", chain("0xa86a", "AVAX", ""), `null`},
		{"wallet_addEthereumChain", chain("0x1130b", "ICE", ""), `null`},
		{"wallet_addEthereumChain", chain("0x1130b", "AVAX", ""), `nativeCurrency.symbol is "AVAX", but the chain's is "ICE"`},
		{"wallet_addEthereumChain", chain("0x1", "ETH", ""), `4901 this world has no chain 0x1`},
		{"wallet_addEthereumChain", chain("0xa86a", "AVAX", `,"iconUrls":["ftp://x"]`), `"ftp://x" is not an http or https URL`},
		{"wallet_addEthereumChain", `[{"chainId":"0xa86a"}]`, `rpcUrls is empty`},
		{"wallet_watchAsset", asset("ERC20", usdx, `,"symbol":"USDX","decimals":6`), `true`},
		{"wallet_watchAsset", "[" + asset("ERC20", usdx, `,"symbol":"USDX","decimals":"6"`) + "]", `true`},
		{"wallet_watchAsset", asset("ERC20", usdx, `,"symbol":"USDC"`), `does not match the symbol in the contract (USDX)`},
		{"wallet_watchAsset", asset("ERC20", usdx, `,"decimals":18`), `(18) do not match the decimals in the contract (6)`},
		{"wallet_watchAsset", asset("ERC20", someone.Hex(), ""), `is no ERC-20 token`},
		{"wallet_watchAsset", asset("ERC721", d.Contract("collection").Hex(), `,"tokenId":"999999"`), `none of the node's accounts owns token 999999`},
		{"wallet_watchAsset", asset("ERC721", usdx, ""), `options.tokenId is not a decimal number`},
		{"wallet_watchAsset", asset("ERC404", usdx, ""), `the asset type "ERC404" is not supported`},
		{"wallet_watchAsset", `{"type":"ERC20"}`, `options.address is missing`},
		{"wallet_watchAsset", `7`, `non-array args`},
		{"eth_getBalance", `{"address":"` + usdx + `"}`, `non-array args`},
		{"wallet_requestPermissions", `[{"eth_accounts":{}}]`, `[{"parentCapability":"eth_accounts","caveats":[{"type":"restrictReturnedAccounts","value":["` + alice},
		{"wallet_requestPermissions", `[{"snap":{}}]`, `the only permissions are eth_accounts and endowment:permitted-chains`},
		{"wallet_requestPermissions", `[{}]`, `no permission is asked for`},
		{"wallet_getPermissions", `[]`, `{"parentCapability":"endowment:permitted-chains","caveats":[{"type":"restrictNetworkSwitching","value":["0xa86a"]}]}]`},
		{"wallet_revokePermissions", `[{"eth_accounts":{}}]`, `null`},
	} {
		answer, err := d.Ask(c.method, json.RawMessage(c.params))
		if err != nil {
			answer = json.RawMessage(err.Error())
		}
		if !strings.Contains(string(answer), c.want) {
			t.Errorf("%s %s: %s\nwant %s", c.method, c.params, answer, c.want)
		}
	}
}
