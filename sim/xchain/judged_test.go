package xchain

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// judged is an X-Chain, with the verdicts of avalanchego's own verifiers on transactions with no, one or two mistakes: which checks there are, their
// order, and their words. testdata/avalanchego/record wrote it.
type judged struct {
	Time            uint64
	L1              ids.ID
	Assets          map[ids.ID][]uint32
	UTXOs, Imported []string
	Txs             []struct{ Tx, Error string }
}

func (j *judged) chain(t *testing.T) *Chain {
	t.Helper()
	parse := func(all []string) (parsed []*txs.UTXO) {
		for _, text := range all {
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			u, err := txs.ParseUTXO(txs.XChain, b)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, u)
		}
		return parsed
	}
	shared := utxo.NewSharedMemory()
	shared.SubnetOf = func(chain ids.ID) (ids.ID, error) {
		if chain == j.L1 {
			return ids.ID{0x51}, nil
		}
		return ids.Empty, utxo.ErrNotFound
	}
	for _, u := range parse(j.Imported) {
		shared.Put(network.CChainID, network.XChainID, u)
	}
	var assets []*Asset
	for id, fxs := range j.Assets {
		assets = append(assets, &Asset{ID: id, Fxs: fxs})
	}
	return New(network, shared, assets, parse(j.UTXOs))
}

func TestTransactionsAreRefusedAsAvalanchegoRefusesThem(t *testing.T) {
	f, err := os.Open("testdata/judged.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all judged
	if err := json.NewDecoder(unpacked).Decode(&all); err != nil {
		t.Fatal(err)
	}
	x := all.chain(t)
	valid := 0
	for _, c := range all.Txs {
		b, err := hex.DecodeString(c.Tx)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := txs.ParseTx(txs.XChain, b)
		if err != nil {
			t.Errorf("%v, want %q: %s", err, c.Error, c.Tx)
			continue
		}
		got := ""
		if err := x.Check(tx, all.Time); err != nil {
			got = err.Error()
		} else {
			valid++
		}
		if got != c.Error {
			t.Errorf("%T: %q, want %q", tx.Unsigned, got, c.Error)
		}
	}
	if valid < 20 || len(all.Txs) < 700 {
		t.Errorf("%d transactions, %d of them valid", len(all.Txs), valid)
	}
}
