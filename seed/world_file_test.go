package seed_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// own makes the world of a world file.
func own(t *testing.T, path, text string) *sim.World {
	t.Helper()
	p, err := seed.ParseProfile("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ownOf(t, path, p)
}

func ownOf(t *testing.T, path string, p *seed.Profile) *sim.World {
	t.Helper()
	w, err := seed.Generate(t.Context(), seed.Options{Path: path, Seed: 1, Profile: p, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// TestExampleOfAWorldFile makes the world of the unchanged example, and looks for the file's contents.
func TestExampleOfAWorldFile(t *testing.T) {
	w := own(t, filepath.Join(t.TempDir(), "own.db"), worldfile.Example)
	verifytest.Sound(t, w)
	byRole := map[string]store.Contract{}
	rows, err := w.DB.Contracts(t.Context(), w.Chains[0].Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		byRole[row.Role] = row
	}
	if k := byRole["counter"]; k.Artifact != "" || !strings.Contains(k.ABI, `"name":"value"`) {
		t.Errorf("counter: %+v", k)
	}
	for role, slot := range map[string]int64{"counter": 42} {
		head, err := w.Chains[0].Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		states, err := w.Chains[0].State(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		if got := states.GetState(common.Address(byRole[role].Address), common.Hash{}); got.Big().Int64() != slot {
			t.Errorf("%s holds %s", role, got)
		}
		cold := common.HexToAddress("0x00000000000000000000000000000000c01DC0dE")
		got := states.GetState(common.Address(byRole["ALPD"].Address), mapSlot(cold, 0))
		if got.Big().Cmp(big.NewInt(11_000_000)) != 0 {
			t.Errorf("cold has %s ALPD", got.Big())
		}
	}
	if got := w.Clock.Now().Sub(seed.DefaultUntil).Hours(); got != 24 {
		t.Errorf("the clock stands %v hours after history", got)
	}
	vault := append(make([]byte, 16), 0xc0, 0x1d, 0xc0, 0xde)
	var held uint64
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		utxos, err := w.DB.UnspentUTXOsOfAddress(t.Context(), vault, w.Networks[0].Chain(kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range utxos {
			held += uint64(u.Amount)
		}
	}
	if held != 755e9 {
		t.Errorf("the vault has %d nAVAX", held)
	}
	together := 0
	last, err := w.Chains[0].Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := last.Header.Number.Uint64(); together < 2; n-- {
		block, err := w.Chains[0].Block(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if block.Header.Time < uint64(seed.DefaultUntil.Unix()) {
			break
		}
		together = max(together, block.Row.Txs)
	}
	if together != 2 {
		t.Errorf("a block has %d transactions of the file, want two", together)
	}
	counts, err := w.DB.UndoCounts(t.Context())
	if err != nil || counts != (store.UndoCounts{}) || w.DB.LastCommit().Sequence != 0 {
		t.Errorf("there is a way back before what was played: %+v %v", w.DB.LastCommit(), err)
	}
	if testing.Short() {
		t.Log("left out of a short run: the rest")
		return
	}
	again := own(t, store.Memory, worldfile.Example)
	if !bytes.Equal(again.Digest(), w.Digest()) {
		t.Error("another world came of the same file")
	}
	stored := &seed.Profile{}
	if stored, err = seed.ParseProfile("stored", []byte(w.Meta.Shape)); err != nil {
		t.Fatal(err)
	}
	if third := ownOf(t, store.Memory, stored); !bytes.Equal(third.Digest(), w.Digest()) {
		t.Error("another world came of the profile that the world keeps")
	}
	if err := seed.NewPeople(w, func(err error) { t.Log(err) }).Advance(t.Context(), w.Clock.Now().AddDate(0, 0, 2)); err != nil {
		t.Error("nobody lives on:", err)
	}
}

// mapSlot returns the storage slot of an address's entry in a mapping.
func mapSlot(key common.Address, slot int64) common.Hash {
	return common.BytesToHash(crypto.Keccak256(common.LeftPadBytes(key[:], 32), common.LeftPadBytes(big.NewInt(slot).Bytes(), 32)))
}

const head = "name: own\ndays: 2\nchains: 2\ntransactions: 400\n"

// TestArtifactsOfCompilers deploys contracts compiled by Hardhat and Foundry, with arguments by name. The world keeps them after the files are gone.
func TestArtifactsOfCompilers(t *testing.T) {
	folder := t.TempDir()
	token, err := os.ReadFile("../fixtures/contracts/artifacts/Token.json")
	if err != nil {
		t.Fatal(err)
	}
	foundry := strings.Replace(strings.Replace(string(token), `"bytecode":"`, `"bytecode":{"object":"`, 1), `","deployedBytecode"`, `"},"deployedBytecode"`, 1)
	for name, text := range map[string]string{"Hardhat.json": string(token), "Foundry.json": foundry} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(folder, "world.yaml")
	text := head + `
contracts:
- {name: one, artifact: Hardhat.json, args: {owner_: bob, name_: One, symbol_: ONE, decimals_: 2, initialSupply: 5 gwei}}
- {name: two, artifact: Foundry.json, from: bob, args: [Two, TWO, 0, 0x10, one], chain: fuji/C}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.LoadProfile(path); err != nil {
		t.Fatal(err)
	}
	if testing.Short() { // the names of contracts on one chain
		t.Log("left out of a short run: the rest, of other chains")
		return
	}
	p, _ := seed.LoadProfile(path)
	if _, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil}); err == nil ||
		!strings.HasPrefix(err.Error(), path+`:7: contracts[1].args: argument owner_`) && !strings.Contains(err.Error(), `"one" is not an account, contract or address`) {
		t.Error(err)
	}
	text = strings.Replace(text, ", one], chain: fuji/C", ", one]", 1) + `- {name: three, artifact: Foundry.json, address: "0x00000000000000000000000000000000000c0ffe", args: [Three, THREE, 0, 300, alice]}
tokens:
- {name: Fixed, symbol: FIX, address: "0x1234567890123456789012345678901234567890", supply: 10, holders: {alice: 2}, chain: fuji/C}
nfts:
- {name: Placed, symbol: PLC, address: "0x00000000000000000000000000000000000a11ce", items: [{id: 1, holder: alice}, {id: 2, holder: bob}]}
addValidators:
- {name: late, owner: whale, stake: 2000, start: +1h, end: +20d}
- {name: early, network: fuji, owner: whale, stake: 1, start: -1d, end: +2d}
play:
- {from: whale, value: 30, toChain: P}
- {from: whale, value: 20, chain: P, toChain: X}
- {from: whale, value: 10, chain: X, toChain: C, at: +1h}
- {from: whale, value: 3, chain: fuji/C, toChain: fuji/X}
- {from: whale, value: 2, chain: fuji/X, toChain: fuji/P}
- {from: whale, value: 1, chain: fuji/P, toChain: fuji/C}
addDelegators:
- {validator: early, network: fuji, owner: whale, stake: 1, start: -12h, end: +1d}
- {validator: late, owner: whale, stake: 25, start: +2h, end: +19d}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = seed.LoadProfile(path); err != nil {
		t.Fatal(err)
	}
	w := ownOf(t, store.Memory, p)
	verifytest.Sound(t, w)
	if _, err := w.DB.TokenAt(t.Context(), w.Chains[1].Row.ID, common.FromHex("0x1234567890123456789012345678901234567890")); err != nil {
		t.Error("the token at an address:", err)
	}
	head, err := w.Chains[0].Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states, err := w.Chains[0].State(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	alice := common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	if got := states.GetState(common.HexToAddress("0xc0ffe"), mapSlot(alice, 0)); got.Big().Int64() != 300 {
		t.Errorf("alice has %s of the contract at an address", got.Big())
	}
	if _, err := w.DB.TokenAt(t.Context(), w.Chains[0].Row.ID, common.FromHex("0x00000000000000000000000000000000000a11ce")); err != nil {
		t.Error("the NFT at an address:", err)
	}
}

// TestLibrariesOfArtifacts links a deployed contract with a library deployed before it, and a genesis contract with a library in the genesis. Each
// contract's code is the address of its library.
func TestLibrariesOfArtifacts(t *testing.T) {
	folder := t.TempDir()
	artifact := `{"abi":[],"bytecode":"0x73` + strings.Repeat("_", 40) + `5f5260205ff3","linkReferences":{"src/Lib.sol":{"Lib":[{"start":1,"length":20}]}}}`
	path := filepath.Join(folder, "world.yaml")
	text := head + `contracts:
- {name: lib, bytecode: 0x60015f5360015ff3}
- {name: user, artifact: User.json, libraries: {Lib: lib}}
- {name: old-lib, bytecode: 0x60015f5360015ff3, address: "0x00000000000000000000000000000000000c0ffe"}
- {name: old-user, artifact: User.json, libraries: {"src/Lib.sol:Lib": old-lib}, address: "0x00000000000000000000000000000000000c0fff"}
`
	for file, content := range map[string]string{"User.json": artifact, "world.yaml": text} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := ownOf(t, store.Memory, must(seed.LoadProfile(path))(t))
	c := w.Chains[0]
	states := must(c.State(t.Context(), must(c.Head(t.Context()))(t)))(t)
	at := map[string]common.Address{}
	for _, row := range must(w.DB.Contracts(t.Context(), c.Row.ID))(t) {
		at[row.Role] = common.Address(row.Address)
	}
	for user, lib := range map[string]string{"user": "lib", "old-user": "old-lib"} {
		if code := states.GetCode(at[user]); len(states.GetCode(at[lib])) == 0 || !bytes.Equal(code, common.LeftPadBytes(at[lib].Bytes(), 32)) {
			t.Errorf("%s has the code %x, and its library stands at %s", user, code, at[lib])
		}
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, ", libraries: {Lib: lib}", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.LoadProfile(path); err == nil || err.Error() != path+":7: contracts[1].libraries: the code needs src/Lib.sol:Lib; say which contract or address that is" {
		t.Error(err)
	}
}

// TestContractsWithASalt: their deployer, salt and code determine their address, on a chain that has the deployer.
func TestContractsWithASalt(t *testing.T) {
	w := own(t, store.Memory, head+`contracts:
- {name: one, bytecode: 0x60015f5360015ff3, salt: 0x07}
- {name: two, bytecode: 0x60015f5360015ff3, deployer: "0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7", salt: 0x07}
`)
	c := w.Chains[0]
	states := must(c.State(t.Context(), must(c.Head(t.Context()))(t)))(t)
	at := map[string]common.Address{}
	for _, row := range must(w.DB.Contracts(t.Context(), c.Row.ID))(t) {
		at[row.Role] = common.Address(row.Address)
	}
	code := common.FromHex("60015f5360015ff3")
	for name, deployer := range map[string]common.Address{"one": fixtures.Create2Deployer, "two": fixtures.SafeDeployer} {
		want := crypto.CreateAddress2(deployer, common.BigToHash(big.NewInt(7)), crypto.Keccak256(code))
		if at[name] != want || !bytes.Equal(states.GetCode(want), []byte{1}) {
			t.Errorf("%s stands at %s, not at %s, which has the code %x", name, at[name], want, states.GetCode(want))
		}
	}
}

// TestKnownContractsOfAnotherVersion are refused, with the name of the package that has the right ones.
func TestKnownContractsOfAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "package", "artifacts"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "package", "artifacts", "EntryPoint.json"), []byte(`{"abi":[],"bytecode":"0x00"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for known, want := range map[string]string{
		"{set: entrypoint-0.7, package: package}":   "6: known[0].package: artifacts/EntryPoint.json is another version: its code would not get the address 0x0000000071727De22E5E9d8BAf0edAc6f37da032; run npm install @account-abstraction/contracts@0.7.0",
		"{set: entrypoint-0.7, package: elsewhere}": "6: known[0].package: open ",
		"{set: entrypoint-0.8, package: package}":   "6: known[0].set: there is no set entrypoint-0.8; did you mean entrypoint-0.",
		"{set: safe-1.4.1}":                         "6: known[0].package: it is required",
	} {
		_, err := seed.ParseProfile(filepath.Join(folder, "world.yaml"), []byte(head+"known:\n- "+known+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(folder, "world.yaml:")+want) {
			t.Errorf("%s: %v", known, err)
		}
	}
}

// TestMistakesThatShowWhenPlayed: mistakes that only show in the world are reported with their line, too.
func TestMistakesThatShowWhenPlayed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"play:\n- {from: nobody, to: bob, value: 1}\n", "world.yaml:6: play[0]: "},
		{"play:\n- {from: alice, to: usdx, method: transfer, args: [bob, 9_000_000 ether]}\n", "world.yaml:6: play[0]: it fails: execution reverted"},
		{"play:\n- {from: bob, to: usdx, method: transfer, args: [alice, 9_000_000 ether]}\n", "world.yaml:6: play[0]: it fails: execution reverted: ERC20InsufficientBalance(sender: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, balance: "},
		{"play:\n- {from: bob, to: reverter, method: nestedRevert, gas: 100_000}\n", "world.yaml:6: play[0]: it fails: execution reverted: Unlucky(code: 7, who: 0x"},
		{"play:\n- {from: alice, to: bob, value: 1, fails: true}\n", "world.yaml:6: play[0]: it succeeded, but fails is true"},
		{"play:\n- {from: alice, to: usdx, method: send}\n", "world.yaml:6: play[0].method: usdx has no method send; it has "},
		{"play:\n- {from: alice, to: bob, value: 1}\n- {from: bob, to: usdx, method: transfer, args: [bob, 9_000_000 ether], sameBlock: true}\n", "world.yaml:7: play[1]: it fails: execution reverted"},
		{"play:\n- {from: alice, to: bob, value: 1}\n- {from: bob, to: alice, value: 1, fails: true, sameBlock: true}\n", "world.yaml:7: play[1]: it succeeded, but fails is true"},
		{"play:\n- {from: alice, to: bob, value: 1, at: -2h}\n", "world.yaml:6: play[0].at: it lies within the generated history"},
		{"play:\n- {from: nobody, value: 1, toChain: X}\n", "world.yaml:6: play[0]: export of 1000000000 nAVAX from C: the balance does not cover it and its fee"},
		{"contracts:\n- {name: mine, bytecode: 0x00, address: \"0xcA11bde05977b3631167028862bE2a173976CA11\"}\n", "world.yaml:6: contracts[0]: 0xcA11bde05977b3631167028862bE2a173976CA11 is the address of multicall"},
		{"tokens:\n- {name: Mine, symbol: usdx}\n", "world.yaml:6: tokens[0]: usdx is already the role of a contract"},
		{"addValidators:\n- {name: v, owner: fresh, stake: 2000, end: +20d}\n", "world.yaml:6: addValidators[0]: the owner cannot pay"},
		{"addValidators:\n- {name: v, owner: whale, stake: 1, start: -1d, end: +20d}\n", "world.yaml:6: addValidators[0]: "},
		{"addDelegators:\n- {validator: nowhere, stake: 25, end: +20d}\n", "world.yaml:6: addDelegators[0]: no node has the role or id nowhere"},
	} {
		if testing.Short() {
			t.Log("left out of a short run: this mistake, which needs a world of its own")
			continue // each needs a world
		}
		p, err := seed.ParseProfile("world.yaml", []byte(head+c.text))
		if err != nil {
			t.Error(c.text, err)
			continue
		}
		path := filepath.Join(t.TempDir(), "own.db")
		w, err := seed.Generate(t.Context(), seed.Options{Path: path, Seed: 1, Profile: p, Until: seed.DefaultUntil})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
		if err == nil {
			w.Close()
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) > 0 {
			t.Errorf("%s left %v behind", c.text, left)
		}
	}
}

// TestMistakesInAWorldFile reports each mistake with its line and its path.
func TestMistakesInAWorldFile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"acounts: []\n", "5: acounts: there is no such key; did you mean accounts?"},
		{"validators:\n- {name: v}\n", "5: validators: it is how many there are; those by name are listed under addValidators"},
		{"accounts: treasury\n", "5: accounts: expected a list, whose entries begin with -"},
		{"accounts:\n- {name: a}\n", "6: accounts[0]: it needs one of key, index and address"},
		{"accounts:\n- {index: 11}\n", "6: accounts[0].name: it is required: name in the file and in /sim/world"},
		{"accounts:\n- {name: alice, index: 11}\n", "6: accounts[0].name: alice is a persona"},
		{"accounts:\n- {name: a, index: 0}\n", "6: accounts[0]: it is the account of alice; name that one instead"},
		{"accounts:\n- {name: a, key: abc}\n", "6: accounts[0].key: it is not a private key"},
		{"accounts:\n- {name: a, index: 11}\n- {name: a, index: 12}\n", `7: accounts[1].name: "a" is already the name of accounts[0]`},
		{"accounts:\n- name: a\n  index: 11\n  balances:\n    C: 1,5\n", `9: accounts[0].balances.C: "1,5" is not an amount such as 1.5 or 1_000_000`},
		{"accounts:\n- name: a\n  index: 11\n  balances:\n    D: 1\n", "9: accounts[0].balances.D: there is no chain D; expected C, P, X, the same after fuji/, or an EVM chain id"},
		{"accounts:\n- {name: a, index: 11, balances: {P: 0.0000000001}}\n", `6: accounts[0].balances.P: "0.0000000001" has more than 9 decimals`},
		{"accounts:\n- {name: a, index: 11, balances: {4711: 1}}\n", "6: accounts[0].balances.4711: there is no chain 4711; the EVM chains of this profile are 43114 (Avalanche (C-Chain)), 43113"},
		{"accounts:\n- {name: a, address: 0x12}\n", "6: accounts[0].address: \"0x12\" is not an EVM address"},
		{"accounts:\n- {name: a, address: P-avax1qqqq}\n", "6: accounts[0].address: the checksum of P-avax1qqqq is wrong"},
		{"accounts:\n- {name: a, address: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w, balances: {C: 1}}\n", "6: accounts[0].balances.C: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w has nothing on EVM chains"},
		{"accounts:\n- {name: a, address: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w, balances: {fuji/P: 1}}\n", "6: accounts[0].balances.fuji/P: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w is an address of mainnet, and not of fuji"},
		{"accounts:\n- {name: a, address: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w}\ntokens:\n- {name: T, symbol: T, holders: {a: 1}}\n", "8: tokens[0].holders.a: the EVM address of a is unknown"},
		{"accounts:\n- {name: a, address: \"0x1234567890123456789012345678901234567890\"}\nplay:\n- {from: whale, to: a, value: 1, chain: X}\n", "8: play[0].to: the address of a on P and X is unknown"},
		{"play:\n- {from: whale, to: P-avax1qqqq, value: 1, chain: X}\n", "6: play[0].to: the checksum of P-avax1qqqq is wrong"},
		{"play:\n- {from: whale, to: bob, sameBlock: true}\n", "6: play[0].sameBlock: there is no transaction before it"},
		{"play:\n- {from: whale, to: bob}\n- {from: whale, to: bob, chain: fuji/C, sameBlock: true}\n", "7: play[1].sameBlock: the transaction before it is on another chain, C"},
		{"play:\n- {from: whale, to: bob, chain: P, value: 1}\n- {from: whale, to: bob, chain: P, value: 1, sameBlock: true}\n", "7: play[1].sameBlock: only transactions of an EVM chain"},
		{"tokens:\n- {name: T, symbol: T, holders: {alcie: 1}}\n", "6: tokens[0].holders.alcie: there is no account alcie; did you mean alice?"},
		{"tokens:\n- {name: T, symbol: T, supply: 1, holders: {alice: 2}}\n", "6: tokens[0].supply: it is 1, and the holders have more"},
		{"tokens:\n- {name: T, symbol: T, decimal: 6}\n", "6: tokens[0].decimal: there is no such key; did you mean decimals?"},
		{"tokens:\n- {name: T, symbol: T, price: -1}\n", `6: tokens[0].price: "-1" is not an amount`},
		{"tokens:\n- {name: T, symbol: T, price: 0}\n", "6: tokens[0].price: 0 is not more than 0 and at most 10000000000 US dollars"},
		{"tokens:\n- {name: T, symbol: T, price: 10_000_000_001}\n", "6: tokens[0].price: 10_000_000_001 is not more than 0"},
		{"tokens:\n- {name: T, symbol: T, price: 1, swing: 91}\n", "6: tokens[0].price: the swing is 91 percent"},
		{"l1s:\n- {name: L, chainId: 5, swing: 1}\n", "6: l1s[0].swing: it needs a price"},
		{"nfts:\n- {name: N, symbol: N, standard: ERC-20}\n", `6: nfts[0].standard: "ERC-20" is neither ERC-721 nor ERC-1155`},
		{"nfts:\n- {name: N, symbol: N, items: [{id: 1}]}\n", "6: nfts[0].items[0]: an item of an ERC-721 has one holder"},
		{"contracts:\n- {name: c, artifact: absent.json}\n", "6: contracts[0].artifact: open absent.json"},
		{"contracts:\n- {name: c, bytecode: 0x60__$lib$__}\n", "6: contracts[0].bytecode: it has libraries that are not linked"},
		{"contracts:\n- {name: c}\n", "6: contracts[0]: it needs an artifact or bytecode"},
		{"contracts:\n- {name: c, bytecode: 0x00, address: 0x12}\n", "6: contracts[0].address: \"0x12\" is not an EVM address"},
		{"contracts:\n- {name: c, bytecode: 0x00, from: bob, address: \"0x1234567890123456789012345678901234567890\"}\n", "6: contracts[0]: nobody deploys a contract of the genesis"},
		{"contracts:\n- {name: c, bytecode: 0x00, libraries: {Lib: d}}\n", "6: contracts[0].libraries.Lib: there is no contract d in the file; there are c"},
		{"contracts:\n- {name: c, bytecode: 0x00, libraries: {Lib: 0x12}}\n", "6: contracts[0].libraries.Lib: \"0x12\" is not an EVM address"},
		{"contracts:\n- {name: c, bytecode: 0x00, libraries: [Lib]}\n", "6: contracts[0].libraries: expected two names on each line, such as Lib: lib"},
		{"contracts:\n- {name: c, bytecode: 0x00, args: [&a [1,2,3,4,5,6,7,8,9,0], &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a], &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b], &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c],\n" +
			"  &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d], &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e], &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]]}\n", "7: it expands to more than 500000 values"},
		{"play:\n- {from: alice, to: usdx, method: \"f" + strings.Repeat("(", 5_000) + "\"}\n", "6: play[0].method: it has more than 4096 characters"},
		{"play:\n- {from: alice, to: bob, value: " + strings.Repeat("1", 1_000_000) + "}\n", "6: play[0].value: it has more than 300 digits"},
		{"contracts:\n- {name: c, bytecode: 0x00, salt: hello}\n", "6: contracts[0].salt: \"hello\" is not hex"},
		{"contracts:\n- {name: c, bytecode: 0x00, deployer: \"0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7\"}\n", "6: contracts[0].salt: it is required with a deployer"},
		{"contracts:\n- {name: c, bytecode: 0x00, salt: 0x01, value: 1}\n", "6: contracts[0]: a contract with a salt has neither value nor address"},
		{"l1s:\n- {name: Ice, chainId: 43114}\n", "6: l1s[0]: chain 43114, Avalanche (C-Chain), already exists"},
		{"addValidators:\n- {name: v, stake: 2000, end: tomorrow}\n", `6: addValidators[0].end: "tomorrow" is not a time such as`},
		{"play:\n- {from: alice, to: bob, value: 1, chain: fugi/C}\n", `6: play[0].chain: "fugi/C": there is no network fugi`},
		{"play:\n- {from: alice, method: f}\n", "6: play[0].to: it is required: the contract whose method it is"},
		{"play:\n- {from: alice, to: bob, chain: P}\n", "6: play[0]: a transaction on P needs to and value"},
		{"play:\n- {from: alice, value: 1, chain: P, toChain: fuji/C}\n", "6: play[0].toChain: value moves between C, P and X of one network, and not from P to fuji/C"},
		{"play:\n- {from: alice, to: bob, value: 1, toChain: P}\n", "6: play[0]: a transfer to another chain has only from, chain, toChain and value"},
		{"play:\n- alice sends 1 to bob on C\n", "6: play[0]: expected a unit after 1"},
		{"play:\n- alice sends 1 AVAX to bob on D\n", "6: play[0].chain: there is no chain D"},
		{"play:\n- revert to before\n", `6: play[0]: a world file cannot do "revert to before": a world cannot undo anything during its generation`},
		{"play: |\n  mine on C\n  POST /sim/faults {}\n", `7: play[1]: a world file cannot do "POST /sim/faults {}": start the server with --faults FILE instead`},
		{"play: |\n  digest " + strings.Repeat("0", 64) + "\n", "6: play[0]: a world file cannot do \"digest " + strings.Repeat("0", 64) + "\": the world has no digest until it is generated"},
		{"play: |\n  clock advance 1h with people\n", `6: play[0]: a world file cannot do "clock advance 1h0m0s with people": people act only in a finished world`},
		{"play: |\n  evm_setAutomine [false] on C\n", `6: play[0]: a world file cannot do "evm_setAutomine [false] on C": of a node's methods, only those that set an account's balance, nonce, code or storage work here`},
		{"play: |\n  anvil_setBalance [\"@bob\"] on C\n", `6: play[0]: a world file cannot do "anvil_setBalance [\"@bob\"] on C": anvil_setBalance takes 2 parameters, not 1`},
		{"play: |\n  anvil_setBalance [\"@bob\",\"0x-1\"] on C\n", `6: play[0]: a world file cannot do "anvil_setBalance [\"@bob\",\"0x-1\"] on C": parameter 2 of anvil_setBalance: expected a number of 256 bits, in decimal or as 0x and hexadecimal digits, not "0x-1"`},
		{"play: |\n  anvil_setStorageAt [\"@bob\",0,\"0x01\"] on C\n", `6: play[0]: a world file cannot do "anvil_setStorageAt [\"@bob\",0,\"0x01\"] on C": expected 32 bytes for a slot's value`},
		{"play: |\n  anvil_setNonce [\"@bob\",9223372036854775808] on C\n", `6: play[0]: a world file cannot do "anvil_setNonce [\"@bob\",9223372036854775808] on C": the nonce has more than 62 bits`},
		{"play: |\n  anvil_setBalance [\"@bob\",1] on P\n", "6: play[0]: P is not an EVM chain"},
		{"play: |\n  # two lines\n\n  mine on C\n  mine on D\n", "9: play[1]: there is no chain D"},
		{"play:\n- {from: alice, from: bob, to: bob}\n", "6: play[0].from: it appears twice"},
	} {
		_, err := seed.ParseProfile("world.yaml", []byte(head+c.text))
		if err == nil || !strings.HasPrefix(err.Error(), "world.yaml:"+c.want) && !strings.Contains(err.Error(), "\nworld.yaml:"+c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	two := fmt.Sprint(head, "acounts: []\ntoken: []\n")
	if _, err := seed.ParseProfile("w.yaml", []byte(two)); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes are not told in two lines: %v", err)
	}
}

// TestAWorldFilePlaysASession: session text does the same as entries.
func TestAWorldFilePlaysASession(t *testing.T) {
	heads := func(text string) string { // the digest covers the file's text
		p, err := seed.ParseProfile("world.yaml", []byte(head+text))
		if err != nil {
			t.Fatal(err)
		}
		w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		again, err := seed.ParseProfile("world.yaml", []byte(w.Meta.Shape))
		if shape, wrong := again.YAML(); err != nil || wrong != nil || shape != w.Meta.Shape {
			t.Errorf("%s: the file's own copy is read as another: %v, %v\n%s", text, err, wrong, shape)
		}
		all := fmt.Sprint(w.Clock.UnixMilli())
		for _, c := range w.Chains {
			head, err := c.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all += " " + head.Hash.Hex()
		}
		return all
	}
	entries := heads("play:\n- {from: alice, to: bob, value: 1.5}\n- {from: alice, to: usdx, method: transfer, args: [bob, 5]}\n- {from: bob, to: alice, value: 0.000000001, chain: fuji/C, at: +1h}\n")
	lines := heads("play: |\n  # a walk\n  alice sends 1.5 AVAX to bob on C\n\n  alice calls usdx.transfer(bob, 5) on C\n  clock to 2026-11-01T01:00:00Z\n  bob sends 1 gwei to alice on fuji/C\n")
	if entries != lines {
		t.Errorf("the world has %s with entries and %s with lines", entries, lines)
	}
	if mined := heads("play:\n- {from: alice, to: bob, value: 1.5}\n- alice calls usdx.transfer(address,uint256)(bob, 5) on C\n- clock advance 1h\n- {from: bob, to: alice, value: 0.000000001, chain: fuji/C}\n- mine on C\n"); mined == lines {
		t.Error("mine does nothing")
	}
}

// TestAFileSetsStates: as the methods of a node do, and as verify does again.
func TestAFileSetsStates(t *testing.T) {
	w := own(t, store.Memory, head+`play: |
  anvil_setBalance ["@bob",1000000000000000000] on C
  tenderly_addBalance ["@bob","0x5"] on C
  evm_setAccountNonce ["@bob",7000] on C
  anvil_setCode ["0x00000000000000000000000000000000000c0ffe","0x60006000fd"] on C # it reverts
  hardhat_setStorageAt ["@usdx","0x63","0x`+strings.Repeat("0", 63)+`7"] on C
  hardhat_setNonce ["@bob",1] on C fails
  bob sends 1 wei to alice on C
`)
	verifytest.Sound(t, w)
	c := w.Chains[0]
	states := must(c.State(t.Context(), must(c.Head(t.Context()))(t)))(t)
	bob := common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	spent := new(big.Int).Sub(big.NewInt(1e18+5-1), states.GetBalance(bob).ToBig())
	if n := states.GetNonce(bob); n != 7001 || spent.Sign() <= 0 || spent.Cmp(big.NewInt(1e16)) > 0 {
		t.Errorf("bob has the nonce %d and spent %s", n, spent)
	}
	if code := states.GetCode(common.HexToAddress("0xc0ffe")); !bytes.Equal(code, common.FromHex("60006000fd")) {
		t.Errorf("the code is %x", code)
	}
	for _, row := range must(w.DB.Contracts(t.Context(), c.Row.ID))(t) {
		if slot := states.GetState(common.Address(row.Address), common.HexToHash("0x63")); row.Role == "usdx" && slot.Big().Int64() != 7 {
			t.Errorf("the slot has %s", slot)
		}
	}
}

// TestTokensOfAFileHaveTheirPrice: including tokens of the genesis and an L1's own token. Without a price in the file a token has none,
// whatever its name.
func TestTokensOfAFileHaveTheirPrice(t *testing.T) {
	w := own(t, store.Memory, head+`
tokens:
- {name: Steady, symbol: STY, holders: {alice: 2}, price: 1.25, swing: 0}
- {name: Placed, symbol: png, chain: Glacier, address: "0x1234567890123456789012345678901234567890", supply: 10, price: 3}
- {name: Placed, symbol: joe, chain: Glacier, address: "0x1234567890123456789012345678901234567891", supply: 10}
l1s:
- {name: Glacier, chainId: 777001, token: GLC, price: 0.5, swing: 12.5}
`)
	found := map[string]store.Market{}
	for _, c := range w.Chains {
		roles := map[common.Address]string{{}: c.Row.TokenSymbol}
		for _, row := range must(w.DB.Contracts(t.Context(), c.Row.ID))(t) {
			roles[common.Address(row.Address)] = row.Role
		}
		for _, m := range must(w.DB.Markets(t.Context(), c.Row.ID))(t) {
			found[fmt.Sprint(c.Row.EVMID, " ", roles[common.Address(m.Address)])] = m
		}
	}
	for _, want := range []struct {
		of           string
		price, swing int64
	}{
		{"43114 STY", 125_000_000, 0}, {"777001 png", 300_000_000, 300_000}, {"777001 joe", 0, 0}, {"777001 GLC", 50_000_000, 125_000},
		{"777001 wrapped", 50_000_000, 125_000}, {"43114 AVAX", 2_450_000_000, 350_000},
	} {
		if m := found[want.of]; m.Price != want.price || m.Amplitude != want.swing || (m.Series != "") != (want.price > 0) {
			t.Errorf("the market of %s is %+v", want.of, m)
		}
	}
	series := price.Series{Name: found["777001 png"].Series, Middle: 300_000_000, Amplitude: 300_000}
	if series.At(1, 500_000) == series.At(1, 500_400) {
		t.Error("the price of a token with a swing does not move")
	}
}

// TestExampleShowsUpgrades: the example's commented line chooses upgrades once it is uncommented.
func TestExampleShowsUpgrades(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		worldfile.Example: nil,
		strings.Replace(worldfile.Example, "\n# upgrades:", "\nupgrades:", 1): {"helicon=never", "fuji:helicon=2026-12-01T00:00:00Z"},
	} {
		profile, err := seed.ParseProfile("world.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(profile.Upgrades, want) {
			t.Errorf("the upgrades are %q, want %q", profile.Upgrades, want)
		}
	}
}
