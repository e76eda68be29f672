// Package nodetest calls the methods of an EVM chain in tests, with all namespaces and without a server.
package nodetest

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/anvil"
	"snowglobe/handlers/node/debug"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/ots"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/handlers/node/simulate"
	"snowglobe/handlers/node/trace"
	"snowglobe/handlers/node/warp"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// Chain is a chain as one client sees it, who may sign for alice.
type Chain struct {
	*rpctest.Client
	World *sim.World
	Chain *reader.Chain
	Miner *miner.Miner
	From  common.Address // alice

	key *ecdsa.PrivateKey
}

// Object is a JSON object.
type Object = rpctest.Object

// Open serves a chain of a world.
func Open(t testing.TB, w *sim.World, c *reader.Chain) *Chain {
	t.Helper()
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key, err := crypto.ToECDSA(personas[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	wallet, err := eth.NewWallet([][]byte{personas[0].Key})
	if err != nil {
		t.Fatal(err)
	}
	m, n := w.MinerOf(c), w.NetworkOf(c)
	e := eth.New(eth.Options{Miner: m, Network: n, Wallet: wallet, MaxBody: 1 << 20, More: slices.Concat(
		debug.Namespaces(m, nil), warp.Namespaces(c, n), anvil.Namespaces(m, anvil.Options{Network: n, Advance: w.Advance}), trace.Namespaces(m), ots.Namespaces(m), simulate.Namespaces(m),
	)})
	t.Cleanup(e.Close)
	return &Chain{Client: rpctest.Serve(t, e.Server), World: w, Chain: c, Miner: m, From: crypto.PubkeyToAddress(key.PublicKey), key: key}
}

// Try calls a method and decodes its result.
func (c *Chain) Try(into any, method string, params ...any) error {
	c.Helper()
	if params == nil {
		params = []any{}
	}
	raw, err := c.Ask(method, params)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		c.Fatalf("%s: %v: %.500s", method, err, raw)
	}
	return nil
}

// Call calls a method that succeeds.
func (c *Chain) Call(into any, method string, params ...any) {
	c.Helper()
	if err := c.Try(into, method, params...); err != nil {
		c.Fatalf("%s: %s %.500v: %v", c.Chain.Row.Name, method, params, err)
	}
}

// Text calls a method that succeeds, and returns its result as JSON.
func (c *Chain) Text(method string, params ...any) string {
	c.Helper()
	var result json.RawMessage
	c.Call(&result, method, params...)
	return string(result)
}

// Problem calls a method and returns its error with the code, empty if it succeeds.
func (c *Chain) Problem(method string, params ...any) string {
	c.Helper()
	if err := c.Try(new(json.RawMessage), method, params...); err != nil {
		return err.Error()
	}
	return ""
}

// Head returns the newest block.
func (c *Chain) Head() *reader.Block {
	c.Helper()
	b, err := c.Chain.Head(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return b
}

// Block returns a block.
func (c *Chain) Block(number uint64) *reader.Block {
	c.Helper()
	b, err := c.Chain.Block(c.Context(), number)
	if err != nil {
		c.Fatal(err)
	}
	return b
}

// Receipts returns the transactions of a block with their outcomes.
func (c *Chain) Receipts(b *reader.Block) []*reader.Transaction {
	c.Helper()
	all, err := c.Chain.Receipts(c.Context(), b)
	if err != nil {
		c.Fatal(err)
	}
	return all
}

// Transaction returns an accepted transaction with its outcome.
func (c *Chain) Transaction(hash common.Hash) *reader.Transaction {
	c.Helper()
	t, err := c.Chain.Transaction(c.Context(), hash)
	if err != nil {
		c.Fatal(err)
	}
	return c.Receipts(t.Block)[t.Index()]
}

// Nonce returns the nonce of alice's next transaction.
func (c *Chain) Nonce() uint64 {
	c.Helper()
	nonce, err := c.Miner.Nonce(c.Context(), c.From)
	if err != nil {
		c.Fatal(err)
	}
	return nonce
}

// Sign signs a transaction of alice's; without fees and gas it gets enough for a payment.
func (c *Chain) Sign(tx *types.DynamicFeeTx) *types.Transaction {
	c.Helper()
	tx.ChainID = new(big.Int).SetUint64(c.Chain.Row.EVMID)
	if tx.GasFeeCap == nil {
		tx.GasTipCap, tx.GasFeeCap = big.NewInt(1), big.NewInt(2_000_000_000_000)
	}
	if tx.Gas == 0 {
		tx.Gas = 21_000
	}
	return c.SignAny(tx)
}

// SignAny signs a transaction of any type that is whole.
func (c *Chain) SignAny(tx types.TxData) *types.Transaction {
	c.Helper()
	signed, err := types.SignNewTx(c.key, types.LatestSignerForChainID(new(big.Int).SetUint64(c.Chain.Row.EVMID)), tx)
	if err != nil {
		c.Fatal(err)
	}
	return signed
}

// Send sends a transaction of alice's.
func (c *Chain) Send(tx *types.DynamicFeeTx) common.Hash {
	c.Helper()
	signed := c.Sign(tx)
	if err := c.Miner.Send(c.Context(), signed); err != nil {
		c.Fatal(err)
	}
	return signed.Hash()
}

// Raw returns the bytes of a signed transaction.
func (c *Chain) Raw(tx *types.Transaction) hexutil.Bytes {
	c.Helper()
	raw, err := tx.MarshalBinary()
	if err != nil {
		c.Fatal(err)
	}
	return raw
}

// Deploy deploys code and returns its address.
func (c *Chain) Deploy(code []byte) common.Address {
	c.Helper()
	nonce := c.Nonce()
	c.Send(&types.DynamicFeeTx{Nonce: nonce, Gas: 2_000_000, Data: Creation(code)})
	return crypto.CreateAddress(c.From, nonce)
}

// Creation returns the code that creates a contract with a code.
func Creation(code []byte) []byte {
	return append(common.FromHex(fmt.Sprintf("0x61%04x600e60003961%04x6000f3", len(code), len(code))), code...)
}
