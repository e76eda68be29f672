// A devnet, driven like Hardhat and anvil users do, seen by every interface.

package handlers_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
	"snowglobe/sim"
)

var someone = common.HexToAddress("0x50e50e")

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

// TestWhatWaitsIsThereAgain: the pool survives a restart, and is not part of the digest.
func TestWhatWaitsIsThereAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	digest := string(w.Digest())
	d := newDevnet(t, w, w.Chains[0])
	d.text("evm_setAutomine", false)
	nonce := d.nonce()
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce, To: &someone})
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone})
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 5, To: &someone})
	content := d.text("txpool_content")
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
	d = newDevnet(t, w, w.Chains[0])
	if got := d.text("txpool_content"); got != content {
		t.Errorf("%s\nbefore %s", got, content)
	}
	d.text("evm_mine")
	if got := d.text("txpool_status"); got != `{"pending":"0x0","queued":"0x1"}` {
		t.Error(got)
	}
	d.verify()
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

// TestWhenBlocksAreMade reads the flags, under anvil's names, and checks how the chains behave.
func TestWhenBlocksAreMade(t *testing.T) {
	t.Parallel()
	w := tinyWorldOf(t, 1)
	for _, c := range []struct {
		args     []string
		automine bool
		interval time.Duration
	}{
		{nil, true, 0}, {[]string{"--block-time", "2s"}, false, 2 * time.Second}, {[]string{"--block-time", "12"}, false, 12 * time.Second},
		{[]string{"--block-time=500ms", "--mixed-mining"}, true, 500 * time.Millisecond}, {[]string{"--no-mining"}, false, 0},
	} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags := handlers.NewFlags(f)
		if err := f.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		o, err := flags.Options(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		h, err := handlers.New(w, o)
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
		for _, m := range w.Miners {
			if m.Automine() != c.automine || m.Interval() != c.interval {
				t.Errorf("%v: automine %t, every %s", c.args, m.Automine(), m.Interval())
			}
			m.SetAutomine(true)
			m.SetInterval(0)
		}
	}
}
