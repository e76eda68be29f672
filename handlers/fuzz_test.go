// Fuzz targets through the server's front door: no request may cause an internal error.

package handlers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/sim"
)

// fuzzed is a server that gets random requests.
type fuzzed struct {
	h      http.Handler
	failed *failures
}

func newFuzzed(f *testing.F, w *sim.World, rule permit.Rule) *fuzzed {
	failed := &failures{}
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Log: slog.New(failed), Permit: rule})
	if err != nil {
		f.Fatal(err)
	}
	return &fuzzed{h, failed}
}

// signedOnly is the permission of a server beyond loopback, where only signed transactions change the world.
var signedOnly = permit.Rule{Exposed: true}

// send sends a request. No answer may report an internal failure.
func (s *fuzzed) send(t *testing.T, method, path, query, body string) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
	r.URL, r.RequestURI, r.Host = &url.URL{Path: path, RawQuery: query}, (&url.URL{Path: path, RawQuery: query}).RequestURI(), "localhost"
	r.Header.Set("Content-Type", "application/json")
	if path == "/api" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	if w.Code >= 500 || len(s.failed.lines) > 0 {
		t.Errorf("%s %q %q %q: %d %.500s; the log has %.500q", method, path, query, body, w.Code, w.Body, s.failed.lines)
		s.failed.lines = nil
	}
	return w
}

// FuzzREST sends parameters of the Data and Metrics API, including page tokens and addresses, and bodies, including those of exports and webhooks.
// Nothing runs exports or webhooks here.
func FuzzREST(f *testing.F) {
	s := newFuzzed(f, makeTiny(f, 1), permit.Rule{})
	const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	for _, c := range [][3]string{
		{"/v1/chains/43114/addresses/" + alice + "/transactions", "pageSize=5&startBlock=1&sortOrder=asc", ""},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20", "blockNumber=10&pageToken=9f9e1d25-14a9-49f4-8742-fd4bf12f7cd8", ""},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions", "addresses=avax1kxclk5ffd40x9mesfnjp5vyly8mljyxd4eqzs2&txTypes=BaseTx", ""},
		{"/v1/networks/mainnet/validators", "nodeIds=NodeID-111111111111111111116DBWJs&validationStatus=active", ""},
		{"/v1/networks/mainnet/blockchains/p-chain/utxos", "addresses=P-avax1kxclk5ffd40x9mesfnjp5vyly8mljyxd4eqzs2&minUtxoAmount=1", ""},
		{"/v2/chains/43114/metrics/txCount", "timeInterval=day&startTimestamp=1792627200&endTimestamp=1793427200", ""},
		{"/v1/operations/transactions:export", "", `{"type":"TRANSACTION_EXPORT_EVM","firstDate":"2026-10-20","options":{"addresses":["` + alice + `"],"includeChains":["43114"]}}`},
		{"/v1/signatureAggregator/mainnet/aggregateSignatures", "", `{"message":"0x00","justification":"0x","quorumPercentage":67}`},
		{"/v1/icm/messages", "sourceBlockchainId=x", ""},
		{"/v1/webhooks", "", `{"eventType":"address_activity","url":"http://127.0.0.1:1/","chainId":"43114","metadata":{"addresses":["` + alice + `"],"eventSignatures":["0x00"]}}`},
		{"/v2/lookingGlass/compositeQuery", "", `{"operator":"AND","subQueries":[{"id":"holders","type":"Erc20Holders"}]}`},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, path, query, body string) {
		if !strings.HasPrefix(path, "/v1") && !strings.HasPrefix(path, "/v2") {
			path = "/v1" + path
		}
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		s.send(t, method, path, query, body)
	})
}

// FuzzEtherscan sends queries and forms to the Etherscan-shaped API. Every answer has that shape.
func FuzzEtherscan(f *testing.F) {
	s := newFuzzed(f, makeTiny(f, 1), signedOnly)
	const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	for _, c := range [][2]string{
		{"module=account&action=txlist&sort=desc&page=1&offset=5&address=" + alice, ""},
		{"module=account&action=tokentx&startblock=0x1&endblock=99999999&address=" + alice, ""},
		{"module=account&action=balancemulti&tag=latest&address=" + alice + "," + alice, ""},
		{"module=logs&action=getLogs&fromBlock=0&toBlock=latest&topic0=0x12&topic2=0x&topic0_2_opr=or", ""},
		{"module=block&action=getblocknobytime&closest=after&timestamp=1792627200", ""},
		{"chainid=43113", "module=contract&action=getcontractcreation&contractaddresses=" + alice},
		{"module=token&action=tokenholderlist&contractaddress=" + alice, ""},
		{"module=proxy&action=eth_call&tag=latest&data=0x&to=" + alice, ""},
		{"module=stats&action=tokensupply&blockno=5&contractaddress=" + alice, ""},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, query, form string) {
		method := http.MethodGet
		if form != "" {
			method = http.MethodPost
		}
		answer := s.send(t, method, "/api", query, form).Body.Bytes()
		var shape struct{ Status, Message, JSONRPC string }
		if err := json.Unmarshal(answer, &shape); err != nil || shape.Status == "" && shape.JSONRPC == "" {
			t.Errorf("%q %q: %.300q", query, form, answer)
		}
	})
}

