package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/parse"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// paid is an answer of the faucet.
type paid struct {
	control.FaucetPayment
	StatusCode int
	Message    any
}

// faucet is a server with a faucet.
type faucet struct{ *server }

func newFaucet(t *testing.T, w *sim.World, rule permit.Rule) *faucet {
	t.Helper()
	return &faucet{serve(t, w, rule, func(s *rest.Server) error { return control.RegisterFaucet(s, w, seed.NewFaucet(w), &rule) })}
}

// pay asks for a payment.
func (f *faucet) pay(body string) (p paid) {
	f.Helper()
	if _, text := f.ask(http.MethodPost, "/sim/faucet", body); json.Unmarshal([]byte(text), &p) != nil {
		f.Fatalf("%s: %s", body, text)
	}
	return p
}

// balance returns what the recipient has of what was paid, according to the chain.
func (f *faucet) balance(p paid) *big.Int {
	f.Helper()
	if p.ChainID == "" {
		return f.primaryBalance(p)
	}
	c := f.world.ChainNamed(p.ChainID)
	head, err := c.Head(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	to := common.HexToAddress(p.To)
	if p.Token == "" {
		states, err := c.State(f.Context(), head)
		if err != nil {
			f.Fatal(err)
		}
		return states.GetBalance(to).ToBig()
	}
	token, input := common.HexToAddress(p.Token), hexutil.Bytes(append(common.FromHex("0x70a08231"), common.LeftPadBytes(to[:], 32)...)) // balanceOf
	result, err := c.Call(f.Context(), head, &reader.Call{To: &token, Input: &input}, reader.Overrides{})
	if err != nil || len(result.Return()) != 32 {
		f.Fatal(result, err)
	}
	return new(big.Int).SetBytes(result.Return())
}

// primaryBalance adds up the recipient's outputs of what was paid: on C, those that the X-Chain exported to it.
func (f *faucet) primaryBalance(p paid) *big.Int {
	f.Helper()
	n := f.world.NetworkNamed(p.Network)
	chain := map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain, "C": txs.CChain}[p.Chain]
	source, asset := chain, n.Rules.AVAXAssetID
	if chain == txs.CChain {
		source = txs.XChain
	}
	if p.Token != "" {
		var err error
		if asset, err = ids.FromString(p.Token); err != nil {
			f.Fatal(err)
		}
	}
	_, _, address, err := parse.Address(p.To)
	if err != nil {
		f.Fatal(err)
	}
	rows, err := n.DB.UnspentUTXOs(f.Context(), address, n.Chain(chain), n.Chain(source), store.NewUTXONumber(n.Chain(source)+1, 0, 0), 100_000)
	if err != nil {
		f.Fatal(err)
	}
	sum := new(big.Int)
	for i := range rows {
		u, err := txs.ParseUTXO(source, rows[i].Bytes())
		if err != nil {
			f.Fatal(err)
		}
		if u.AssetID == asset {
			sum.Add(sum, new(big.Int).SetUint64(u.Amount()))
		}
	}
	return sum
}

const nobodyAddress = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

