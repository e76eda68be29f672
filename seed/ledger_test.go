package seed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
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
		for _, l := range w.Ledgers {
			if err := l.IssueX(t.Context(), payment(t, l)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tx := payment(t, w.Ledgers[0])
	if err := w.Ledgers[0].IssueX(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := w.Ledgers[0].IssueX(t.Context(), tx); err == nil || !strings.Contains(err.Error(), "failed to get utxo") {
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
func payment(t *testing.T, l *sim.Ledger) *primary.Tx {
	t.Helper()
	key, err := primary.KeyFromBytes(personaKey(t, l, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	address, chain := key.Address(), l.Chain(primary.XChain)
	rows, err := l.DB.UnspentUTXOs(t.Context(), address[:], chain, chain, store.NumberUTXO(chain+1, 0, 0), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		u, err := primary.ParseUTXO(primary.XChain, rows[i].Bytes())
		if err != nil {
			t.Fatal(err)
		}
		owners := u.Owners()
		if u.AssetID != l.Rules.AVAXAssetID || u.Amount() <= l.Rules.TxFee || len(owners.Addresses) != 1 || owners.Locktime > 0 {
			continue
		}
		unsigned := &primary.BaseTx{
			NetworkID: l.Rules.NetworkID, BlockchainID: l.Rules.XChainID, Memo: []byte{},
			Outs: []*primary.TransferableOutput{primary.Pay(u.AssetID, u.Amount()-l.Rules.TxFee, primary.Owner(address))},
			Ins:  []*primary.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &primary.TransferInput{Amount: u.Amount(), Input: primary.Input{SigIndices: []uint32{0}}}}},
		}
		tx, err := primary.NewSigned(primary.XChain, unsigned, []*primary.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	t.Fatalf("%s has nothing on X", ids.ShortID(address))
	return nil
}

func personaKey(t *testing.T, l *sim.Ledger, name string) []byte {
	personas, err := l.DB.Personas(t.Context())
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
