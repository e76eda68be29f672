package txs

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common"
)

// localHRP is the bech32 prefix of the network on which testdata/node was recorded.
const localHRP = "local"

// recorded is a line of a fixture: bytes, and the node's JSON for them.
type recorded struct {
	Chain string
	Hex   string
	JSON  json.RawMessage
}

func (r recorded) chain() Chain {
	if r.Chain == "X" {
		return XChain
	}
	return PChain
}

func (r recorded) bytes(t *testing.T) []byte {
	t.Helper()
	return decodeHex(t, r.Hex)
}

func decodeHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := formatting.Decode(formatting.Hex, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fixture(name string) string { return filepath.Join("..", "..", "testdata", "node", name) }

func readRecorded(t testing.TB, name string) []recorded {
	t.Helper()
	f, err := os.Open(fixture(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []recorded
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line recorded
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no lines", name)
	}
	return lines
}

// recordedTxs returns all recorded transactions, including those in blocks, by chain.
func recordedTxs(t *testing.T, c Chain) []*Tx {
	t.Helper()
	var transactions []*Tx
	for _, r := range readRecorded(t, "blocks.jsonl") {
		if r.chain() != c {
			continue
		}
		b, err := ParseBlock(c, r.bytes(t))
		if err != nil {
			t.Fatal(err)
		}
		transactions = append(transactions, b.Txs()...)
	}
	return transactions
}

func TestTransactionsReadAsOnARealNode(t *testing.T) {
	for _, r := range readRecorded(t, "transactions.jsonl") {
		tx, err := ParseTx(r.chain(), r.bytes(t))
		if err != nil {
			t.Fatalf("%.60s: %v", r.JSON, err)
		}
		got, err := TxJSON(r.chain(), localHRP, tx)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(r.JSON) {
			t.Errorf("%s %T\n got %s\nwant %s", r.Chain, tx.Unsigned, got, r.JSON)
		}
	}
}

func TestBlocksReadAsOnARealNode(t *testing.T) {
	for _, r := range readRecorded(t, "blocks.jsonl") {
		b, err := ParseBlock(r.chain(), r.bytes(t))
		if err != nil {
			t.Fatalf("%.60s: %v", r.JSON, err)
		}
		if string(b.Bytes()) != string(r.bytes(t)) {
			t.Errorf("%s block %d encodes to other bytes", r.Chain, b.Height())
		}
		got, err := BlockJSON(r.chain(), localHRP, b)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(r.JSON) {
			t.Errorf("%s block %d\n got %s\nwant %s", r.Chain, b.Height(), got, r.JSON)
		}
	}
}

func TestAtomicTransactionDecodes(t *testing.T) {
	text, err := os.ReadFile(fixture("atomic.hex"))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := ParseTx(CChain, decodeHex(t, strings.TrimSpace(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tx.ID().String(), "2RkGtbxwdWwTQNiVX4RqmRksSKU2iGASevxWuHzcSCNchvd17s"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	in := tx.Unsigned.(*AtomicImportTx)
	if got := strings.ToLower(in.Outs[0].Address.Hex()); got != "0x8db97c7cece249c2b98bdc0226cc4c2a57bf52fc" {
		t.Errorf("credits %s", got)
	}
	signer, err := tx.Recover(tx.Signatures(0)[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := FormatAddress(CChain, localHRP, signer); got != "C-local18jma8ppw3nhx5r4ap8clazz0dps7rv5u00z96u" {
		t.Errorf("signed by %s", got)
	}
}

// vectors holds the recorded vectors for this package.
type vectors struct {
	Secp256k1 []map[string]string `json:"secp256k1"`
	InputIDs  []struct {
		InputID     string `json:"inputID"`
		OutputIndex uint32 `json:"outputIndex"`
		TxID        string `json:"txIDcb58"`
	} `json:"utxoInputID"`
	BLS struct {
		Keys []struct {
			Proof      string `json:"proofOfPossession96"`
			Compressed string `json:"publicKeyCompressed48"`
			Secret     string `json:"secretKey"`
		} `json:"keys"`
	} `json:"bls"`
	NodeID struct {
		Certificate string `json:"certificateDER"`
		NodeID      string `json:"nodeID"`
	} `json:"nodeID"`
	ACP77 struct {
		Conversion struct {
			Data string `json:"conversionDataBytes"`
			ID   string `json:"conversionID"`
		} `json:"subnetToL1Conversion"`
	} `json:"acp77"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	b, err := os.ReadFile(fixture("vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestKeysAndAddresses(t *testing.T) {
	for _, v := range readVectors(t).Secp256k1 {
		key, err := KeyFromBytes(common.FromHex(v["privateKey"]))
		if err != nil {
			t.Fatal(err)
		}
		if key.String() != v["privateKeyString"] || key.EVMAddress().Hex() != v["ethAddress"] {
			t.Errorf("key %s writes as %s with account %s", v["privateKeyString"], key, key.EVMAddress())
		}
		for _, hrp := range []string{"avax", "fuji", localHRP} {
			for _, c := range []Chain{PChain, XChain, CChain} {
				want := v[c.String()+"-"+hrp]
				if got := FormatAddress(c, hrp, key.Address()); got != want {
					t.Errorf("address %s, want %s", got, want)
				}
			}
		}
		hash, err := hex.DecodeString(strings.TrimPrefix(v["sha256OfMessage"], "0x"))
		if err != nil {
			t.Fatal(err)
		}
		sig, err := key.signHash(hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := "0x" + hex.EncodeToString(sig[:]); got != v["signatureOverThatHash_rsv"] {
			t.Errorf("signature %s, want %s", got, v["signatureOverThatHash_rsv"])
		}
	}
}

func TestInputIDs(t *testing.T) {
	for _, v := range readVectors(t).InputIDs {
		txID, err := ids.FromString(v.TxID)
		if err != nil {
			t.Fatal(err)
		}
		u := UTXOID{TxID: txID, OutputIndex: v.OutputIndex}
		if got := u.InputID().String(); got != v.InputID {
			t.Errorf("input id %s, want %s", got, v.InputID)
		}
	}
}

func TestRecordedSignaturesRecover(t *testing.T) {
	known := map[string]bool{
		"X-local18jma8ppw3nhx5r4ap8clazz0dps7rv5u00z96u": true,
		"X-local1g65uqn6t77p656w64023nh8nd9updzmxyymev2": true,
	}
	for _, c := range []Chain{XChain, PChain} {
		for _, tx := range recordedTxs(t, c) {
			for i := range tx.Credentials {
				for _, sig := range tx.Signatures(i) {
					if a, err := tx.Recover(sig); err != nil || !known[FormatAddress(XChain, localHRP, a)] {
						t.Errorf("%s %s is not signed by an owner: %v", c, tx.ID(), err)
					}
				}
			}
		}
	}
}