// payments lists payments on each kind of chain; want is the amount in the smallest unit.
var payments = []struct{ body, chain, want string }{
	{`{"address":"` + nobodyAddress + `"}`, "mainnet C", "1000000000000000000"},
	{`{"address":"` + nobodyAddress + `","chain":"fuji/C","amount":"0.000000000000000001"}`, "fuji C", "1"},
	{`{"address":"` + nobodyAddress + `","chain":"testnet/C","token":"avax","amount":2}`, "fuji C", "2000000000000000000"},
	{`{"address":"` + nobodyAddress + `","amount":"1.50000000000000000000"}`, "mainnet C", "1500000000000000000"}, // more zeros than AVAX has decimals
	{`{"address":"` + nobodyAddress + `","chain":"43114","token":"USDC","amount":"12.5"}`, "mainnet C", "12500000"},
	{`{"address":"` + nobodyAddress + `","token":"0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E","amount":0.5}`, "mainnet C", "500000"},
	{`{"address":"` + nobodyAddress + `","token":"SNOW","amount":"30000000000"}`, "mainnet C", "30000000000000000000000000000"},
	{`{"address":"` + nobodyAddress + `","chain":"70411","amount":"30000"}`, "mainnet Icefall", "30000000000000000000000"}, // more than ewoq has
	{`{"address":"` + nobodyAddress + `","chain":"Icefall","token":"usdx"}`, "mainnet Icefall", "1000000"},
	{`{"address":"` + nobodyAddress + `","chain":"fuji/C","token":"USDC","amount":"3"}`, "fuji C", "3000000"}, // two tokens have this symbol, one has it as its role
	{`{"address":"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy","amount":"2.5"}`, "mainnet P", "2500000000"},
	{`{"address":"X-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy","chain":"X","token":"AVAX"}`, "mainnet X", "1000000000"},
	{`{"address":"P-fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm"}`, "fuji P", "1000000000"},
	{`{"address":"fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm","chain":"testnet/X"}`, "fuji X", "1000000000"},
	{`{"address":"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy","chain":"P","amount":"150000"}`, "mainnet P", "150000000000000"},
	{`{"address":"C-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"}`, "mainnet C", "1000000000"},
	{`{"address":"X-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"avalanche"}`, "mainnet X", "1000000000"},
	{`{"address":"X-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"weac","amount":"1.5"}`, "mainnet X", "1500000"},              // alice holds it
	{`{"address":"X-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"Harper Credit","amount":"999999"}`, "mainnet X", "99999900"}, // the deployer mints it
	{`{"address":"P-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"Weaver Coin"}`, "mainnet P", "1000000"},
	{`{"address":"P-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"HARC","amount":0.25}`, "mainnet P", "25"},
	{`{"address":"X-fuji14flvw0x8fstzly79tacgsulxvkpv858qsjf0k3","token":"LAMC"}`, "fuji X", "1000000"},
	{`{"address":"P-fuji14flvw0x8fstzly79tacgsulxvkpv858qsjf0k3","token":"CLM","amount":"7"}`, "fuji P", "7"},
	{`{"address":"P-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5"}`, "mainnet P", "1000000000"}, // ewoq gets it from another persona
	{`{"address":"0x8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC"}`, "mainnet C", "1000000000000000000"},
}

// TestFaucetPays: each payment arrives in a block, whose page is named. Two worlds with the same payments are equal, and verify.
func TestFaucetPays(t *testing.T) {
	t.Parallel()
	for name, upgrades := range map[string][]string{"since Helicon": nil, "before Helicon": {"helicon=never"}} {
		var digests [][]byte
		for range 2 {
			w := seedtest.Copy(t, 1, upgrades...)
			f := newFaucet(t, w, permit.Rule{})
			for _, c := range payments {
				first := f.pay(c.body)
				if first.Status != "accepted" || first.Amount != c.want || first.Network+" "+first.Chain != c.chain || first.Block == "" || (first.Note != "") != strings.HasPrefix(first.To, "C-") ||
					!strings.Contains(strings.ToLower(c.body), strings.ToLower(first.To[2:])) {
					t.Fatalf("%s: %s: %+v", name, c.body, first)
				}
				before := f.balance(first)
				second := f.pay(c.body)
				if grown := new(big.Int).Sub(f.balance(second), before); grown.String() != second.Amount {
					t.Errorf("%s: %s: %+v: the balance grows by %s", name, c.body, second, grown)
				}
				if second.TxHash == first.TxHash {
					t.Errorf("%s: %s is paid once", name, c.body)
				}
				if page := second.Page; !strings.HasPrefix(page, "http://localhost/") || !strings.HasSuffix(page, "/tx/"+second.TxHash) {
					t.Errorf("%s: %s: the page is %q", name, c.body, page)
				}
			}
			verifytest.Sound(t, w)
			digests = append(digests, w.Digest())
		}
		if !bytes.Equal(digests[0], digests[1]) {
			t.Errorf("%s: the same payments give %x and %x", name, digests[0], digests[1])
		}
	}
}

