package handlers_test

import (
	"math/big"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/handlers"
)

// BenchmarkSend sends payments over HTTP and asks for the receipt of each: one client, and sixteen at a time with an account each.
func BenchmarkSend(b *testing.B) {
	for _, c := range []struct {
		name    string
		clients int
	}{{"1 client", 1}, {"16 clients", 16}} {
		b.Run(c.name, func(b *testing.B) {
			w := makeTiny(b, 1)
			defer w.Close()
			h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			s := httptest.NewServer(h)
			defer s.Close()
			personas, err := w.DB.Personas(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			id := new(big.Int).SetUint64(w.Networks[0].CChain().Row.EVMID)
			signer := types.LatestSignerForChainID(id)
			alice, err := crypto.ToECDSA(personas[0].Key)
			if err != nil {
				b.Fatal(err)
			}
			client, err := ethclient.Dial(s.URL + "/ext/bc/C/rpc")
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			nonce, err := client.NonceAt(b.Context(), crypto.PubkeyToAddress(alice.PublicKey), nil)
			if err != nil {
				b.Fatal(err)
			}
			pay := func(client *ethclient.Client, key []byte, nonce uint64, to common.Address, value *big.Int) {
				secret, err := crypto.ToECDSA(key)
				if err != nil {
					b.Error(err)
					return
				}
				tx := types.MustSignNewTx(secret, signer, &types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &to, Value: value})
				if err := client.SendTransaction(b.Context(), tx); err != nil {
					b.Error(err)
					return
				}
				if _, err := client.TransactionReceipt(b.Context(), tx.Hash()); err != nil {
					b.Error(err)
				}
			}
			keys := make([][]byte, c.clients)
			for i := range keys {
				secret, err := crypto.GenerateKey()
				if err != nil {
					b.Fatal(err)
				}
				keys[i] = crypto.FromECDSA(secret)
				pay(client, personas[0].Key, nonce+uint64(i), crypto.PubkeyToAddress(secret.PublicKey), big.NewInt(1e18))
			}
			var next atomic.Int64
			b.SetParallelism((c.clients + 1) / 2)
			b.ResetTimer()
			body := func(more func() bool) {
				own := keys[next.Add(1)-1]
				client, err := ethclient.Dial(s.URL + "/ext/bc/C/rpc")
				if err != nil {
					b.Error(err)
					return
				}
				defer client.Close()
				for nonce := uint64(0); more(); nonce++ {
					pay(client, own, nonce, common.Address{19: 7}, new(big.Int))
				}
			}
			if c.clients == 1 {
				body(b.Loop)
			} else {
				b.RunParallel(func(pb *testing.PB) { body(pb.Next) })
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}
