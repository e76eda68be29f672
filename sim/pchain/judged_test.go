package pchain

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// judged is a P-Chain with the verdicts of avalanchego's own block/executor.Manager.VerifyTx on transactions of every type with no, one or two
// mistakes. They show the checks, their order and their errors. testdata/avalanchego/record wrote it.
type judged struct {
	Time             uint64
	Genesis          string
	Blocks, Imported []string
	Txs              []struct{ Tx, Error string }
}

func readJudged(t *testing.T) *judged {
	t.Helper()
	f, err := os.Open("testdata/judged.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	j := &judged{}
	if err := json.NewDecoder(unpacked).Decode(j); err != nil {
		t.Fatal(err)
	}
	return j
}

// chain begins with the genesis and accepts the blocks, which make subnets, validators and an L1.
func (j *judged) chain(t *testing.T) *Chain {
	t.Helper()
	unhex := func(text string) []byte {
		b, err := hex.DecodeString(text)
		return must(t, b, err)
	}
	n := rules.Mainnet
	genesis, err := ParsePChainGenesis(unhex(j.Genesis))
	if err != nil {
		t.Fatal(err)
	}
	at, err := genesis.State(n)
	if err != nil {
		t.Fatal(err)
	}
	first, err := genesis.Block()
	if err != nil {
		t.Fatal(err)
	}
	shared := utxo.NewSharedMemory()
	for _, text := range j.Imported {
		u, err := txs.ParseUTXO(txs.PChain, unhex(text))
		shared.Put(n.CChainID, ids.Empty, must(t, u, err))
	}
	p := New(n, shared, at)
	p.Strict = true
	p.SetTip(first.ID(), 0, at.Time)
	for _, text := range j.Blocks {
		b, err := txs.ParseBlock(txs.PChain, unhex(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Accept(b); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestTransactionsAreRefusedAsAvalanchegoRefusesThem(t *testing.T) {
	all := readJudged(t)
	p := all.chain(t)
	valid := 0
	for _, c := range all.Txs {
		b, err := hex.DecodeString(c.Tx)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := txs.ParseTx(txs.PChain, b)
		if err != nil {
			t.Errorf("%v, want %q: %s", err, c.Error, c.Tx)
			continue
		}
		got := ""
		if err := p.VerifyTx(tx, all.Time); err != nil {
			got = strings.ReplaceAll(err.Error(), tx.ID().String(), "{tx}")
		} else {
			valid++
		}
		if got != c.Error {
			t.Errorf("%T: %q, want %q", tx.Unsigned, got, c.Error)
		}
	}
	if valid < 50 || len(all.Txs) < 700 {
		t.Errorf("%d transactions, %d of them valid", len(all.Txs), valid)
	}
}
