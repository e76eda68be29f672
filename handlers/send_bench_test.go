// make bench: payments, up to their receipts.

package handlers_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
)

const (
	sentTransactions = 3_000
	headSubscribers  = 1_000
	toldHeads        = 20
)

// sending measures payments that wait for their receipts, and the time until all subscribers have a new head.
func (r *report) sending() {
	r.table("sending, C-Chain\ttx/s\tp50 ms\tp99 ms\tserver's CPU ms\tbudget tx/s", func(row func(string, ...any)) {
		for _, c := range []struct {
			name    string
			clients int
			budget  string
		}{{"1 client, waiting for receipts", 1, budget("transactions of one client that waits for receipts")}, {"8 clients, waiting for receipts", 8, budget("transactions of eight clients that wait for receipts")}} {
			measure := func(name string, p *process, path string) {
				took, whole, worked := r.pay(p, path, c.clients)
				slices.Sort(took)
				row("%s\t%.0f\t%.2f\t%.2f\t%.2f\t%s", name, float64(len(took))/whole.Seconds(), milliseconds(took[len(took)/2]),
					milliseconds(took[len(took)*99/100]), milliseconds(worked/time.Duration(len(took))), c.budget)
				p.stop()
			}
			measure(c.name, r.serve("--profile", "default", "--quiet", "--db", filepath.Join(r.b.TempDir(), "sent.db")), "/ext/bc/C/rpc")
			if program := anvilProgram(); program != "" {
				measure(c.name+", anvil", r.anvil(program), "/")
			}
		}
	})
	p := r.serve("--profile", "tiny", "--quiet", "--db", filepath.Join(r.b.TempDir(), "heads.db"))
	defer p.stop()
	r.table("a head's way\tp50 ms\tslowest ms", func(row func(string, ...any)) {
		took := r.heads(p)
		row("to the last of %d subscribers\t%.1f\t%.1f", headSubscribers, milliseconds(median(took)), milliseconds(slices.Max(took)))
	})
}

// anvilProgram is Foundry's anvil, if testdata/tools/run.sh has installed it, or the program that ANVIL names.
func anvilProgram() string {
	if named := os.Getenv("ANVIL"); named != "" {
		return named
	}
	if found, err := filepath.Glob("../testdata/tools/node_modules/@foundry-rs/anvil-*/bin/anvil"); err == nil && len(found) > 0 {
		return found[0]
	}
	return ""
}

// anvil starts Foundry's anvil for comparison.
func (r *report) anvil(program string) *process {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.b.Fatal(err)
	}
	address := probe.Addr().(*net.TCPAddr)
	probe.Close()
	cmd := exec.Command(program, "--silent", "--port", strconv.Itoa(address.Port))
	if err := cmd.Start(); err != nil {
		r.b.Fatal(err)
	}
	p := &process{r: r, cmd: cmd, address: address.String()}
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := r.client(p, "http", "/").ChainID(r.b.Context()); err == nil {
			return p
		}
	}
	r.b.Fatal("anvil does not answer")
	return nil
}

func (r *report) client(p *process, scheme, path string) *ethclient.Client {
	client, err := ethclient.DialContext(r.b.Context(), scheme+"://"+p.address+path)
	if err != nil {
		r.b.Fatal(err)
	}
	return client
}

// pay lets clients with an account each pay, and wait for each receipt.
func (r *report) pay(p *process, path string, clients int) (took []time.Duration, whole, worked time.Duration) {
	first := r.client(p, "http", path)
	id, err := first.ChainID(r.b.Context())
	if err != nil {
		r.b.Fatal(err)
	}
	signer := types.LatestSignerForChainID(id)
	pay := func(client *ethclient.Client, key *ecdsa.PrivateKey, nonce uint64, to common.Address, value *big.Int) error {
		tx := types.MustSignNewTx(key, signer, &types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &to, Value: value})
		if err := client.SendTransaction(r.b.Context(), tx); err != nil {
			return err
		}
		for {
			receipt, err := client.TransactionReceipt(r.b.Context(), tx.Hash())
			switch {
			case errors.Is(err, ethereum.NotFound): // anvil has no receipt yet when it confirms the transaction
			case err == nil && receipt.Status == types.ReceiptStatusFailed:
				return fmt.Errorf("payment %s failed", tx.Hash())
			default:
				return err
			}
		}
	}
	alice, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
	if err != nil {
		r.b.Fatal(err)
	}
	nonce, err := first.NonceAt(r.b.Context(), crypto.PubkeyToAddress(alice.PublicKey), nil)
	if err != nil {
		r.b.Fatal(err)
	}
	keys := make([]*ecdsa.PrivateKey, clients)
	for i := range keys {
		if keys[i], err = crypto.GenerateKey(); err != nil {
			r.b.Fatal(err)
		}
		if err := pay(first, alice, nonce+uint64(i), crypto.PubkeyToAddress(keys[i].PublicKey), big.NewInt(1e18)); err != nil {
			r.b.Fatal(err)
		}
	}
	var all sync.WaitGroup
	each := make([][]time.Duration, clients)
	before, begin := busy(p.cmd.Process.Pid), time.Now()
	for i, key := range keys {
		all.Go(func() {
			client := r.client(p, "http", path)
			defer client.Close()
			for nonce := range uint64(sentTransactions / clients) {
				sent := time.Now()
				if err := pay(client, key, nonce, common.Address{0: 7}, big.NewInt(1)); err != nil {
					r.b.Error(err)
					return
				}
				each[i] = append(each[i], time.Since(sent))
			}
		})
	}
	all.Wait()
	return slices.Concat(each...), time.Since(begin), busy(p.cmd.Process.Pid) - before
}

// heads mines blocks and returns how long each took to reach the last subscriber.
func (r *report) heads(p *process) (took []time.Duration) {
	ctx, cancel := context.WithTimeout(r.b.Context(), time.Minute)
	defer cancel()
	arrived := make(chan *types.Header, headSubscribers)
	for range headSubscribers {
		client := r.client(p, "ws", "/ext/bc/C/ws")
		defer client.Close()
		if _, err := client.SubscribeNewHead(ctx, arrived); err != nil {
			r.b.Fatal(err)
		}
	}
	miner := r.client(p, "http", "/ext/bc/C/rpc")
	defer miner.Close()
	for range toldHeads {
		begin := time.Now()
		if err := miner.Client().CallContext(ctx, nil, "evm_mine"); err != nil {
			r.b.Fatal(err)
		}
		for range headSubscribers {
			select {
			case <-arrived:
			case <-ctx.Done():
				r.b.Fatal("a head did not arrive")
			}
		}
		took = append(took, time.Since(begin))
	}
	return took
}
