// A devnet behind a server, as its clients use it: go-ethereum's, its bindings, and the one whose requests were recorded.

package handlers_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi/bind/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

var someone = common.HexToAddress("0x50e50e")

// devnet is a world behind a server, as one client sees one of its chains.
type devnet struct {
	*testing.T
	world  *sim.World
	server *handlers.Server
	url    string
	client *ethclient.Client
	chain  *reader.Chain
	key    *ecdsa.PrivateKey
	from   common.Address
}

// newDevnet serves a world. The client is alice.
func newDevnet(t *testing.T, w *sim.World, c *reader.Chain) *devnet {
	t.Helper()
	return newDevnetWith(t, w, c, handlers.Options{Network: "mainnet"})
}

func newDevnetWith(t *testing.T, w *sim.World, c *reader.Chain, o handlers.Options) *devnet {
	t.Helper()
	h, err := handlers.New(w, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { h.Close(); s.Close() })
	d := &devnet{T: t, world: w, server: h, url: s.URL, chain: c}
	if d.client, err = ethclient.Dial(d.rpc("http", "rpc")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.client.Close)
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.key, err = crypto.ToECDSA(personas[0].Key); err != nil {
		t.Fatal(err)
	}
	d.from = crypto.PubkeyToAddress(d.key.PublicKey)
	return d
}

func (d *devnet) rpc(scheme, end string) string {
	return strings.Replace(d.url, "http", scheme, 1) + "/ext/bc/" + ids.ID(d.chain.Row.BlockchainID).String() + "/" + end
}

// sign makes a transaction from alice with sufficient fees.
func (d *devnet) sign(tx *types.DynamicFeeTx) *types.Transaction {
	d.Helper()
	id := new(big.Int).SetUint64(d.chain.Row.EVMID)
	tx.ChainID = id
	if tx.GasFeeCap == nil {
		tx.GasTipCap, tx.GasFeeCap = big.NewInt(1), big.NewInt(2_000_000_000_000)
	}
	if tx.Gas == 0 {
		tx.Gas = 21_000
	}
	signed, err := types.SignNewTx(d.key, types.LatestSignerForChainID(id), tx)
	if err != nil {
		d.Fatal(err)
	}
	return signed
}

func (d *devnet) nonce() uint64 {
	d.Helper()
	nonce, err := d.client.PendingNonceAt(d.Context(), d.from)
	if err != nil {
		d.Fatal(err)
	}
	return nonce
}

// verify checks the whole world.
func (d *devnet) verify() {
	d.Helper()
	verifytest.Sound(d, d.world)
}

// call calls a method and reads its result.
func (d *devnet) call(result any, method string, params ...any) {
	d.Helper()
	if err := d.client.Client().CallContext(d.Context(), result, method, params...); err != nil {
		d.Fatalf("%s: %v", method, err)
	}
}

// text calls a method and returns its result as JSON.
func (d *devnet) text(method string, params ...any) string {
	d.Helper()
	var result json.RawMessage
	d.call(&result, method, params...)
	return string(result)
}

// send sends a transaction from alice, and returns its hash and the error with its code.
func (d *devnet) send(tx *types.DynamicFeeTx) (hash common.Hash, refusal string) {
	d.Helper()
	signed := d.sign(tx)
	raw, err := signed.MarshalBinary()
	if err != nil {
		d.Fatal(err)
	}
	err = d.client.Client().CallContext(d.Context(), new(common.Hash), "eth_sendRawTransaction", hexutil.Encode(raw))
	return signed.Hash(), codeOf(err)
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	var coded ethrpc.Error
	if errors.As(err, &coded) {
		return fmt.Sprint(coded.ErrorCode(), " ", err)
	}
	return err.Error()
}

func (d *devnet) mustSend(tx *types.DynamicFeeTx) common.Hash {
	d.Helper()
	hash, refusal := d.send(tx)
	if refusal != "" {
		d.Fatal(refusal)
	}
	return hash
}

func (d *devnet) head() *types.Header {
	d.Helper()
	head, err := d.client.HeaderByNumber(d.Context(), nil)
	if err != nil {
		d.Fatal(err)
	}
	return head
}

// TestADevnet treats a chain as test clients do, and verifies the world afterwards.
func TestADevnet(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	for _, part := range []struct {
		name string
		test func(*devnet)
	}{
		{"sent at once", sentAtOnce}, {"bindings", bindings}, {"everywhere", everywhere},
	} {
		t.Run(part.name, func(t *testing.T) {
			own := *d
			own.T = t
			part.test(&own)
		})
	}
	d.verify()
}

