package handlers_test

import (
	"bytes"
	"math/big"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// TestNoBlockThatWasToldIsLost kills a server again and again while four clients send: every transaction whose receipt one of them got is in
// the file, where the receipt says, and verify finds no fault with it.
func TestNoBlockThatWasToldIsLost(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	folder := t.TempDir()
	for range rounds {
		s := start(t, folder, "--quiet", "--db", "w.db")
		told := sendUntilKilled(t, s)
		w, err := sim.Open(t.Context(), filepath.Join(folder, "w.db"))
		if err != nil {
			t.Fatal(err)
		}
		c := w.NetworkNamed(fixtures.MainnetName).CChain()
		for _, receipt := range told {
			found, err := c.Transaction(t.Context(), receipt.TxHash)
			if err != nil || !bytes.Equal(found.Block.Hash[:], receipt.BlockHash[:]) {
				t.Errorf("transaction %s of block %d: %v", receipt.TxHash, receipt.BlockNumber, err)
			}
		}
		if _, err := verify.Verify(t.Context(), w, nil); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sendUntilKilled has four personas pay until the server is killed, and answers the receipts that they got.
func sendUntilKilled(t *testing.T, s *started) (told []*types.Receipt) {
	var mu sync.Mutex
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			client, err := ethclient.Dial(s.url + "/ext/bc/C/rpc")
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			key, err := crypto.HexToECDSA(fixtures.Personas[i].Key)
			if err != nil {
				t.Error(err)
				return
			}
			nonce, err := client.NonceAt(t.Context(), crypto.PubkeyToAddress(key.PublicKey), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for ; ; nonce++ {
				id := new(big.Int).SetUint64(fixtures.Networks[0].CChainEVMID)
				tx := types.MustSignNewTx(key, types.LatestSignerForChainID(id),
					&types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &common.Address{19: 7}})
				if client.SendTransaction(t.Context(), tx) != nil {
					return
				}
				receipt, err := client.TransactionReceipt(t.Context(), tx.Hash())
				if err != nil {
					return
				}
				mu.Lock()
				told = append(told, receipt)
				enough := len(told) == 100
				mu.Unlock()
				if enough {
					_ = s.cmd.Process.Kill()
				}
			}
		})
	}
	late := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	clients.Wait()
	late.Stop()
	_ = s.cmd.Wait() // it was killed
	if len(told) < 100 {
		t.Errorf("only %d receipts", len(told))
	}
	return told
}
