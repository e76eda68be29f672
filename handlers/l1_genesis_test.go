// A user's own L1 starts from a subnet-evm genesis.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
	"snowglobe/sim/verify/verifytest"
)

// genesisWorld has three L1s from a genesis each: one with allow lists; one with a native minter, a fee manager and upgrades; one with fees and an
// airdrop.
const genesisWorld = `
name: mine
l1s:
  - {name: Lists, genesis: testdata/l1/lists.json, validators: [{name: lists-one, weight: 7}]}
  - {name: Minter, network: fuji, genesis: testdata/l1/minter.json, upgrade: testdata/l1/minter-upgrade.json}
  - {name: Fees, genesis: testdata/l1/fees.json, airdrop: testdata/l1/fees-airdrop.json, token: FEE}
`

// TestAGenesisGoesIntoAServer: an import makes the same world as a world file with the L1, beside the existing one.
func TestAGenesisGoesIntoAServer(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	m := newMany(t, w, handlers.Options{})
	before := string(w.Digest())
	path := func(name string) string {
		absolute, err := filepath.Abs("testdata/l1/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return quoted(absolute)
	}
	genesis, err := os.ReadFile("testdata/l1/lists.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ body, entry, world, id string }{
		{`{"path":` + path("minter.json") + `,"upgradePath":` + path("minter-upgrade.json") + `,"name":"Minter","network":"fuji"}`,
			"name: Minter, network: fuji, genesis: testdata/l1/minter.json, upgrade: testdata/l1/minter-upgrade.json, validators: [{name: Minter-1}]", "minter", "0xf1b32"},
		{`{"content":` + string(genesis) + `}`, "name: Chain990001, network: mainnet, genesis: testdata/l1/lists.json, validators: [{name: Chain990001-1}]", "chain990001", "0xf1b31"},
		{`{"kind":"genesis","path":` + path("fees.json") + `,"airdropPath":` + path("fees-airdrop.json") + `}`,
			"name: Chain990003, network: mainnet, genesis: testdata/l1/fees.json, airdrop: testdata/l1/fees-airdrop.json, validators: [{name: Chain990003-1}]", "chain990003", "0xf1b33"},
	} {
		if testing.Short() && c.world != "chain990001" {
			t.Log("left out of a short run: the L1 in", c.world)
			continue
		}
		var done control.Import
		if err := json.Unmarshal([]byte(m.want(200, "POST", "/sim/imports", c.body)), &done); err != nil {
			t.Fatal(err)
		}
		p, err := seed.ParseProfile("world.yaml", []byte(w.Meta.Shape+"l1s:\n  - {"+c.entry+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		same, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: w.Meta.Seed, Profile: p, Until: time.Unix(w.Meta.Until, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if got := done.Digest; got != fmt.Sprintf("%x", same.Digest()) || done.Kind != "genesis" || done.L1.World != c.world || done.Accounts == 0 {
			t.Errorf("%+v %+v", done, done.L1)
		}
		if err := same.Close(); err != nil {
			t.Error(err)
		}
		answer := m.want(200, "POST", strings.TrimPrefix(done.L1.RPCURL, m.server.URL), `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`)
		if !strings.Contains(answer, `"`+c.id+`"`) {
			t.Error(answer)
		}
		if listed := m.want(200, "GET", "/w/"+c.world+"/v1/chains/"+done.L1.ChainID, ""); !strings.Contains(listed, done.L1.Name) {
			t.Error(listed)
		}
	}
	for _, c := range []struct {
		status     int
		body, said string
	}{
		{409, `{"content":` + string(genesis) + `}`, "already exists"},
		{400, `{"content":` + string(genesis) + `,"name":"C"}`, "C is the name of another chain"},
		{400, `{"content":` + string(genesis) + `,"name":"my-l1"}`, "a chain's name may have only letters and digits"},
		{400, `{"content":` + string(genesis) + `,"name":"Mine","chain":"C"}`, "is a new chain"},
		{400, `{"content":` + string(genesis) + `,"name":"Mine","network":"kite"}`, "kite"},
		{400, `{"content":` + strings.Replace(string(genesis), "990001", "43114", 1) + `,"name":"Mine"}`, "chain 43114, Avalanche (C-Chain), already exists"},
		{400, `{"content":{"alloc":{}},"name":"Mine"}`, "it has no config"},
		{400, `{"content":{"alloc":{}},"upgrade":{},"network":"fuji"}`, "network, upgrade: only an L1"},
		{400, `{"content":` + string(genesis) + `,"name":"Mine","upgrade":{"precompileUpgrades":[7]}}`, "upgrade: line 1"},
		{400, `{"content":` + string(genesis) + `,"upgrade":{},"upgradePath":"x"}`, "either upgradePath or upgrade"},
	} {
		if answer := m.want(c.status, "POST", "/sim/imports", c.body); !strings.Contains(answer, c.said) {
			t.Errorf("%s\nwant %s", answer, c.said)
		}
	}
	if string(w.Digest()) != before {
		t.Error("the world that was there has changed")
	}
}

const bobAddress, whaleAddress, clumsyAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"

func generated(t *testing.T, text string) (*sim.World, []string) {
	t.Helper()
	p, err := seed.ParseProfile("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil, Note: func(n string) { notes = append(notes, n) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, notes
}

// role reads the role of an address from an allow list; empty if the list is not in force.
func (d *devnet) role(list *precompile.Contract, address string) string {
	d.Helper()
	var word hexutil.Bytes
	d.call(&word, "eth_call", map[string]any{"from": alice, "to": list.Address, "data": hexutil.Bytes(precompile.PackInput("readAllowList(address)", common.BytesToHash(common.FromHex(address))))}, "latest")
	if len(word) == 0 {
		return ""
	}
	return precompile.Role(new(big.Int).SetBytes(word).Uint64()).String()
}

// sent sends a transaction from an unlocked account, and returns its receipt's status or the refusal.
func (d *devnet) sent(from string, to any, data []byte) string {
	d.Helper()
	tx := map[string]any{"from": from, "data": hexutil.Bytes(data), "gas": "0x30d40"}
	if to != nil {
		tx["to"] = to
	}
	var hash common.Hash
	if err := d.client.Client().CallContext(d.Context(), &hash, "eth_sendTransaction", tx); err != nil {
		return err.Error()
	}
	receipt, err := d.client.TransactionReceipt(d.Context(), hash)
	if err != nil {
		d.Fatal(err)
	}
	return fmt.Sprint(receipt.Status)
}

func TestOwnGenesis(t *testing.T) {
	t.Parallel()
	w, notes := generated(t, genesisWorld)
	chains := map[string]*devnet{}
	for _, c := range w.Chains {
		chains[c.Row.Name] = newDevnet(t, w, c)
	}
	t.Run("lists", func(t *testing.T) { own := *chains["Lists"]; own.T = t; own.obeysLists() })
	t.Run("fees", func(t *testing.T) { own := *chains["Fees"]; own.T = t; own.hasFees() })
	t.Run("minter", func(t *testing.T) { own := *chains["Minter"]; own.T = t; own.upgrades() })
	want := []string{"Lists: line 31: config.txAllowListConfig.blockTimestamp: it becomes 1709740800, the time of Durango", "Minter: line 33: config.rewardManagerConfig: left out", "Minter: line 37: config.warpConfig.blockTimestamp: it becomes 1707840000", "Minter: line 42: timestamp: left out", "Minter: line 5: precompileUpgrades[2].rewardManagerConfig: left out",
		"Minter: line 7: stateUpgrades: left out", "Fees: line 14: config.allowFeeRecipients: left out"}
	for i := range max(len(notes), len(want)) {
		if i >= len(notes) || i >= len(want) || !strings.HasPrefix(notes[i], want[i]) {
			t.Fatalf("%q, want %q", notes, want)
		}
	}
	lists := chains["Lists"]
	if got := fmt.Sprint(lists.ask("/v1/chains/990001")); !strings.Contains(got, "Lists") {
		t.Error(got)
	}
	if got := fmt.Sprint(lists.ask("/sim/world")); !strings.Contains(got, "lists-one") {
		t.Error("the L1's validator is not among the nodes:", got)
	}
	if err := seed.NewPeople(w, func(error) {}).Advance(t.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
		t.Error("people act:", err)
	}
	verifytest.Sound(t, w)
	if err := verify.Inspect(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
	if strings.Contains(w.Meta.Shape, "testdata") {
		t.Error("the world needs its files again")
	}
}

func (d *devnet) obeysLists() {
	for list, roles := range map[*precompile.Contract]map[string]string{
		precompile.DeployerAllowList: {alice: "AdminRole", bobAddress: "NoRole"},
		precompile.TxAllowList:       {alice: "AdminRole", bobAddress: "EnabledRole", whaleAddress: "ManagerRole", clumsyAddress: "NoRole"},
	} {
		for address, want := range roles {
			if got := d.role(list, address); got != want {
				d.Errorf("%s: %s has %s, want %s", list.Key, address, got, want)
			}
		}
	}
	const refusal = "cannot issue transaction from non-allow listed address: " + clumsyAddress
	if got := d.sent(clumsyAddress, bobAddress, nil); got != refusal {
		d.Error(got)
	}
	d.text("evm_setAutomine", false)
	if got := d.sent(clumsyAddress, bobAddress, nil); got != refusal {
		d.Error("without automine:", got)
	}
	d.text("evm_setAutomine", true)
	code := common.FromHex("0x600b8060093d393df3602a60005260206000f3")
	for _, c := range []struct {
		from string
		to   any
		data []byte
		want string
	}{
		{bobAddress, alice, nil, "1"},
		{bobAddress, nil, code, "0"}, // may send, but not deploy
		{alice, nil, code, "1"},
		{bobAddress, precompile.TxAllowList.Address, precompile.PackInput("setEnabled(address)", common.BytesToHash(common.FromHex(clumsyAddress))), "0"},
		{alice, precompile.TxAllowList.Address, precompile.PackInput("setEnabled(address)", common.BytesToHash(common.FromHex(clumsyAddress))), "1"},
		{clumsyAddress, bobAddress, nil, "1"},
	} {
		if got := d.sent(c.from, c.to, c.data); got != c.want {
			d.Errorf("from %s to %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
	if head := d.head(); head.GasLimit != 8_000_000 || head.BaseFee.Cmp(big.NewInt(25e9)) < 0 {
		d.Errorf("gas limit %d, base fee %s", head.GasLimit, head.BaseFee)
	}
}

func (d *devnet) hasFees() {
	first, err := d.client.HeaderByNumber(d.Context(), new(big.Int))
	if err != nil || string(first.Extra) != "snow" || first.GasLimit != 12_000_000 {
		d.Errorf("block 0: %+v, %v", first, err)
	}
	for address, want := range map[string]string{alice: "1000000000000000000000000", whaleAddress: "1000000000000000000000", bobAddress: "0"} {
		if said, listed := d.native(common.HexToAddress(address)); said != want || listed != want {
			d.Errorf("%s has %s, the Data API lists %s, want %s", address, said, listed, want)
		}
	}
	if got := d.text("eth_call", map[string]any{"to": "0x00000000000000000000000000000000000c0de0"}, "latest"); !strings.HasSuffix(got, `2a"`) {
		d.Error("the allocated contract answers", got)
	}
	if got := d.sent(alice, bobAddress, nil); got != "1" {
		d.Error(got)
	}
	if head := d.head(); head.GasLimit != 12_000_000 || head.BaseFee.Cmp(big.NewInt(7e9)) < 0 || head.BaseFee.Cmp(big.NewInt(8e9)) > 0 {
		d.Errorf("gas limit %d, base fee %s", head.GasLimit, head.BaseFee)
	}
}

func (d *devnet) upgrades() {
	if said, _ := d.native(common.HexToAddress(bobAddress)); said != "1000000000000000000" {
		d.Error("the initial mint gave bob", said)
	}
	var words hexutil.Bytes
	d.call(&words, "eth_call", map[string]any{"to": precompile.FeeManager.Address, "data": hexutil.Bytes(precompile.PackInput("getFeeConfig()"))}, "latest")
	for i, want := range []int64{20_000_000, 2, 2_000_000_000, 100_000_000, 48, 0, 10_000_000, 500_000} {
		if got := new(big.Int).SetBytes(words[32*i : 32*i+32]); got.Int64() != want {
			d.Errorf("word %d of the fee configuration is %s, want %d", i, got, want)
		}
	}
	mint := precompile.PackInput("mintNativeCoin(address,uint256)", common.BytesToHash(common.FromHex(whaleAddress)), common.BigToHash(big.NewInt(5)))
	minted := func() string {
		said, _ := d.native(common.HexToAddress(whaleAddress))
		return said
	}
	off, on := time.Unix(1793836800, 0), time.Unix(1793840400, 0) // of the upgrades
	for _, c := range []struct {
		at       time.Time
		minted   string
		deployer string
	}{
		{off.Add(-3 * time.Second), "5", ""}, {off, "5", ""}, {off.Add(time.Minute), "5", ""},
		{on.Add(-3 * time.Second), "5", ""}, {on, "5", "AdminRole"}, {on.Add(time.Minute), "5", "AdminRole"},
	} {
		if err := d.world.Advance(d.Context(), c.at); err != nil {
			d.Fatal(err)
		}
		if got := d.sent(alice, precompile.NativeMinter.Address, mint); got != "1" { // without the minter, this calls an empty account and succeeds
			d.Error(got)
		}
		if head := d.head(); int64(head.Time) < c.at.Unix() || int64(head.Time) > c.at.Unix()+2 || head.GasLimit != 20_000_000 {
			d.Errorf("the block at %s has time %d and gas limit %d", c.at, head.Time, head.GasLimit)
		}
		if got, role := minted(), d.role(precompile.DeployerAllowList, alice); got != c.minted || role != c.deployer {
			d.Errorf("at %s: minted %s, want %s; alice is %q, want %q", c.at, got, c.minted, role, c.deployer)
		}
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: 50_000, GasFeeCap: big.NewInt(100e9)})
}