// TestFaucetRefuses: an error has the status and the reason, and the world stays as it was.
func TestFaucetRefuses(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	f := newFaucet(t, w, permit.Rule{})
	usdc := "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"
	collection := ""
	rows, err := w.DB.Contracts(t.Context(), w.Chains[0].Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rows {
		if c.Role == "collection" {
			collection = hexutil.Encode(c.Address)
		}
	}
	before := w.Digest()
	const bech32 = "avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"
	for _, c := range []struct {
		status       int
		body, reason string
	}{
		{400, `{}`, "address"},
		{400, `{"address":""}`, "neither"},
		{400, `{"address":"0x12"}`, "40 hexadecimal digits"},
		{400, `{"address":"alice"}`, "neither"},
		{400, `{"address":"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhz"}`, "checksum"},
		{400, `{"address":"` + strings.Repeat("P-avax1", 200) + `"}`, "longer"},
		{400, `{"address":"P-local18jma8ppw3nhx5r4ap8clazz0dps7rv5u00z96u"}`, "local1: mainnet has avax1"},
		{400, `{"address":"P-` + bech32 + `","chain":"fuji/P"}`, "an address on mainnet"},
		{400, `{"address":"P-` + bech32 + `","chain":"X"}`, "not an address of the X-Chain"},
		{400, `{"address":"` + bech32 + `"}`, "chain: give P or X"},
		{400, `{"address":"` + bech32 + `","chain":"Icefall"}`, "no addresses in bech32"},
		{400, `{"address":"` + nobodyAddress + `","chain":"P"}`, "P-avax1"},
		{400, `{"address":"` + nobodyAddress + `","chain":"fuji/X"}`, "X-avax1"},
		{400, `{"address":"` + nobodyAddress + `","chain":"Nowhere"}`, `there is no EVM chain "Nowhere"`},
		{400, `{"address":"` + nobodyAddress + `","chain":"1"}`, "there are 43114"},
		{400, `{"address":"` + nobodyAddress + `","chain":"mainnet/"}`, "no EVM chain"},
		{400, `{"address":"` + nobodyAddress + `","amount":"0"}`, "more than 0"},
		{400, `{"address":"` + nobodyAddress + `","amount":0.0}`, "more than 0"},
		{400, `{"address":"` + nobodyAddress + `","amount":"-1"}`, "decimal number"},
		{400, `{"address":"` + nobodyAddress + `","amount":-1}`, "decimal number"},
		{400, `{"address":"` + nobodyAddress + `","amount":"1,5"}`, "decimal number"},
		{400, `{"address":"` + nobodyAddress + `","amount":"0x10"}`, "decimal number"},
		{400, `{"address":"` + nobodyAddress + `","amount":true}`, "amount"},
		{400, `{"address":"` + nobodyAddress + `","amount":"0.0000000000000000001"}`, "more than 18 decimals"},
		{400, `{"address":"P-` + bech32 + `","amount":"0.0000000001"}`, "more than 9 decimals"},
		{400, `{"address":"` + nobodyAddress + `","amount":"1` + strings.Repeat("0", 78) + `"}`, "more than any token has"},
		{400, `{"address":"` + nobodyAddress + `","amount":"1` + strings.Repeat("0", 500) + `"}`, "decimal number"},
		{400, `{"address":"P-` + bech32 + `","amount":"18446744074"}`, "no output holds that much AVAX"},
		{400, `{"address":"P-` + bech32 + `","token":"USDC"}`, "no asset \"USDC\"; it has AVAX, WEAC"},
		{400, `{"address":"X-fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm","token":"WEAC"}`, "the X-Chain of fuji has no asset"},
		{400, `{"address":"X-` + bech32 + `","token":"MORB"}`, "NFTs"},
		{400, `{"address":"C-` + bech32 + `","token":"WEAC"}`, "the C-Chain imports only AVAX"},
		{400, `{"address":"X-` + bech32 + `","token":"WEAC","amount":"0"}`, "more than 0"},
		{400, `{"address":"X-` + bech32 + `","token":"WEAC","amount":"0.0000001"}`, "more than 6 decimals"},
		{400, `{"address":"P-` + bech32 + `","token":"HARC","amount":"184467440737095516.16"}`, "no output holds that much HARC"},
		{400, `{"address":"` + nobodyAddress + `","token":"NOPE"}`, "tokenlist.json"},
		{400, `{"address":"` + nobodyAddress + `","token":"` + nobodyAddress + `"}`, "not a known token"},
		{400, `{"address":"` + nobodyAddress + `","token":"` + collection + `"}`, "ERC-721"},
		{400, `{"address":"` + nobodyAddress + `","tokens":"USDC"}`, "tokens"},
		{400, `[]`, "body"},
		{409, `{"address":"` + nobodyAddress + `","amount":"57896044618658097711785492504343953926634992332820282019728.792003956564819968"}`, "its richest payer has 9"}, // 2^255
		{409, `{"address":"` + nobodyAddress + `","amount":"9999999"}`, "its richest payer has 9"},
		{409, `{"address":"` + nobodyAddress + `","amount":"999999999999","token":"` + usdc + `"}`, "does not have enough USDC"},
		{409, `{"address":"P-` + bech32 + `","amount":"18446744073.709551615"}`, "its richest payer has"},
		{409, `{"address":"X-` + bech32 + `","token":"CLM","amount":"1000000001"}`, "does not have enough CLM here for this amount and the fee: its richest payer has 1000000000"},
		{409, `{"address":"P-` + bech32 + `","token":"CLM","amount":"1000000001"}`, "its richest payer has 1000000000"},
		{409, `{"address":"` + collection + `"}`, "the recipient refuses"},
	} {
		p := f.pay(c.body)
		if message := fmt.Sprint(p.Message); p.StatusCode != c.status || !strings.Contains(message, c.reason) || len(message) > 900 {
			t.Errorf("%.200s: %d %s: want %d, %s", c.body, p.StatusCode, message, c.status, c.reason)
		}
	}
	if !bytes.Equal(before, w.Digest()) {
		t.Error("a refusal changes the world")
	}
}

// TestFaucetKnowsTokensOfClients: the faucet pays ewoq's token by symbol or address; a symbol that two tokens share needs the address.
func TestFaucetKnowsTokensOfClients(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	f := newFaucet(t, w, permit.Rule{})
	token, err := contracts.Load("Token")
	if err != nil {
		t.Fatal(err)
	}
	args, err := token.ABI.Pack("", "Twin", "TWIN", uint8(2), big.NewInt(500), common.HexToAddress("0x8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC"))
	if err != nil {
		t.Fatal(err)
	}
	m, from := w.MinerOf(w.Networks[0].CChain()), common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	deploy := func() (address string) {
		nonce, err := m.Nonce(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		tx, err := evm.Impersonate(types.NewTx(&types.LegacyTx{Nonce: nonce, Gas: 3_000_000, GasPrice: big.NewInt(1e12), Data: append(token.Bytecode, args...)}), id, from)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.SendFrom(t.Context(), tx, from); err != nil {
			t.Fatal(err)
		}
		return crypto.CreateAddress(from, nonce).Hex()
	}
	first := deploy()
	if p := f.pay(`{"address":"` + nobodyAddress + `","token":"twin","amount":"4"}`); p.Status != "accepted" || p.Amount != "400" || p.Token != first {
		t.Errorf("%+v", p)
	}
	second := deploy()
	if p := f.pay(`{"address":"` + nobodyAddress + `","token":"TWIN"}`); p.StatusCode != 400 || !strings.Contains(fmt.Sprint(p.Message), first+" or "+second) {
		t.Errorf("%+v", p)
	}
	if p := f.pay(`{"address":"` + nobodyAddress + `","token":"` + second + `","amount":"5"}`); p.Status != "accepted" { // all of it
		t.Errorf("%+v", p)
	}
	if p := f.pay(`{"address":"` + nobodyAddress + `","token":"` + second + `","amount":"0.01"}`); p.StatusCode != 409 || !strings.HasSuffix(fmt.Sprint(p.Message), ": its richest payer has 0") {
		t.Errorf("%+v", p)
	}
}

// TestFaucetKnowsAssetsOfClients: an asset that a client created is paid by its symbol or its id; a symbol of two assets needs the id, unless
// it is AVAX.
func TestFaucetKnowsAssetsOfClients(t *testing.T) {
	t.Parallel()
	f := newFaucet(t, seedtest.Copy(t, 1), permit.Rule{})
	n := f.world.Networks[0]
	keys := map[string]*txs.Key{}
	for _, name := range []string{"alice", "ewoq"} {
		key, err := txs.KeyFromBytes(simtest.PersonaKey(t, n, name))
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = key
	}
	create := func(symbol string) string {
		base, _ := simtest.Payment(t, n, txs.XChain).Unsigned.(*txs.BaseTx)
		tx, err := txs.NewSigned(txs.XChain, &txs.CreateAssetTx{BaseTx: *base, Name: "Twin", Symbol: symbol, Denomination: 2, States: []*txs.InitialState{
			{Outs: []txs.Output{&txs.TransferOutput{Amount: 500, OutputOwners: txs.NewOwner(keys["ewoq"].Address())}}},
		}}, []*txs.Key{keys["alice"]})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.IssueX(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		return tx.ID().String()
	}
	const to = `{"address":"X-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"`
	first := create("TWIN")
	if p := f.pay(to + `twin","amount":"4"}`); p.Status != "accepted" || p.Amount != "400" || p.Token != first || f.balance(p).String() != "400" {
		t.Errorf("%+v", p)
	}
	second := create("TWIN")
	for _, name := range []string{"TWIN", "Twin"} {
		if p := f.pay(to + name + `"}`); p.StatusCode != 400 || !strings.Contains(fmt.Sprint(p.Message), first+" or "+second) {
			t.Errorf("%+v", p)
		}
	}
	if p := f.pay(to + second + `","amount":"5"}`); p.Status != "accepted" || p.Token != second { // all of it
		t.Errorf("%+v", p)
	}
	if p := f.pay(to + second + `"}`); p.StatusCode != 409 || !strings.Contains(fmt.Sprint(p.Message), "its richest payer has 0") { // but the recipient
		t.Errorf("%+v", p)
	}
	third := create("AVAX")
	if p := f.pay(to + `AVAX"}`); p.Amount != "1000000000" || p.Token != "" {
		t.Errorf("%+v", p)
	}
	if p := f.pay(to + third + `"}`); p.Amount != "100" || p.Symbol != "AVAX" || p.Token != third {
		t.Errorf("%+v", p)
	}
}

// TestFaucetTellsOfAFailure: a recipient that accepts coins only in even-numbered blocks refuses a payment before or after it is sent.
func TestFaucetTellsOfAFailure(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	f, m, picky := newFaucet(t, w, permit.Rule{}), w.MinerOf(w.Networks[0].CChain()), common.HexToAddress("0xfa117")
	if err := m.SetCode(t.Context(), picky, common.FromHex("0x43600116600857005b5f5ffd")); err != nil {
		t.Fatal(err)
	}
	told := ""
	for range 4 {
		p := f.pay(`{"address":"` + picky.Hex() + `"}`)
		told += fmt.Sprintln(p.StatusCode, p.Status, p.Message)
		if err := m.Mine(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(told, "409  transaction 0x") || !strings.Contains(told, "of the faucet failed in block") {
		t.Error(told)
	}
}

// TestFaucetWaits: without automine a payment waits in the pool, and the answer says so.
func TestFaucetWaits(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	f, m := newFaucet(t, w, permit.Rule{}), w.MinerOf(w.Networks[0].CChain())
	m.SetAutomine(false)
	hashes := map[string]bool{}
	for range 3 {
		p := f.pay(`{"address":"` + nobodyAddress + `"}`)
		if p.Status != "pending" || p.Block != "" || p.Page != "" || !strings.Contains(p.Note, "evm_mine") {
			t.Fatalf("%+v", p)
		}
		hashes[p.TxHash] = true
	}
	if err := m.Mine(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	for hash := range hashes {
		if found, err := m.Chain.Transaction(t.Context(), common.HexToHash(hash)); err != nil || found.Row.Status != 1 {
			t.Errorf("%s: %+v %v", hash, found, err)
		}
	}
	if len(hashes) != 3 {
		t.Errorf("three payments are %d transactions", len(hashes))
	}
	if p := f.pay(`{"address":"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"}`); p.Status != "accepted" {
		t.Errorf("%+v", p)
	}
}

// TestFaucetOfAPublicServer pays little and rarely. A page that anyone could have made gets nothing.
func TestFaucetOfAPublicServer(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	public, open := newFaucet(t, w, permit.Rule{Exposed: true}), newFaucet(t, w, permit.Rule{Exposed: true, Control: true})
	send := func(f *faucet, client, origin, amount string) (int, string) {
		to := nobodyAddress + `","amount":"` + amount
		if number, symbol, found := strings.Cut(amount, " "); found {
			to = `X-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","amount":"` + number + `","token":"` + symbol
		}
		return f.ask(http.MethodPost, "/sim/faucet", `{"address":"`+to+`"}`, "Remote", client+":1", "Host", "192.0.2.1:9650", "Origin", origin)
	}
	for _, c := range []struct {
		f                      *faucet
		client, origin, amount string
		status                 int
		reason                 string
	}{
		{public, "192.0.2.7", "", "10.000000000000000001", 400, "--allow-control"},
		{public, "192.0.2.7", "", "10.000001 WEAC", 400, "at most 10 WEAC at a time"},
		{public, "192.0.2.9", "", "10 HARC", 200, ""},
		{public, "192.0.2.7", "https://evil.example", "1", 403, "--allow-origin"},
		{public, "192.0.2.7", "http://192.0.2.1:9650", "10", 200, ""}, // its own page
		{open, "192.0.2.7", "", "1000", 200, ""},
		{open, "192.0.2.7", "https://evil.example", "1", 403, "--allow-origin"},
	} {
		if status, text := send(c.f, c.client, c.origin, c.amount); status != c.status || !strings.Contains(text, c.reason) {
			t.Errorf("%+v: %d %s", c, status, text)
		}
	}
	for i := 1; i < 12; i++ { // one payment was made before
		if status, text := send(public, "192.0.2.7", "", "1"); (status == 429) != (i > 9) || status == 429 && !strings.Contains(text, "10 payments per hour") {
			t.Errorf("payment %d: %d %s", i, status, text)
		}
	}
	if status, text := send(public, "192.0.2.8", "", "1"); status != 200 {
		t.Errorf("another client: %d %s", status, text)
	}
}

// TestFaucetOfAReadOnlyWorld refuses with the same words as every other change.
func TestFaucetOfAReadOnlyWorld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w.db")
	if err := seedtest.Shared(t, "tiny", 1).DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	w, err := sim.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f := newFaucet(t, w, permit.Rule{})
	for _, address := range []string{nobodyAddress, "P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"} {
		if p := f.pay(`{"address":"` + address + `"}`); p.StatusCode != http.StatusForbidden || p.Message != store.ErrReadOnly.Error() {
			t.Errorf("%+v", p)
		}
	}
}
