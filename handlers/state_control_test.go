// anvil's control of the state, seen through the node and the Data API.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/verify"
	"snowglobe/sim/verify/verifytest"
)

// data reads a Data API response about the chain; path is relative to the chain's.
func (d *devnet) data(path string, answer any) {
	d.Helper()
	response, err := http.Get(fmt.Sprintf("%s/v1/chains/%d/%s", d.url, d.chain.Row.EVMID, path))
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		d.Fatalf("%s: %s %s %v", path, response.Status, body, err)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		d.Fatalf("%s: %s: %v", path, body, err)
	}
}

// erc20 returns an owner's balance of a token, from the token and from the Data API.
func (d *devnet) erc20(token, owner common.Address) (said, listed string) {
	d.Helper()
	var word hexutil.Bytes
	d.call(&word, "eth_call", map[string]any{"to": token, "data": hexutil.Bytes(append(crypto.Keccak256([]byte("balanceOf(address)"))[:4], common.LeftPadBytes(owner[:], 32)...))}, "latest")
	var answer struct {
		Balances []struct{ Balance string } `json:"erc20TokenBalances"`
	}
	d.data(fmt.Sprintf("addresses/%s/balances:listErc20?filterSpamTokens=false&contractAddresses=%s", owner, token), &answer)
	listed = "0"
	if len(answer.Balances) > 0 {
		listed = answer.Balances[0].Balance
	}
	return new(big.Int).SetBytes(word).String(), listed
}

// native returns an address's native balance, from the node and from the Data API.
func (d *devnet) native(address common.Address) (said, listed string) {
	d.Helper()
	balance, err := d.client.BalanceAt(d.Context(), address, nil)
	if err != nil {
		d.Fatal(err)
	}
	var answer struct {
		Native struct{ Balance string } `json:"nativeTokenBalance"`
	}
	d.data(fmt.Sprintf("addresses/%s/balances:getNative", address), &answer)
	return balance.String(), answer.Native.Balance
}

