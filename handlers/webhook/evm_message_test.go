package webhook_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// told sends a past transaction to a webhook and returns the event.
func (w *world) told(r *receiver, id, hash string) object {
	w.Helper()
	before := r.tried()
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+hash+`"}`, 200)
	until(w.T, "it is told", func() bool { return r.tried() > before })
	return r.got[before]["event"].(object)
}

// TestTransfersNameTheirLogs sends past transactions with tokens of each standard: every transfer's log is reported as one transfer, or one for each
// item of a batch, with its index among the transaction's logs.
func TestTransfersNameTheirLogs(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, object{"includeLogs": true}, bob)
	chain := w.NetworkNamed(fixtures.MainnetName).CChain().Row.ID
	logs, err := w.DB.LogsBetween(t.Context(), store.At(chain, 0, 0), store.At(chain+1, 0, 0), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	// Some transactions for each kind of transfer, and among them some whose logs are not the first of their block.
	seen := map[string]int{}
	for _, kind := range []struct {
		signature, list, token string
		topics                 int
	}{
		{"Transfer(address,address,uint256)", "erc20Transfers", "erc20Token", 3},
		{"Transfer(address,address,uint256)", "erc721Transfers", "erc721Token", 4},
		{"TransferSingle(address,address,address,uint256,uint256)", "erc1155Transfers", "erc1155Token", 4},
	} {
		topic := crypto.Keccak256Hash([]byte(kind.signature))
		tried := map[store.Position]bool{}
		for i := range logs {
			l := &logs[i]
			tx := l.ID.Block() + store.Position(l.Tx)
			later := l.ID.Index() > 0
			key := kind.list + map[bool]string{true: " later"}[later]
			if common.BytesToHash(l.Topic) != topic || len(l.Topics) != 32*(kind.topics-1) || tried[tx] || seen[key] == 3 {
				continue
			}
			tried[tx] = true
			seen[key]++
			row, err := w.DB.Transaction(t.Context(), tx)
			if err != nil {
				t.Fatal(err)
			}
			event := w.told(r, id, common.BytesToHash(row.Hash).Hex())
			all := event["logs"].([]any)
			found := false
			for _, moved := range event["transaction"].(object)[kind.list].([]any) {
				at := int(moved.(object)["logIndex"].(float64))
				if at < 0 || at >= len(all) {
					t.Fatalf("%s of %d logs", text(moved), len(all))
				}
				log := all[at].(object)
				token := moved.(object)[kind.token].(object)
				if dig(log, "topic0") == topic.Hex() && log["address"] == token["address"] {
					found = found || log["logIndex"] == float64(l.ID.Index())
					offset := map[bool]string{false: "topic1", true: "topic2"}[kind.list == "erc1155Transfers"]
					if !strings.HasSuffix(dig(log, offset), strings.ToLower(dig(moved, "from")[2:])) {
						t.Errorf("%s is not the transfer of %s", text(moved), text(log))
					}
					if item := dig(moved, "tokenId"); kind.list == "erc721Transfers" && item != common.HexToHash(dig(log, "topic3")).Big().String() || (item == "") != (kind.list == "erc20Transfers") {
						t.Errorf("%s has another item than %s", text(moved), text(log))
					}
				} else if kind.list != "erc1155Transfers" { // it has batches, too
					t.Errorf("%s is not the transfer of %s", text(moved), text(log))
				}
				if dig(moved, "type") != strings.ToUpper(strings.TrimSuffix(kind.list, "Transfers")) || dig(moved, "transactionHash") != dig(event, "transaction", "txHash") {
					t.Errorf("the transfer is %s", text(moved))
				}
			}
			if !found {
				t.Errorf("of %s nobody tells log %d: %s", dig(event, "transaction", "txHash"), l.ID.Index(), text(event["transaction"].(object)[kind.list]))
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("only %v are in the history", seen)
	}
}

// TestTransactionsOfEachTypeAreTold creates a contract in a transaction with an access list, and pays in a transaction with a fee cap.
func TestTransactionsOfEachTypeAreTold(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, object{"includeInternalTxs": true}, alice)
	m := w.MinerOf(w.NetworkNamed(fixtures.MainnetName).CChain())
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key, err := personaKey(personas, "alice")
	if err != nil {
		t.Fatal(err)
	}
	var nonce uint64
	slot := common.HexToHash("0x5")
	err = m.SendNext(t.Context(), common.HexToAddress(alice), func(n miner.Next) (*types.Transaction, error) {
		nonce = n.Nonce
		return types.SignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), &types.AccessListTx{ChainID: big.NewInt(43114), Nonce: n.Nonce, Gas: 100_000,
			GasPrice: big.NewInt(1_000_000_000_000), Data: common.FromHex("0x6001600055"), Value: big.NewInt(1_500_000_000_000_000_000),
			AccessList: types.AccessList{{Address: common.HexToAddress(bob), StorageKeys: []common.Hash{slot}}, {Address: common.HexToAddress(alice)}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "it is told", func() bool { return r.tried() == 1 })
	made := crypto.CreateAddress(common.HexToAddress(alice), nonce)
	shown := r.got[0]["event"].(object)["transaction"].(object)
	for name, want := range map[string]any{
		"type": 1., "from": alice, "to": strings.ToLower(made.Hex()), "contractAddress": made.Hex(), "nonce": text(nonce), "gas": "100000", "gasPrice": "1000000000000",
		"maxFeePerGas": "1000000000000", "maxPriorityFeePerGas": "1000000000000", "input": "0x6001600055", "value": "1500000000000000000", "chainId": "43114", "txStatus": "1",
		"transactionIndex": 0., "erc20Transfers": []any{}, "networkToken": object{"tokenName": "Avalanche", "tokenSymbol": "AVAX", "tokenDecimals": 18., "valueWithDecimals": "1.5"},
		"accessList": []any{object{"accessAddresses": bob, "storageKeys": []any{slot.Hex()}}, object{"accessAddresses": alice, "storageKeys": []any{}}},
	} {
		if text(shown[name]) != text(want) {
			t.Errorf("%s is %s: want %s", name, text(shown[name]), text(want))
		}
	}
	calls := shown["internalTransactions"].([]any)
	if len(calls) != 1 || dig(calls[0], "internalTxType") != "CREATE" || dig(calls[0], "value") != "1500000000000000000" || dig(calls[0], "gasLimit") != "100000" || dig(calls[0], "gasUsed") != shown["receiptGasUsed"] {
		t.Errorf("calls are %s", text(calls))
	}
	hash := w.pay(bob, 7).Hex()
	until(t, "the payment is told", func() bool { return r.tried() == 2 })
	paid := r.got[1]["event"].(object)["transaction"].(object)
	if paid["txHash"] != hash || paid["type"] != 2. || paid["to"] != strings.ToLower(bob) || paid["maxPriorityFeePerGas"] != "1" || paid["maxFeePerGas"] != "1000000000000" ||
		paid["contractAddress"] != nil || paid["accessList"] != nil || paid["receiptGasUsed"] != "250000" || paid["value"] != "7" || r.got[1]["event"].(object)["logs"] != nil {
		t.Errorf("the payment is %s", text(paid))
	}
	if again := text(w.told(r, id, hash)); again != text(r.got[1]["event"]) {
		t.Errorf("told again it is %s", again)
	}
}