// sentAtOnce: on every chain, a transaction's receipt exists when the call returns, and the clock has at least its block's time.
func sentAtOnce(d *devnet) {
	for _, c := range d.world.Chains {
		own := newDevnet(d.T, d.world, c)
		own.sentAtOnce()
	}
}

func (d *devnet) sentAtOnce() {
	before, digest, to := d.world.Clock.UnixMilli(), string(d.world.Digest()), common.HexToAddress("0xa70ce")
	tx := d.sign(&types.DynamicFeeTx{Nonce: d.nonce(), To: &to, Value: big.NewInt(7)})
	if err := d.client.SendTransaction(d.Context(), tx); err != nil {
		d.Fatal(err)
	}
	receipt, err := d.client.TransactionReceipt(d.Context(), tx.Hash())
	if err != nil || receipt.Status != 1 {
		d.Fatal(receipt, err)
	}
	if head := d.head(); head.Number.Cmp(receipt.BlockNumber) != 0 || d.world.Clock.Unix() < int64(head.Time) || d.world.Clock.UnixMilli() < before {
		d.Errorf("the clock is at %d, block %d at %d", d.world.Clock.Unix(), head.Number, head.Time)
	}
	if balance, err := d.client.BalanceAt(d.Context(), to, nil); err != nil || balance.Int64() != 7 {
		d.Error(balance, err)
	}
	if digest == string(d.world.Digest()) {
		d.Error("the digest did not notice")
	}
}

// counterCode is the init code of a contract that returns 42 and logs the caller.
const counterCode = "0x601a600c600039601a6000f3337ffd8d0c1dc3ab254ec49463a1192bb2423b3b851adedec1aa94dcd362dc063c9d60206000a2602a60005260206000f3"

// bindings uses go-ethereum's own bindings: they deploy a contract and wait for it.
func bindings(d *devnet) {
	auth := bind.NewKeyedTransactor(d.key, new(big.Int).SetUint64(d.chain.Row.EVMID))
	auth.Context = d.Context()
	address, tx, err := bind.DeployContract(auth, common.FromHex(counterCode), d.client, nil)
	if err != nil {
		d.Fatal(err)
	}
	if got, err := bind.WaitDeployed(d.Context(), d.client, tx.Hash()); err != nil || got != address {
		d.Fatal(got, err)
	}
}

// recorded lists requests that change the world in every way, as a client once sent them.
var recorded = []struct{ path, body string }{
	{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x000000000000000000000000000000000050e50e","value":"0x7"}]}`},
	{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":2,"method":"anvil_setBalance","params":["0x000000000000000000000000000000000050e50e","0xde0b6b3a7640000"]}`},
	{"/sim/clock", `{"advance":"36h"}`},
	{"/v1/operations/transactions:export", `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],"includeChains":["43114"]}}`},
	{"/ext/bc/C/rpc", `[{"jsonrpc":"2.0","id":3,"method":"evm_setAutomine","params":[false]},{"jsonrpc":"2.0","id":4,"method":"eth_sendTransaction","params":[{"from":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","data":"0x602a60005260206000f3"}]},{"jsonrpc":"2.0","id":5,"method":"anvil_mine","params":["0x3","0x5"]}]`},
	{"/fuji/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":6,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}]}`},
}

// TestRecordedRequestsMakeOneDigest replays them in two worlds. The digest is the same on every machine.
func TestRecordedRequestsMakeOneDigest(t *testing.T) {
	t.Parallel()
	const want = "597a690c9436182baa9313440d00c4f2629d60f32ed972e0409491b0643c3e15"
	for i := range 2 {
		w := tinyWorldOf(t, 1)
		d := newDevnet(t, w, w.Chains[0])
		for _, r := range recorded {
			answer, err := http.Post(d.url+r.path, "application/json", strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode >= 300 || bytes.Contains(text, []byte(`"error"`)) {
				t.Fatalf("%s: %d %s, %v", r.body, answer.StatusCode, text, err)
			}
		}
		if got := hex.EncodeToString(w.Digest()); got != want {
			t.Errorf("the digest is %s", got)
		}
		if i == 0 || !testing.Short() {
			d.verify()
		} else {
			d.Log("left out of a short run: verification of this one")
		}
	}
}
