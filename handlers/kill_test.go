// The built program, killed while clients send, breaks no promise to them.

//go:build !race

package handlers_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim"
	"snowglobe/sim/relayer"
	"snowglobe/sim/store"
	"snowglobe/sim/verify/verifytest"
)

// TestNoAnnouncedBlockIsLost kills a server repeatedly while four clients send. Every transaction with a receipt is in the file at the receipt's
// position, and the file verifies. One client sends messages to an L1: after the next start each has been delivered exactly once.
func TestNoAnnouncedBlockIsLost(t *testing.T) {
	t.Parallel()
	rounds := 3
	if testing.Short() {
		t.Log("left out of a short run: all rounds but one")
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
		testAllDelivered(t, w)
		verifytest.Sound(t, w)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testAllDelivered starts the relayer, as a server does, and checks that the clients' messages are delivered.
func testAllDelivered(t *testing.T, w *sim.World) {
	t.Helper()
	if err := relayer.Start(t.Context(), w, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	sent, err := w.DB.MessagesSince(t.Context(), w.Meta.Until)
	if err != nil || len(sent) == 0 {
		t.Fatalf("%d messages: %v", len(sent), err)
	}
	for i := range sent {
		events, err := w.DB.MessageEvents(t.Context(), sent[i].Hash)
		received := len(slices.DeleteFunc(events, func(e store.MessageEvent) bool { return e.Kind != store.MessageReceived }))
		if err != nil || received != 1 {
			t.Errorf("message %d of %d was received %d times: %v", i, len(sent), received, err)
		}
	}
}

// greeting returns a call of the greeter on a server's C-Chain that sends a message to an L1.
func greeting(t *testing.T, s *started) (to common.Address, data []byte) {
	t.Helper()
	answer, err := http.Get(s.url + "/sim/world")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var world struct {
		Chains []struct{ Name, Network, BlockchainID string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&world); err != nil {
		t.Fatal(err)
	}
	greeter, err := contracts.Load("Greeter")
	if err != nil {
		t.Fatal(err)
	}
	deployer, err := crypto.HexToECDSA(fixtures.Personas[3].Key)
	if err != nil {
		t.Fatal(err)
	}
	to = crypto.CreateAddress(crypto.PubkeyToAddress(deployer.PublicKey), 0)
	for _, c := range world.Chains {
		if id, err := ids.FromString(c.BlockchainID); err == nil && c.Network == fixtures.MainnetName && id != fixtures.Networks[0].CChainID {
			if data, err = greeter.ABI.Pack("greet", id, to, "still there?"); err != nil {
				t.Fatal(err)
			}
			return to, data
		}
	}
	t.Fatal("mainnet has no L1")
	return to, nil
}

// sendUntilKilled lets four personas send until the server is killed, and returns the receipts they got.
func sendUntilKilled(t *testing.T, s *started) (told []*types.Receipt) {
	greeter, greet := greeting(t, s)
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
				data := &types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &common.Address{19: 7}}
				if i == 0 {
					data.Gas, data.To, data.Data = 1_000_000, &greeter, greet
				}
				tx := types.MustSignNewTx(key, types.LatestSignerForChainID(id), data)
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
