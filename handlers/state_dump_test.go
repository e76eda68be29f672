// A chain loads anvil's state dumps, and anvil loads a chain's.

package handlers_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/verify"
	"snowglobe/sim/verify/verifytest"
)

// dumped is a state dump, decoded without the program's own reader.
type dumped struct {
	Accounts map[common.Address]struct {
		Nonce   uint64
		Balance hexutil.Big
		Code    hexutil.Bytes
		Storage map[common.Hash]common.Hash
	}
}

func decodeDump(t *testing.T, compressed []byte) (d dumped) {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&d)
	}
	if err != nil || len(d.Accounts) == 0 {
		t.Fatal("the dump cannot be read:", err)
	}
	return d
}

// holds compares every account of a dump with the node's data.
func (d *devnet) holds(want dumped) {
	d.Helper()
	for address, a := range want.Accounts {
		if got := d.text("eth_getBalance", address, "latest"); got != `"`+a.Balance.String()+`"` {
			d.Errorf("%s has %s, in the dump %s", address, got, &a.Balance)
		}
		if nonce, err := d.client.NonceAt(d.Context(), address, nil); err != nil || nonce < a.Nonce {
			d.Errorf("the nonce of %s is %d, in the dump %d, %v", address, nonce, a.Nonce, err)
		}
		if got := d.text("eth_getCode", address, "latest"); got != `"`+a.Code.String()+`"` {
			d.Errorf("%s has other code than in the dump", address)
		}
		for slot, value := range a.Storage {
			if got := d.text("eth_getStorageAt", address, slot, "latest"); got != `"`+value.Hex()+`"` {
				d.Errorf("slot %s of %s is %s, in the dump %s", slot, address, got, value)
			}
		}
	}
}

// anvilDump is what anvil 1.7.1 returned for anvil_dumpState, after it deployed the artifact Token and sent some of it.
func anvilDump(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "fixtures", "interchange", "testdata", "anvil-1.7.1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	return hexutil.MustDecode(string(text))
}

// TestAnvilDump loads an anvil dump on both kinds of chain. Every account is as in the dump, the index has its token and holders, the world verifies,
// and a revert undoes it all.
func TestAnvilDump(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	raw := anvilDump(t)
	want := decodeDump(t, raw)
	for _, c := range []int{0, len(w.Chains) - 1} {
		d := newDevnet(t, w, w.Chains[c])
		d.loadsAnvil(raw, want)
	}
	verifytest.Sound(t, w)
	if err := verify.Inspect(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

func (d *devnet) loadsAnvil(raw []byte, want dumped) {
	// The first contract that the well-known mnemonic's first account creates.
	token := common.HexToAddress("0x5FbDB2315678afecb367f032d93F642f64180aa3")
	before, commits := d.text("anvil_dumpState"), len(d.changes())
	snapshot := d.text("evm_snapshot")
	digest := string(d.world.Digest())
	if got := d.text("anvil_loadState", hexutil.Encode(raw)); got != "true" {
		d.Fatal(got)
	}
	d.holds(want)
	for owner, amount := range map[string]string{alice: "999987654315", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8": "12345678", "0x00000000000000000000000000000000cA441ED0": "7"} {
		if said, listed := d.erc20(token, common.HexToAddress(owner)); said != amount || listed != amount {
			d.Errorf("%s has %s of the token, the Data API lists %s, want %s", owner, said, listed, amount)
		}
	}
	loaded := d.changes()
	if got := d.text("hardhat_loadState", hexutil.Encode(raw)); got != "true" || len(d.changes()) != len(loaded) {
		d.Errorf("loading a dump again changes %d values", len(d.changes())-len(loaded))
	}
	d.holds(decodeDump(d.T, hexutil.MustDecode(strings.Trim(d.text("anvil_dumpState"), `"`))))
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: 50_000})
	if got := d.text("evm_revert", json.RawMessage(snapshot)); got != "true" || string(d.world.Digest()) != digest || len(d.changes()) != commits {
		d.Error("a revert leaves traces of the dump")
	}
	if d.text("anvil_dumpState") != before {
		d.Error("after the revert the state is another")
	}
	if got := d.text("anvil_loadState", hexutil.Encode(raw)); got != "true" { // to be verified
		d.Error(got)
	}
}

