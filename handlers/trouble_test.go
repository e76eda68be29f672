// Faults of nodes and of mining, seen by clients of every interface.

package handlers_test

import (
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
)

// TestTransactionsThatAreTakenAndNotMined: mined never, later, or at once with a late receipt. Until a block contains a transaction, the digest is as
// without it.
func TestTransactionsThatAreTakenAndNotMined(t *testing.T) {
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.Close(); h.Close() })
	c := &clocked{t, server.URL}
	client, err := ethclient.Dial(c.url + "/ext/bc/C/rpc")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	send := func(key string) common.Hash {
		t.Helper()
		private, err := crypto.HexToECDSA(key)
		if err != nil {
			t.Fatal(err)
		}
		nonce, err := client.PendingNonceAt(t.Context(), crypto.PubkeyToAddress(private.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		tx := types.MustSignNewTx(private, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: nonce,
			To: &someone, Value: big.NewInt(1), Gas: 21000, GasFeeCap: big.NewInt(200e9), GasTipCap: big.NewInt(1e9)})
		if err := client.SendTransaction(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		return tx.Hash()
	}
	const alice, bob = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
	before := c.digest()
	c.addFault(`{"match":{"rpcMethod":"eth_sendRawTransaction"},"action":{"mining":"never"},"times":{"first":1}}`)
	c.addFault(`{"match":{"rpcMethod":"eth_sendRawTransaction"},"action":{"mining":"300ms"},"times":{"first":1}}`)
	never := send(alice)
	if _, pending, err := client.TransactionByHash(t.Context(), never); err != nil || !pending || c.digest() != before {
		t.Errorf("a transaction that is never mined: pending is %t, %v", pending, err)
	}
	late := send(bob)
	if _, err := client.TransactionReceipt(t.Context(), late); err == nil {
		t.Error("a transaction that is mined late has a receipt at once")
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := client.TransactionReceipt(t.Context(), late); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is not mined later")
		}
	}
	c.addFault(`{"match":{"rpcMethod":"eth_sendTransaction"},"action":{"mining":"never"}}`)
	_, unlocked, _ := strings.Cut(c.call("/ext/bc/C/rpc", "eth_sendTransaction", `[{"from":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`), `"result":"`)
	c.call("/ext/bc/C/rpc", "evm_mine", "[]")
	if _, err := client.TransactionReceipt(t.Context(), never); err == nil {
		t.Error("a transaction that is never mined is in a block")
	}
	hash := common.HexToHash(strings.TrimRight(unlocked, "\"}\n"))
	if _, pending, err := client.TransactionByHash(t.Context(), hash); err != nil || !pending {
		t.Errorf("%s, which the node signs and never mines: pending is %t, %v", hash, pending, err)
	}
	c.deleteFaults()
	c.addFault(`{"match":{"rpcMethod":"eth_getTransactionReceipt"},"action":{"rpcResult":null},"times":{"first":2}}`)
	hash = send(bob)
	for i := range 3 {
		if _, err := client.TransactionReceipt(t.Context(), hash); (err == nil) != (i == 2) {
			t.Errorf("poll %d: %v", i+1, err)
		}
	}
}

// TestNodesInTrouble: a chain is not bootstrapped, peers are benched, nodes don't sign.
func TestNodesInTrouble(t *testing.T) {
	c := journaled(t)
	before := c.digest()
	ask := func(method, params string) string { return c.call("/ext/info", "info."+method, params) }
	peers := ask("peers", "{}")
	_, rest, _ := strings.Cut(peers, `"nodeID":"`)
	peer, _, _ := strings.Cut(rest, `"`)
	decoded[control.Troubles](c, "/sim/node", `{"notBootstrapped":["C"],"benched":["`+peer+`"]}`)
	if got := ask("isBootstrapped", `{"chain":"C"}`) + ask("isBootstrapped", `{"chain":"P"}`); !strings.Contains(got, "false") || !strings.Contains(got, "true") {
		t.Errorf("bootstrapped: %s", got)
	}
	for path, want := range map[string]int{"/ext/health": 503, "/ext/health/readiness": 503, "/ext/health/liveness": 200, "/fuji/ext/health": 200} {
		if a := c.try("GET", path, ""); a.status != want {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if now := ask("peers", `{"nodeIDs":["`+peer+`"]}`); !strings.Contains(now, `"benched":["C"]`) || strings.Contains(peers, `"nodeID":"`+peer+`","benched":["C"]`) {
		t.Errorf("the peer is %s", now)
	}
	if a := c.try("POST", "/sim/node", `{"benched":["NodeID-x"],"notBootstrapped":["Q"]}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "NodeID-x") {
		t.Errorf("who does not exist: %+v", a)
	}
	const unknown = `benched: there is no node \"NodeID-x\" on mainnet; notSigning: there is no node \"NodeID-y\" on mainnet`
	for range 8 {
		if a := c.try("POST", "/sim/node", `{"notSigning":["NodeID-y"],"benched":["NodeID-x"]}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, unknown) {
			t.Fatalf("who does not exist: %+v, want %s", a, unknown)
		}
	}
	if a := c.try("DELETE", "/sim/node", ""); a.status != 200 {
		t.Error(a)
	}
	if got := ask("isBootstrapped", `{"chain":"C"}`); !strings.Contains(got, "true") || c.try("GET", "/ext/health", "").status != 200 || ask("peers", "{}") != peers || c.digest() != before {
		t.Errorf("afterwards: %s", got)
	}
}

// TestNodesThatDoNotSign: messages of the primary network then miss their quorum.
func TestNodesThatDoNotSign(t *testing.T) {
	c := journaled(t)
	const path = "/v1/signatureAggregator/mainnet/aggregateSignatures"
	const body = `{"message":"0000000000010427d4b22a2a78bcddd456742caf91b56badbff985ee19aef14573e7343fd6520000000400000000"}`
	if a := c.try("POST", path, body); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var nodes []string
	for text := c.call("/ext/P", "platform.getCurrentValidators", "{}"); ; {
		_, rest, found := strings.Cut(text, `"nodeID":"`)
		if !found {
			break
		}
		var node string
		node, text, _ = strings.Cut(rest, `"`)
		nodes = append(nodes, `"`+node+`"`)
	}
	c.send("/sim/node", `{"notSigning":[`+strings.Join(nodes, ",")+`]}`)
	if a := c.try("POST", path, body); a.status < 400 {
		t.Errorf("nobody signs: %d %s", a.status, a.body)
	}
	if a := c.try("DELETE", "/sim/node", ""); a.status != 200 {
		t.Error(a)
	}
	if a := c.try("POST", path, body); a.status != 200 {
		t.Errorf("all sign again: %d %s", a.status, a.body)
	}
}
