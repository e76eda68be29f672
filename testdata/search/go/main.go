// Command go contains four clients of the node. Each has a flaw; its repaired twin doesn't: go NAME [repaired].
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

var (
	url      = os.Getenv("SNOWGLOBE_RPC_URL")
	socket   = os.Getenv("SNOWGLOBE_WS_URL")
	alice    = os.Getenv("SNOWGLOBE_ALICE_ADDRESS")
	bob      = os.Getenv("SNOWGLOBE_BOB_ADDRESS")
	repaired = len(os.Args) > 2 && os.Args[2] == "repaired"
)

func main() {
	clients := map[string]func() error{"resubscribe": func() error { return follow(!repaired, false) }, "log-gap": func() error { return follow(false, !repaired) }, "finalized": finalized, "nonce": nonce}
	if err := clients[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var (
	errPassing = errors.New("may pass")
	client     = http.Client{Timeout: 2 * time.Second}
)

// once makes a call. An error that wraps errPassing is transient.
func once(method string, result any, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		return err
	}
	r, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", errPassing, err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if r.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	if err != nil || r.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s, %w", errPassing, r.Status, err)
	}
	answer := struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}{}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("%w: %w", errPassing, err)
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, result)
}

func call(method string, result any, params ...any) (err error) {
	for attempt := range 5 {
		if err = once(method, result, params...); !errors.Is(err, errPassing) {
			return err
		}
		time.Sleep(50 * time.Millisecond << attempt)
	}
	return fmt.Errorf("%s: %w", method, err)
}

func number(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }

func nextNonce() (uint64, error) {
	var text string
	err := call("eth_getTransactionCount", &text, alice, "latest")
	return number(text), err
}

// send sends a transaction with a nonce. Sending it again is safe: if the nonce is taken, the transaction was sent.
func send(nonce uint64, to, value, data string) error {
	transaction := map[string]string{"from": alice, "to": to, "value": value, "data": data, "nonce": hex(nonce), "gas": "0x30d40"}
	err := call("eth_sendTransaction", new(string), transaction)
	if err == nil {
		return nil
	}
	if next, wrong := nextNonce(); wrong == nil && next > nonce {
		return nil
	}
	return err
}

// wrapped is the WAVAX contract, which logs deposits.
const wrapped = "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"

const deposits = 5

// follow sends deposits and counts their logs over a subscription. One flaw is to stop when the connection ends, the other not to fetch missed logs.
func follow(stops, misses bool) error {
	var text string
	if err := call("eth_blockNumber", &text); err != nil {
		return err
	}
	begin := number(text)
	nonce, err := nextNonce()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	seen := map[string]bool{}
	subscribed := make(chan struct{}, 1)
	logs := make(chan string, 100)
	ended := make(chan error, 1)
	go func() {
		for {
			err := subscribe(logs, subscribed)
			if stops || ctx.Err() != nil {
				ended <- err
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	select {
	case <-subscribed:
	case <-ctx.Done():
		return errors.New("no subscription")
	}
	for i := range uint64(deposits) {
		if err := send(nonce+i, wrapped, hex(1+i), "0xd0e30db0"); err != nil {
			return err
		}
	}
	backfill := time.NewTicker(300 * time.Millisecond)
	defer backfill.Stop()
	for len(seen) < deposits {
		select {
		case log := <-logs:
			seen[log] = true
		case err := <-ended:
			return fmt.Errorf("the subscription ended after %d of %d logs: %w", len(seen), deposits, err)
		case <-backfill.C:
			if misses {
				continue
			}
			var all []struct{ TransactionHash string }
			if err := call("eth_getLogs", &all, map[string]any{"address": wrapped, "fromBlock": hex(begin + 1), "toBlock": "latest"}); err != nil {
				return err
			}
			for _, l := range all {
				seen[l.TransactionHash] = true
			}
		case <-ctx.Done():
			return fmt.Errorf("%d of %d logs", len(seen), deposits)
		case <-time.After(3 * time.Second):
			return fmt.Errorf("nothing for 3 s after %d of %d logs", len(seen), deposits)
		}
	}
	return nil
}

// subscribe forwards logs until its connection ends.
func subscribe(logs chan<- string, subscribed chan<- struct{}) error {
	c, _, err := websocket.DefaultDialer.Dial(socket, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": []any{"logs", map[string]string{"address": wrapped}}}); err != nil {
		return err
	}
	for {
		var m struct {
			ID     int
			Params struct {
				Result struct{ TransactionHash string }
			}
		}
		if err := c.ReadJSON(&m); err != nil {
			return err
		}
		if m.ID == 1 {
			select {
			case subscribed <- struct{}{}:
			default:
			}
		} else {
			logs <- m.Params.Result.TransactionHash
		}
	}
}

// finalized notes the block of a payment, and checks that the block stays. Its flaw is to take the newest block for a final one.
func finalized() error {
	nonce, err := nextNonce()
	if err != nil {
		return err
	}
	if err := send(nonce, bob, "0x1", "0x"); err != nil {
		return err
	}
	type block struct {
		Number, Hash string
		Transactions []struct{ From, Nonce string }
	}
	tag := "latest"
	if repaired {
		tag = "finalized"
	}
	var paid *block
	for range 40 {
		var b block
		if err := call("eth_getBlockByNumber", &b, tag, true); err != nil {
			return err
		}
		for at := number(b.Number); paid == nil && at+5 > number(b.Number); at-- {
			var c block
			if err := call("eth_getBlockByNumber", &c, hex(at), true); err != nil {
				return err
			}
			if slices.ContainsFunc(c.Transactions, func(t struct{ From, Nonce string }) bool {
				return strings.EqualFold(t.From, alice) && number(t.Nonce) == nonce
			}) {
				paid = &c
			}
		}
		if paid != nil {
			break
		}
		if err := call("evm_increaseTime", new(any), 10); err != nil {
			return err
		}
		if err := call("evm_mine", new(any)); err != nil {
			return err
		}
	}
	if paid == nil {
		return errors.New("the payment is in no block")
	}
	time.Sleep(100 * time.Millisecond)
	var now block
	if err := call("eth_getBlockByNumber", &now, paid.Number, false); err == nil && now.Hash != paid.Hash {
		return fmt.Errorf("the payment was in block %s with hash %s, which is %s now", paid.Number, paid.Hash, now.Hash)
	}
	return nil
}

// nonce pays twice. Its flaw is to reuse a nonce after a call without an answer, without asking what became of the first transaction.
func nonce() error {
	next, err := nextNonce()
	if err != nil {
		return err
	}
	for i := range 2 {
		err := errPassing
		for attempt := 0; errors.Is(err, errPassing) && attempt < 5; attempt++ {
			transaction := map[string]string{"from": alice, "to": bob, "value": hex(uint64(10*i + attempt + 1)), "nonce": hex(next)}
			if err = once("eth_sendTransaction", new(string), transaction); errors.Is(err, errPassing) {
				time.Sleep(50 * time.Millisecond)
				if now, wrong := nextNonce(); repaired && wrong == nil && now > next {
					err = nil // it was carried out
				}
			}
		}
		if err != nil {
			return err
		}
		next++
	}
	return nil
}
