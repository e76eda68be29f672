package eth_test

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/verify/verifytest"
)

// try sends a transaction from alice, and returns its hash and the refusal with its code.
func try(d *nodetest.Chain, tx *types.DynamicFeeTx) (hash common.Hash, refusal string) {
	d.Helper()
	signed := d.Sign(tx)
	return signed.Hash(), d.Problem("eth_sendRawTransaction", d.Raw(signed))
}

// onTheCChain runs a test on a C-Chain, and verifies the world afterwards.
func onTheCChain(t *testing.T, test func(*nodetest.Chain)) {
	t.Helper()
	t.Parallel()
	w := seedtest.Copy(t, 1)
	test(nodetest.Open(t, w, w.Networks[0].CChain()))
	verifytest.Sound(t, w)
}

// TestRefusals have a node's words, with the codes by which libraries show them.
func TestRefusals(t *testing.T) { onTheCChain(t, refusals) }

func refusals(d *nodetest.Chain) {
	nonce, most := d.Nonce(), big.NewInt(2_000_000_000_000)
	d.Text("anvil_setNextBlockBaseFeePerGas", "0x64")
	for _, c := range []struct {
		tx   types.DynamicFeeTx
		want string
	}{
		{types.DynamicFeeTx{Nonce: nonce - 1, To: &someone}, fmt.Sprintf("-32000 nonce too low: next nonce %d, tx nonce %d", nonce, nonce-1)},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 20_000}, "-32000 intrinsic gas too low: address " + d.From.Hex() + " tx gas (20000), minimum needed 21000"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(1)}, "-32000 max priority fee per gas higher than max fee per gas"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1)}, "-32000 max fee per gas less than block base fee: address " + d.From.Hex() + ", maxFeePerGas: 1, baseFee: 100"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: new(big.Int).Lsh(big.NewInt(1), 100)}, "-32000 insufficient funds for gas * price + value: balance "},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 90_000_000}, "-32003 tx fee (180.00 ether) exceeds the configured cap (100.00 ether)"},
		{types.DynamicFeeTx{Nonce: nonce, To: &someone, Gas: 90_000_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e11)}, "-32003 exceeds block gas limit: tx gas (90000000) > current max gas ("},
		{types.DynamicFeeTx{Nonce: nonce, Data: make([]byte, 49_153), Gas: 9_000_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e11)}, "-32003 max initcode size exceeded: code size 49153, limit 49152"},
	} {
		if _, got := try(d, &c.tx); got != c.want && !(len(got) > len(c.want) && got[:len(c.want)] == c.want) {
			d.Errorf("%s\nwant %s", got, c.want)
		}
	}
	key, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
	if err != nil {
		d.Fatal(err)
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
		tx, err := types.SignNewTx(key, c.signer, c.tx)
		if err != nil {
			d.Fatal(err)
		}
		if got := d.Problem("eth_sendRawTransaction", d.Raw(tx)); got != c.want {
			d.Errorf("%s\nwant %s", got, c.want)
		}
	}
	if d.Nonce() != nonce || d.Text("txpool_status") != `{"pending":"0x0","queued":"0x0"}` {
		d.Errorf("something was taken: %s", d.Text("txpool_status"))
	}
}

// TestRefusalsOfAnL1 sends transactions that an L1 refuses because of its fee configuration.
func TestRefusalsOfAnL1(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Chains[len(w.Chains)-1])
	want := "-32003 transaction underpriced: address " + d.From.Hex() + " have gas fee cap (1) < pool minimum fee cap ("
	if _, got := try(d, &types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1)}); !strings.HasPrefix(got, want) {
		d.Error(got)
	}
}

// TestAPoolThatWaits tests a pool without automine: a gap, a replacement, the pending block and the next block's transactions.
func TestAPoolThatWaits(t *testing.T) { onTheCChain(t, waiting) }