// changes returns the state changes of the chain.
func (d *devnet) changes() []string {
	d.Helper()
	head, err := d.client.BlockNumber(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	all, err := d.world.DB.StateChanges(d.Context(), d.chain.Row.ID, 0, head)
	if err != nil {
		d.Fatal(err)
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = fmt.Sprint(all[i])
	}
	return texts
}

// TestFormsOfADump: plain JSON, old forms of numbers, and short slots in hexadecimal load; a mistake is named, and changes nothing.
func TestFormsOfADump(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Chains[0])
	load := func(text string) string {
		err := d.client.Client().CallContext(d.Context(), new(bool), "anvil_loadState", hexutil.Encode([]byte(text)))
		return codeOf(err)
	}
	at := common.HexToAddress("0xca441ed")
	account := func(members string) string {
		return `{"block":{"number":"0x2","coinbase":"0x0000000000000000000000000000000000000000","timestamp":"0x1","gas_limit":"0x1c9c380","basefee":"0x0","difficulty":"0x0","prevrandao":null},` +
			"\n" + `"best_block_number":"0x2","accounts":{` + "\n" + `"` + at.Hex() + `":{` + members + `}}}`
	}
	if problem := load(account(`"nonce":3,"balance":"0x10","code":"0x602a60005260206000f3","storage":{"0x1":"0x2","3":"0x04"}`)); problem != "" {
		t.Fatal(problem)
	}
	word := func(n int64) string { return `"` + common.BigToHash(big.NewInt(n)).Hex() + `"` }
	for _, c := range []struct{ method, parameter, want string }{
		{"eth_getBalance", "", `"0x10"`}, {"eth_getTransactionCount", "", `"0x3"`}, {"eth_getCode", "", `"0x602a60005260206000f3"`},
		{"eth_getStorageAt", "0x1", word(2)}, {"eth_getStorageAt", "0x3", word(4)},
	} {
		params := []any{at, c.parameter, "latest"}
		if c.parameter == "" {
			params = []any{at, "latest"}
		}
		if got := d.text(c.method, params...); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.parameter, got, c.want)
		}
	}
	digest := string(w.Digest())
	large := &bytes.Buffer{}
	z := gzip.NewWriter(large)
	_, _ = z.Write(bytes.Repeat([]byte{' '}, 40<<20))
	_ = z.Close()
	good := `"0x0000000000000000000000000000000000000abc":{"nonce":0,"balance":"0x1","code":"0x","storage":{}}`
	for _, c := range []struct{ text, problem string }{
		{"", "-32000 state dump: line 1: it is not JSON: unexpected end of JSON input"},
		{"{\n\n}}", "-32000 state dump: line 3: it is not JSON"},
		{"[]", "-32000 state dump: line 1: expected an object"},
		{"{}", "-32000 state dump: line 1: it has no accounts"},
		{large.String(), "-32000 state dump: it has more than 32 MiB"},
		{"\x1f\x8bnonsense", "-32000 state dump: the compressed data is damaged"},
		{`{"accounts":{` + good + `,"0x12":{}}}`, "-32000 state dump: line 1: accounts.0x12: \"0x12\" is not an address"},
		{`{"accounts":{` + good + `,` + good + `}}`, "-32000 state dump: line 1: accounts: \"0x0000000000000000000000000000000000000abc\" appears twice"},
		{account(`"nonce":3,"balance":"0x10","code":"0x"`), "-32000 state dump: line 3: accounts." + at.Hex() + ": the account has no storage"},
		{account(`"nonce":-1,"balance":"0x10","code":"0x","storage":{}`), "-32000 state dump: line 3: accounts." + at.Hex() + ".nonce: expected a whole number"},
		{account(`"nonce":"0x7fffffffffffffff","balance":"0x10","code":"0x","storage":{}`), "-32000 state dump: line 3: accounts." + at.Hex() + ".nonce: it is 9223372036854775807"},
		{account(`"nonce":1,"balance":"0x1` + strings.Repeat("0", 64) + `","code":"0x","storage":{}`), "-32000 state dump: line 3: accounts." + at.Hex() + ".balance: expected a whole number"},
		{account("\"nonce\":1,\n\"balance\":\"0x1\",\n\"code\":\"0x6\",\"storage\":{}"), "-32000 state dump: line 5: accounts." + at.Hex() + ".code: expected bytes"},
		{account(`"nonce":1,"balance":"0x1","code":"0x","storage":{"0x1":"0x1","1":"0x1"}`), "-32000 state dump: line 3: accounts." + at.Hex() + ".storage.1: the slot appears twice"},
		{account(`"nonce":1,"balance":"0x1","code":"0x","storage":{},"rent":1`), "-32000 state dump: line 3: accounts." + at.Hex() + ".rent: an account has no rent"},
	} {
		if got := load(c.text); !strings.HasPrefix(got, c.problem) {
			t.Errorf("%.80q: %q, want %q", c.text, got, c.problem)
		}
	}
	if string(w.Digest()) != digest {
		t.Error("a refused dump changed the world")
	}
}

// TestALoadIsAllOrNothing: a dump's last account breaks a rule of the chain, so the ones before it stay as they are.
func TestALoadIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Chains[len(w.Chains)-1])
	digest := string(w.Digest())
	const manager = "0x0200000000000000000000000000000000000003"
	if d.text("eth_getCode", manager, "latest") != `"0x01"` {
		t.Fatal("the chain has no fee manager")
	}
	var slots strings.Builder
	for i := range 8 { // the configuration, in which zeros are invalid: subnet-evm's feemanager numbers its slots in the first byte
		fmt.Fprintf(&slots, `,"0x%02x%062x":"0x0"`, i+1, 0)
	}
	text := `{"accounts":{"0x0000000000000000000000000000000000000abc":{"nonce":0,"balance":"0x1","code":"0x","storage":{}},
		"` + manager + `":{"nonce":1,"balance":"0x0","code":"0x01","storage":{` + slots.String()[1:] + `}}}}`
	err := d.client.Client().CallContext(d.Context(), new(bool), "anvil_loadState", hexutil.Encode([]byte(text)))
	if err == nil || !strings.Contains(err.Error(), "the fee manager cannot have it") {
		t.Error(err)
	}
	if string(w.Digest()) != digest || d.text("eth_getBalance", "0x0000000000000000000000000000000000000abc", "latest") != `"0x0"` {
		t.Error("a part of the dump was loaded")
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1), Gas: 50_000})
}
