package simtest

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Payment returns a transaction in which alice sends herself one of her outputs on a chain, less more than it costs.
func Payment(t testing.TB, n *sim.Network, c txs.Chain) *txs.Tx {
	t.Helper()
	const fee = 10_000_000
	key, err := txs.KeyFromBytes(PersonaKey(t, n, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	address, chain := key.Address(), n.Chain(c)
	rows, err := n.DB.UnspentUTXOs(t.Context(), address[:], chain, chain, store.NewUTXONumber(chain+1, 0, 0), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		u, err := txs.ParseUTXO(c, rows[i].Bytes())
		if err != nil {
			t.Fatal(err)
		}
		owners := u.Owners()
		if u.AssetID != n.Rules.AVAXAssetID || u.Amount() <= fee || len(owners.Addresses) != 1 || owners.Locktime > 0 || u.StakeableUntil() > 0 {
			continue
		}
		unsigned := &txs.BaseTx{
			NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.BlockchainID(c), Memo: []byte{},
			Outs: []*txs.TransferableOutput{txs.NewTransferableOutput(u.AssetID, u.Amount()-fee, txs.NewOwner(address))},
			Ins:  []*txs.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: []uint32{0}}}}},
		}
		tx, err := txs.NewSigned(c, unsigned, []*txs.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	t.Fatalf("%s has nothing on %s", ids.ShortID(address), c)
	return nil
}

// PersonaKey returns the private key of a persona.
func PersonaKey(t testing.TB, n *sim.Network, name string) []byte {
	t.Helper()
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