// TestStateControl makes every change that a client can make to a chain without a transaction, and verifies the world afterwards.
func TestStateControl(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for i, c := range []int{0, len(w.Chains) - 1} {
		d := newDevnet(t, w, w.Chains[c])
		for _, part := range []struct {
			name string
			test func(*devnet)
		}{{"at once", changedAtOnce}, {"tokens", changedTokens}, {"items", changedItems}, {"impersonation", impersonates}} {
			t.Run(fmt.Sprint(i, " ", part.name), func(t *testing.T) {
				own := *d
				own.T = t
				part.test(&own)
			})
		}
	}
	verifytest.Sound(t, w)
	if err := verify.Inspect(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

// changedAtOnce: each kind of change shows at once in the node and the Data API, makes no block and leaves earlier states alone.
func changedAtOnce(d *devnet) {
	fresh, head := common.HexToAddress("0xf4e54"), d.head()
	word := "0x" + strings.Repeat("00", 31) + "2a"
	for _, c := range []struct {
		method string
		params []any
		answer string
		read   string
		want   string
	}{
		{"anvil_setBalance", []any{fresh, "0x10"}, "null", "eth_getBalance", `"0x10"`},
		{"anvil_addBalance", []any{fresh, "0x" + strings.Repeat("ff", 32)}, "null", "eth_getBalance", `"0x` + strings.Repeat("ff", 32) + `"`},
		{"anvil_setNonce", []any{fresh, "0x5"}, "null", "eth_getTransactionCount", `"0x5"`},
		{"anvil_setCode", []any{fresh, "0x602a60005260206000f3"}, "null", "eth_getCode", `"0x602a60005260206000f3"`},
	} {
		digest := string(d.world.Digest())
		if got := d.text(c.method, c.params...); got != c.answer {
			d.Errorf("%s answers %s, want %s", c.method, got, c.answer)
		}
		for _, tag := range []string{"latest", "pending", hexutil.EncodeBig(head.Number)} {
			if got := d.text(c.read, fresh, tag); got != c.want {
				d.Errorf("%s, %s at %s: %s, want %s", c.method, c.read, tag, got, c.want)
			}
		}
		if digest == string(d.world.Digest()) {
			d.Errorf("%s: the digest did not notice", c.method)
		}
		if said, listed := d.native(fresh); said != listed {
			d.Errorf("%s: the balance is %s, the Data API says %s", c.method, said, listed)
		}
	}
	var modified []common.Address
	if d.call(&modified, "debug_getModifiedAccountsByNumber", head.Number.Uint64()); !slices.Contains(modified, fresh) {
		d.Errorf("what changed after block %d is not among the accounts that it modified: %v", head.Number, modified)
	}
	for _, slot := range []string{"0x3", "0x4", "0x5"} {
		if got := d.text("anvil_setStorageAt", fresh, slot, word); got != "true" {
			d.Error(slot, got)
		}
		if got := d.text("eth_getStorageAt", fresh, slot, "latest"); got != `"`+word+`"` {
			d.Error(slot, got)
		}
	}
	if got := d.text("eth_call", map[string]any{"to": fresh}, "latest"); got != `"`+word+`"` {
		d.Error("code that was set answers", got)
	}
	before := hexutil.EncodeBig(new(big.Int).Sub(head.Number, common.Big1))
	if got := d.text("eth_getBalance", fresh, before); got != `"0x0"` {
		d.Error("the block before has", got)
	}
	if now := d.head(); now.Hash() != head.Hash() {
		d.Error("a block was made")
	}
	// An account that has only storage gets a contract's nonce, and an empty payment does not remove it.
	bare := common.HexToAddress("0xba4e")
	d.text("anvil_setStorageAt", bare, "0x1", word)
	if got := d.text("eth_getTransactionCount", bare, "latest"); got != `"0x1"` {
		d.Error("the nonce of an account with storage only is", got)
	}
	var proof struct {
		Balance      string
		StorageProof []struct{ Value string }
	}
	d.call(&proof, "eth_getProof", fresh, []string{"0x3"}, "latest")
	if proof.Balance != "0x"+strings.Repeat("ff", 32) || proof.StorageProof[0].Value != "0x2a" {
		d.Errorf("the proof is of %+v", proof)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &bare, Gas: 50_000})
	if root := d.head().Root; root == head.Root {
		d.Error("the next block's root is that before the changes")
	}
	if got := d.text("eth_getStorageAt", bare, "0x1", "latest"); got != `"`+word+`"` {
		d.Error("after a payment of nothing, the slot is", got)
	}
}

// changedTokens: the Data API notices changes to a token's storage, and token code at a new address.
func changedTokens(d *devnet) {
	token, holder := *d.contract("usdx"), common.HexToAddress("0x401de4")
	for _, owner := range []common.Address{holder, d.from} {
		for _, amount := range []string{"123456789", "0", "1"} {
			if got := d.text("anvil_dealERC20", owner, token, amount); got != "null" {
				d.Fatal(got)
			}
			if said, listed := d.erc20(token, owner); said != amount || listed != amount {
				d.Errorf("%s was dealt %s: the token says %s, the Data API %s", owner, amount, said, listed)
			}
		}
	}
	d.text("hardhat_dealERC20", holder, token, "0x64")
	d.text("anvil_setERC20Allowance", holder, d.from, token, "0x32")
	var allowed hexutil.Bytes
	d.call(&allowed, "eth_call", map[string]any{"to": token, "data": hexutil.Bytes(append(append(crypto.Keccak256([]byte("allowance(address,address)"))[:4],
		common.LeftPadBytes(holder[:], 32)...), common.LeftPadBytes(d.from[:], 32)...))}, "latest")
	if new(big.Int).SetBytes(allowed).Int64() != 50 {
		d.Error("the allowance is", allowed)
	}
	// The same code elsewhere is a token without holders.
	other := common.HexToAddress("0x7070")
	var code hexutil.Bytes
	d.call(&code, "eth_getCode", token, "latest")
	d.text("anvil_setCode", other, code)
	d.text("anvil_setERC20Balance", holder, other, 7)
	if said, listed := d.erc20(other, holder); said != "7" || listed != "7" {
		d.Errorf("of a new token the holder has %s, the Data API says %s", said, listed)
	}
	var shown struct{ ErcType, Name string }
	d.data("addresses/"+other.Hex(), &shown)
	if shown.ErcType != "ERC-20" {
		d.Errorf("the Data API shows %+v", shown)
	}
	// Without its code, the token has no holders.
	d.text("anvil_setCode", other, "0x")
	if _, listed := d.erc20(other, holder); listed != "0" {
		d.Error("without code the Data API says", listed)
	}
}

// changedItems: the owner of an ERC-721 item follows its storage, in the Data API as in the contract.
func changedItems(d *devnet) {
	collection, holder := *d.contract("collection"), common.HexToAddress("0x401de4")
	type item struct{ TokenID, OwnerAddress string }
	var all struct{ Tokens []item }
	d.data("nfts/collections/"+collection.Hex()+"/tokens?pageSize=100", &all)
	at := slices.IndexFunc(all.Tokens, func(i item) bool { return i.OwnerAddress != "" })
	if at < 0 {
		d.Fatal("no token has an owner")
	}
	before := all.Tokens[at]
	number, _ := new(big.Int).SetString(before.TokenID, 10)
	var list struct{ AccessList types.AccessList }
	d.call(&list, "eth_createAccessList", map[string]any{"from": alice, "to": collection, "data": hexutil.Bytes(append(crypto.Keccak256([]byte("ownerOf(uint256)"))[:4], common.BigToHash(number).Bytes()...))})
	d.text("anvil_setStorageAt", collection, list.AccessList[0].StorageKeys[0], common.BytesToHash(holder[:]))
	var now item
	d.data("nfts/collections/"+collection.Hex()+"/tokens/"+before.TokenID, &now)
	if now.OwnerAddress != holder.Hex() {
		d.Errorf("the Data API names %s as the owner", now.OwnerAddress)
	}
	for owner, want := range map[string]bool{holder.Hex(): true, before.OwnerAddress: false} {
		var held struct {
			Balances []item `json:"erc721TokenBalances"`
		}
		d.data("addresses/"+owner+"/balances:listErc721?pageSize=500&contractAddress="+collection.Hex(), &held)
		if slices.ContainsFunc(held.Balances, func(i item) bool { return i.TokenID == before.TokenID }) != want {
			d.Errorf("%s holds %+v", owner, held.Balances)
		}
	}
}

// impersonates: any account can send, even a contract, and every interface names it as the sender.
func impersonates(d *devnet) {
	someoneElse, contract := common.HexToAddress("0x1e1"), *d.contract("usdx")
	send := func(from common.Address) (string, error) {
		var hash string
		err := d.client.Client().CallContext(d.Context(), &hash, "eth_sendTransaction", map[string]any{"from": from, "to": someone, "value": "0x1", "nonce": d.text("eth_getTransactionCount", from, "latest")[1:4]})
		return hash, err
	}
	if _, err := send(someoneElse); err == nil || err.Error() != "unknown account" {
		d.Error(err)
	}
	d.text("anvil_impersonateAccount", someoneElse)
	if got := d.text("hardhat_impersonateAccount", contract); got != "true" {
		d.Error(got)
	}
	if got := d.text("eth_accounts"); !strings.HasSuffix(got, strings.ToLower(fmt.Sprintf(`"%s","%s"]`, someoneElse, contract))) {
		d.Error(got)
	}
	if _, err := send(someoneElse); err == nil || !strings.Contains(err.Error(), "insufficient funds") {
		d.Error("without a balance:", err)
	}
	hashes := map[string]bool{}
	for _, from := range []common.Address{someoneElse, contract} {
		d.text("anvil_setBalance", from, "0xde0b6b3a7640000")
		hash, err := send(from)
		if err != nil {
			d.Fatal(err)
		}
		hashes[hash] = true
		for _, method := range []string{"eth_getTransactionByHash", "eth_getTransactionReceipt"} {
			var shown struct{ From, Status string }
			d.call(&shown, method, hash)
			if shown.From != strings.ToLower(from.Hex()) || shown.Status == "0x0" {
				d.Errorf("%s: %+v", method, shown)
			}
		}
		var raw hexutil.Bytes
		d.call(&raw, "eth_getRawTransactionByHash", hash)
		if crypto.Keccak256Hash(raw).Hex() != hash {
			d.Error("the bytes do not have the hash")
		}
		var trace struct{ From string }
		d.call(&trace, "debug_traceTransaction", hash, map[string]any{"tracer": "callTracer"})
		if trace.From != strings.ToLower(from.Hex()) {
			d.Error("the trace is of", trace.From)
		}
		var listed struct {
			Transaction struct {
				From   struct{ Address string }
				TxHash string
			} `json:"nativeTransaction"`
		}
		d.data("transactions/"+hash, &listed)
		if listed.Transaction.From.Address != from.Hex() {
			d.Errorf("the Data API shows %+v", listed)
		}
		if said, listed := d.native(from); said != listed {
			d.Errorf("%s has %s, the Data API says %s", from, said, listed)
		}
	}
	if len(hashes) != 2 {
		d.Error("two senders' transactions have one hash")
	}
	if got := d.text("hardhat_stopImpersonatingAccount", contract); got != "true" {
		d.Error(got)
	}
	if got := d.text("hardhat_stopImpersonatingAccount", contract); got != "false" {
		d.Error(got)
	}
	d.text("anvil_stopImpersonatingAccount", someoneElse)
	if _, err := send(someoneElse); err == nil || err.Error() != "unknown account" {
		d.Error(err)
	}
	d.text("anvil_autoImpersonateAccount", true)
	if _, err := send(someoneElse); err != nil {
		d.Error(err)
	}
	d.text("anvil_autoImpersonateAccount", false)
	var hash string
	d.call(&hash, "eth_sendUnsignedTransaction", map[string]any{"from": contract, "to": someone, "value": "0x1"})
}
