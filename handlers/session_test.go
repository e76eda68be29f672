// Sessions recorded by one server and played by another lead to the same digest.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
)

// anvilKey is alice's key, the first of the well-known mnemonic.
const anvilKey = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"

// signs sends a transaction that alice has signed: at random a payment, a call of a token or a deployment.
func (p *together) signs() {
	p.Helper()
	var nonce hexutil.Uint64
	if err := json.Unmarshal([]byte(p.must("eth_getTransactionCount", quoted(alice, "pending"))), &nonce); err != nil {
		p.Fatal(err)
	}
	key, err := crypto.HexToECDSA(anvilKey)
	if err != nil {
		p.Fatal(err)
	}
	id, to := new(big.Int).SetUint64(p.chain.Row.EVMID), common.HexToAddress(bob)
	dynamic := &types.DynamicFeeTx{ChainID: id, Nonce: uint64(nonce), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(500_000_000_001), Gas: 100_000, To: &to, Value: big.NewInt(1_500_000_000)}
	inner := types.TxData(dynamic)
	switch p.random.IntN(4) {
	case 0:
		token, err := contracts.Load("Token")
		if err != nil {
			p.Fatal(err)
		}
		if dynamic.Data, err = token.ABI.Pack("transfer", to, big.NewInt(7)); err != nil {
			p.Fatal(err)
		}
		dynamic.To, dynamic.Value = p.token, new(big.Int)
	case 1:
		dynamic.To, dynamic.Data = nil, common.FromHex("600a600c600039600a6000f3602a60005260206000f3")
	case 2:
		inner = &types.LegacyTx{Nonce: uint64(nonce), GasPrice: big.NewInt(500_000_000_000), Gas: 21_000, To: &to, Value: big.NewInt(1)}
	}
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id), inner)
	if err != nil {
		p.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		p.Fatal(err)
	}
	p.rpc("eth_sendRawTransaction", quoted(hexutil.Encode(raw)))
}

// TestASessionLeadsToTheSameDigest does 200 random things to a world, mostly through its controls. Its session, played on the original world, gives
// the same digest and is recorded as the same session. With -update, the first session becomes the one that package session plays on every kind of
// processor.
func TestASessionLeadsToTheSameDigest(t *testing.T) {
	t.Parallel()
	for number := range 3 {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			p := &together{T: t, random: rand.New(rand.NewPCG(uint64(number), 48)), path: filepath.Join(t.TempDir(), "w.db"), manual: number == 2}
			worldFile(t, p.path)
			p.open()
			names := p.registered()
			for range 200 {
				p.choose(p.random.IntN(len(p.world.Chains)))
				switch p.random.IntN(8) {
				case 0, 1, 2:
					p.signs()
				case 3:
					p.must("evm_snapshot", "")
				default:
					p.control(names[p.random.IntN(len(names))])
				}
			}
			text, digest := ask(p.set, http.MethodGet, "/sim/session", ""), fmt.Sprintf("%x", p.world.Digest())
			p.stop()
			if number == 0 && *update {
				committed := strings.TrimSuffix(text, "# digest "+digest+"\n") + "digest " + digest + "\n"
				if err := os.WriteFile("session/testdata/random.session", []byte(committed), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			again := &together{T: t, path: filepath.Join(t.TempDir(), "w.db"), manual: p.manual}
			worldFile(t, again.path)
			again.open()
			defer again.stop()
			played := ask(again.set, http.MethodPost, "/sim/session:play", `{"session":`+quoted(text)+`}`)
			if !strings.Contains(played, digest) || strings.Contains(played, "notes") {
				t.Errorf("the digest was %s: %s\n%s", digest, played, text)
			}
			was, is := strings.Split(text, "\n"), strings.Split(ask(again.set, http.MethodGet, "/sim/session", ""), "\n")
			for i := range max(len(was), len(is)) {
				if i >= len(was) || i >= len(is) || was[i] != is[i] {
					t.Fatalf("line %d of %d and %d differs: it was\n%s\nand is\n%s", i+1, len(was), len(is), strings.Join(was[min(i, len(was)):min(i+5, len(was))], "\n"), strings.Join(is[min(i, len(is)):min(i+5, len(is))], "\n"))
				}
			}
		})
	}
}
