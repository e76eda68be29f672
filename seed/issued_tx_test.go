package seed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestIssuedTransactionsStay sends transactions to a world: they are in the file as if the world had been born with them.
func TestIssuedTransactionsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	w, err := Generate(t.Context(), Options{Path: path, Seed: 9, Profile: small, Until: DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	born := w.Digest()
	for range 3 {
		for _, n := range w.Networks {
			if err := n.IssueX(t.Context(), payment(t, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tx := payment(t, w.Networks[0])
	if err := w.Networks[0].IssueX(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := w.Networks[0].IssueX(t.Context(), tx); err == nil || !strings.Contains(err.Error(), "failed to get utxo") {
		t.Errorf("the second time: %v", err)
	}
	if string(born) == string(w.Digest()) {
		t.Error("the digest did not notice")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := verifyFile(t, path); err != nil {
		t.Error(err)
	}
}

// payment is alice sending herself the largest amount that she has.
func payment(t *testing.T, n *sim.Network) *txs.Tx {
	t.Helper()
	key, err := txs.KeyFromBytes(personaKey(t, n, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	address, chain := key.Address(), n.Chain(txs.XChain)
	rows, err := n.DB.UnspentUTXOs(t.Context(), address[:], chain, chain, store.NewUTXONumber(chain+1, 0, 0), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		u, err := txs.ParseUTXO(txs.XChain, rows[i].Bytes())
		if err != nil {
			t.Fatal(err)
		}
		owners := u.Owners()
		if u.AssetID != n.Rules.AVAXAssetID || u.Amount() <= n.Rules.TxFee || len(owners.Addresses) != 1 || owners.Locktime > 0 {
			continue
		}
		unsigned := &txs.BaseTx{
			NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.XChainID, Memo: []byte{},
			Outs: []*txs.TransferableOutput{txs.NewTransferableOutput(u.AssetID, u.Amount()-n.Rules.TxFee, txs.NewOwner(address))},
			Ins:  []*txs.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: []uint32{0}}}}},
		}
		tx, err := txs.NewSigned(txs.XChain, unsigned, []*txs.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	t.Fatalf("%s has nothing on X", ids.ShortID(address))
	return nil
}

func personaKey(t *testing.T, n *sim.Network, name string) []byte {
	personas, err := n.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		if p.Name == name {
			return p.Key
		}
	}
	t.Fatalf("nobody is called %s", name)
	return nil
}
