// The devnet and its clients, shared by the tests that send.

package handlers_test

import (
	"crypto/ecdsa"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi/bind/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

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