func waiting(d *nodetest.Chain) {
	d.Text("evm_setAutomine", false)
	defer d.Text("evm_setAutomine", true)
	nonce, head := d.Nonce(), d.Head()
	first := d.Send(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(100), GasTipCap: big.NewInt(100), GasFeeCap: big.NewInt(1e12)})
	later := d.Send(&types.DynamicFeeTx{Nonce: nonce + 2, To: &someone, Value: big.NewInt(7)})
	if got := d.Text("txpool_status"); got != `{"pending":"0x1","queued":"0x1"}` {
		d.Error(got)
	}
	if _, got := try(d, &types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(100), GasTipCap: big.NewInt(100), GasFeeCap: big.NewInt(1e12)}); got != "-32000 already known" {
		d.Error(got)
	}
	if _, got := try(d, &types.DynamicFeeTx{Nonce: nonce, To: &someone, GasTipCap: big.NewInt(109), GasFeeCap: big.NewInt(12e11)}); got != "-32003 replacement transaction underpriced" {
		d.Error(got)
	}
	second := d.Send(&types.DynamicFeeTx{Nonce: nonce, To: &someone, Value: big.NewInt(200), GasTipCap: big.NewInt(110), GasFeeCap: big.NewInt(11e11)})
	var waits struct{ Value, BlockNumber string }
	if d.Call(&waits, "eth_getTransactionByHash", second); waits.Value != "0xc8" || waits.BlockNumber != "" {
		d.Errorf("%+v", waits)
	}
	if got := d.Text("eth_getTransactionByHash", first); got != "null" {
		d.Errorf("the replaced one: %s", got)
	}
	var block struct {
		Number       hexutil.Uint64
		Hash, Nonce  *string
		Transactions []common.Hash
	}
	d.Call(&block, "eth_getBlockByNumber", "pending", false)
	if uint64(block.Number) != head.Number+1 || block.Hash != nil || block.Nonce != nil || len(block.Transactions) != 1 || block.Transactions[0] != second {
		d.Errorf("pending block %+v", block)
	}
	for tag, want := range map[string]string{"latest": `"0x0"`, "pending": `"0xc8"`} {
		if got := d.Text("eth_getBalance", someone, tag); got != want {
			d.Errorf("balance at %s: %s, want %s", tag, got, want)
		}
	}
	if d.Nonce() != nonce+1 || d.Text("eth_getTransactionCount", d.From, "latest") != fmt.Sprintf("%q", hexutil.Uint64(nonce)) {
		d.Errorf("next nonce %d", d.Nonce())
	}
	if got := d.Text("txpool_contentFrom", d.From); len(got) < 500 || d.Text("txpool_inspect") == "{}" {
		d.Error(got)
	}
	d.Text("evm_mine")
	if tx := d.Transaction(second); tx.Block.Number != head.Number+1 {
		d.Errorf("it is in block %d", tx.Block.Number)
	}
	d.Send(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone, Value: big.NewInt(1)})
	d.Text("anvil_mine")
	if got := d.Text("eth_getBalance", someone, "latest"); got != `"0xd0"` {
		d.Errorf("the gap is filled: %s", got)
	}
	if tx := d.Transaction(later); tx.Index() != 1 {
		d.Errorf("it is transaction %d", tx.Index())
	}
	dropped := d.Send(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	if got := d.Text("anvil_dropTransaction", dropped); got != fmt.Sprintf("%q", dropped.Hex()) || d.Text("anvil_dropTransaction", dropped) != "null" {
		d.Error(got)
	}
	d.Send(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	d.Text("anvil_removePoolTransactions", d.From)
	d.Send(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	d.Text("anvil_dropAllTransactions")
	if got := d.Text("txpool_status"); got != `{"pending":"0x0","queued":"0x0"}` {
		d.Error(got)
	}
}

// TestSigning signs for the wallet's accounts, and sends what it signed.
func TestSigning(t *testing.T) { onTheCChain(t, signs) }

func signs(d *nodetest.Chain) {
	var all []common.Address
	d.Call(&all, "eth_accounts")
	if len(all) == 0 || all[0] != d.From {
		d.Fatal(all)
	}
	var signature hexutil.Bytes
	for _, call := range [][]any{{"eth_sign", d.From, "0x68690a"}, {"personal_sign", "0x68690a", d.From}} {
		d.Call(&signature, call[0].(string), call[1:]...)
		signature[64] -= 27
		key, err := crypto.SigToPub(accounts.TextHash([]byte("hi\n")), signature)
		if err != nil || crypto.PubkeyToAddress(*key) != d.From {
			d.Error(err)
		}
	}
	// The signature is the one in go-ethereum's documentation of personal_ecRecover.
	var signer common.Address
	d.Call(&signer, "personal_ecRecover", "0xdeadbeaf",
		"0xa3f20717a250c2b0b729b7e5becbff67fdaef7e0699da4de7ca5895b02a170a12d887fd3b17bfdce3481f10bea41f45ba9f709d39ce8325427b57afcfc994cee1b")
	if signer != common.HexToAddress("0x9b2055d370f73ec7d8a03e965129118dc8f5bf83") {
		d.Error(signer)
	}
	typed := map[string]any{"primaryType": "Mail", "message": map[string]any{"text": "hi"}, "domain": map[string]any{"name": "x"},
		"types": map[string]any{"EIP712Domain": []any{map[string]any{"name": "name", "type": "string"}}, "Mail": []any{map[string]any{"name": "text", "type": "string"}}}}
	d.Call(&signature, "eth_signTypedData_v4", d.From, typed)
	var hash common.Hash
	d.Call(&hash, "eth_sendTransaction", map[string]any{"from": d.From, "to": someone, "value": "0x9"})
	if tx := d.Transaction(hash); tx.Row.Status != 1 || tx.Type() != types.DynamicFeeTxType {
		d.Errorf("type %d, %+v", tx.Type(), tx.Row)
	}
	if got := d.Problem("eth_sendTransaction", map[string]any{"from": someone, "to": someone}); got != "-32000 unknown account" {
		d.Error(got)
	}
	var done struct{ Status, TransactionIndex hexutil.Uint64 }
	for _, call := range []map[string]any{
		{"from": d.From, "to": someone, "gas": "0x5208", "gasPrice": "0x1d1a94a2000", "nonce": hexutil.Uint64(d.Nonce())},
		{"from": d.From, "to": someone, "nonce": hexutil.Uint64(d.Nonce() + 1)},
	} {
		var raw hexutil.Bytes // the result is a plain string, as ethers and viem expect
		d.Call(&raw, "eth_signTransaction", call)
		d.Call(&done, "eth_sendRawTransactionSync", raw)
	}
	if done.Status != 1 {
		d.Errorf("%+v", done)
	}
}

// TestWhatWaitsIsThereAgain: the pool survives a restart, and is not part of the digest.
func TestWhatWaitsIsThereAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	if err := seedtest.Shared(t, "tiny", 1).DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	digest := string(w.Digest())
	d := nodetest.Open(t, w, w.Chains[0])
	d.Text("evm_setAutomine", false)
	nonce := d.Nonce()
	d.Send(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
	d.Send(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone})
	d.Send(&types.DynamicFeeTx{Nonce: nonce + 5, To: &someone})
	content := d.Text("txpool_content")
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
	d = nodetest.Open(t, w, w.Chains[0])
	if got := d.Text("txpool_content"); got != content {
		t.Errorf("%s\nbefore %s", got, content)
	}
	d.Text("evm_mine")
	if got := d.Text("txpool_status"); got != `{"pending":"0x0","queued":"0x1"}` {
		t.Error(got)
	}
	verifytest.Sound(t, w)
}