// FuzzControl sends bodies to operations on the clock, faults and requests of a read-only world, whose clock stands still.
func FuzzControl(f *testing.F) {
	path := filepath.Join(f.TempDir(), "world.db")
	if err := makeTiny(f, 1).DB.WriteCopy(f.Context(), path); err != nil {
		f.Fatal(err)
	}
	w, err := sim.OpenReadOnly(f.Context(), path)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	s := newFuzzed(f, w, permit.Rule{})
	paths := []string{"/sim/index", "/sim/node", "/sim/requests:count", "/sim/requests:verify", "/sim/snapshots", "/sim/clock"}
	for i, body := range []string{
		`{"lag":"5 blocks","chain":"43114"}`, `{"network":"fuji","notBootstrapped":["P"],"benched":["NodeID-111111111111111111116DBWJs"]}`,
		`{"operation":"listErc20Balances","status":200}`, `{"method":"eth_call","times":{"atLeast":2}}`, `{"name":"x"}`, `{"set":"2020-01-01T00:00:00Z","wait":true}`,
		`{"lag":"30s","network":"mainnet"}`, `{"notSigning":[]}`,
	} {
		f.Add(uint8(i), body)
	}
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		s.send(t, http.MethodPost, paths[int(path)%len(paths)], "", body)
	})
}

// FuzzJSONRPC sends bodies to the node's interfaces.
func FuzzJSONRPC(f *testing.F) {
	s := newFuzzed(f, makeTiny(f, 1), signedOnly)
	paths := []string{"/ext/bc/C/rpc", "/ext/bc/P", "/ext/bc/X", "/ext/info", "/ext/bc/C/avax", "/ext/index/X/tx", "/ext/bc/proposervm"}
	for i, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",true]}`, `{"jsonrpc":"2.0","id":1,"method":"platform.getUTXOs","params":{"addresses":["P-avax1kxclk5ffd40x9mesfnjp5vyly8mljyxd4eqzs2"]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"avm.getTx","params":{"txID":"x","encoding":"json"}}`, `{"jsonrpc":"2.0","id":1,"method":"info.peers","params":[{"nodeIDs":[]}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"avax.getUTXOs","params":{}}`, `[{"jsonrpc":"2.0","id":1,"method":"index.getLastAccepted"},{}]`, `{`,
	} {
		f.Add(uint8(i), body)
	}
	f.Add(uint8(0), `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","data":"0x"},"latest",{}]}`)
	f.Add(uint8(0), `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x1","topics":[[null]]}]}`)
	f.Add(uint8(0), `{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[{},"latest",{"tracer":"callTracer"}]}`)
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		s.send(t, http.MethodPost, paths[int(path)%len(paths)], "", body)
	})
}

// FuzzTransactions sends signed transactions of the EVM (RLP), P, X and C, and signed messages to check.
func FuzzTransactions(f *testing.F) {
	s := newFuzzed(f, makeTiny(f, 1), signedOnly)
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		f.Fatal(err)
	}
	id, to := big.NewInt(43114), crypto.PubkeyToAddress(key.PublicKey)
	for _, data := range []types.TxData{
		&types.LegacyTx{Nonce: 9, GasPrice: big.NewInt(1e9), Gas: 21000, To: &to, Value: big.NewInt(1)},
		&types.DynamicFeeTx{ChainID: id, Nonce: 1 << 40, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 90000, Data: []byte{0x60, 0}},
		&types.AccessListTx{ChainID: id, GasPrice: big.NewInt(1), Gas: 50000, To: &to, AccessList: types.AccessList{{Address: to}}},
	} {
		raw, err := types.MustSignNewTx(key, types.LatestSignerForChainID(id), data).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(0), raw)
	}
	for i := range uint8(5) {
		f.Add(i, []byte{0, 0, 0, 0, 0, i, 0, 0, 0, 1})
	}
	calls := []struct{ path, method, name string }{
		{"/ext/bc/C/rpc", "eth_sendRawTransaction", ""}, {"/ext/bc/P", "platform.issueTx", "tx"}, {"/ext/bc/X", "avm.issueTx", "tx"}, {"/ext/bc/C/avax", "avax.issueTx", "tx"},
		{"/ext/bc/C/rpc", "eth_decodeRawTransaction", ""},
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		c := calls[int(which)%len(calls)]
		text := hexutil.Encode(raw)
		var params any = []string{text}
		if c.name != "" {
			checked, err := formatting.Encode(formatting.Hex, raw)
			if err != nil {
				t.Fatal(err)
			}
			params = map[string]string{c.name: checked, "encoding": "hex"}
		}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": c.method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		s.send(t, http.MethodPost, c.path, "", string(body))
	})
}
