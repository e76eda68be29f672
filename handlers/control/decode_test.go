package control_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/control"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
)

// TestDecode decodes calls, reverts and logs of every kind of contract, and refuses data that fits nothing.
func TestDecode(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	s, err := rest.New(rest.Options{Clock: w.Clock, Revision: w.Revision, WorldKey: []byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	if err := control.RegisterDecode(s, w, artifacts.New()); err != nil {
		t.Fatal(err)
	}
	ask := func(body string) string {
		r, answer := httptest.NewRequest(http.MethodPost, "/sim/decode", strings.NewReader(body)), httptest.NewRecorder()
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(answer, r)
		return answer.Body.String()
	}
	const alice, bob = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	token, err := contracts.Load("Token")
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := contracts.Load("Exchange")
	if err != nil {
		t.Fatal(err)
	}
	packed := func(raw []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return hexutil.Encode(raw)
	}
	to := common.HexToAddress(bob)
	transfer := packed(token.ABI.Pack("transfer", to, big.NewInt(1_000_000)))
	liquidity := packed(exchange.ABI.Pack("addLiquidity", big.NewInt(5), big.NewInt(6)))
	word := func(raw []byte) string { return hexutil.Encode(common.LeftPadBytes(raw, 32)) }
	creation := packed(token.ABI.Pack("", "Twin", "TWIN", uint8(2), big.NewInt(500), to))
	for _, c := range []struct{ body, want string }{
		{`{"data":"` + transfer + `"}`, `{"kind":"call","signature":"transfer(address,uint256)","arguments":[{"name":"to","type":"address","value":"` + bob + `"},{"name":"value","type":"uint256","value":"1000000"}]}`},
		{`{"data":"` + liquidity + `"}`, `{"kind":"call","contract":"Exchange","signature":"addLiquidity(uint256,uint256)"`},
		{`{"data":"0xe450d38c` + strings.Repeat("0", 24) + strings.ToLower(bob[2:]) + strings.Repeat("0", 126) + `0507"}`, `"kind":"error"`},
		{`{"topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef","` + word(common.FromHex(alice)) + `","` + word(to[:]) + `"],"data":"` + word([]byte{7}) + `"}`,
			`"kind":"event","signature":"Transfer(address,address,uint256)","arguments":[{"name":"from","type":"address","value":"` + alice + `"}`},
		{`{"data":"` + hexutil.Encode(token.Bytecode) + creation[2:] + `"}`, `{"kind":"creation","contract":"Token","arguments":[]}`},
		{`{"data":"0x12345678"}`, `"statusCode":404`},
		{`{"data":"0x"}`, `"statusCode":404`},
		{`{}`, `"statusCode":404`},
		{`{"data":"` + transfer[:len(transfer)-2] + `"}`, `"statusCode":404`},
		{`{"data":"0x1"}`, `"statusCode":400`},
		{`{"data":"transfer"}`, `"statusCode":400`},
		{`{"topics":["0x12"]}`, `expected at most four hashes`},
		{`{"data":"0x12345678","address":"0x12"}`, `"statusCode":400`},
		{`{"data":"0x12345678","address":"` + alice + `","chain":"Nowhere"}`, `there is no EVM chain`},
	} {
		if got := ask(c.body); !strings.Contains(got, c.want) || !json.Valid([]byte(got)) {
			t.Errorf("%.200s: %.600s\nwant %s", c.body, got, c.want)
		}
	}
	rows, err := w.DB.Contracts(t.Context(), w.Chains[0].Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range rows { // the contract's own functions come first
		if k.Role == "usdx" {
			got := ask(`{"data":"` + transfer + `","address":"` + common.BytesToAddress(k.Address).Hex() + `"}`)
			if !strings.Contains(got, `"contract":"Token"`) {
				t.Error(got)
			}
		}
	}
}
