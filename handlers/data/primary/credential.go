package primary

import (
	"encoding/base64"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// txCredentials are a transaction's credentials, by the outputs that they let it spend.
type txCredentials map[ids.ID][]UTXOCredential

// UTXOCredential is a signature, and the key that made it.
type UTXOCredential struct {
	Signature string `json:"signature,omitempty" doc:"Base64."`
	PublicKey string `json:"publicKey,omitempty" doc:"Base64, compressed."`
}

// txCredentials are those of the transaction at a position.
func (b *chainView) txCredentials(at store.Position) (txCredentials, error) {
	if w, ok := b.api.credentials.Get(at); ok {
		return w, nil
	}
	tx, err := b.Tx(b.Kind(at.Chain()), at)
	if err != nil {
		return nil, err
	}
	w, known := txCredentials{}, map[txs.Signature]UTXOCredential{}
	for _, c := range tx.SpentOutputs() {
		if w[c.InputID()], err = credentialsOf(tx, c.Signatures, known); err != nil {
			return nil, err
		}
	}
	b.api.credentials.Add(at, w)
	return w, nil
}

// credentialsOf finds who made signatures; those of the same key over the same transaction are the same.
func credentialsOf(tx *txs.Tx, signatures []txs.Signature, known map[txs.Signature]UTXOCredential) ([]UTXOCredential, error) {
	all := make([]UTXOCredential, len(signatures))
	for i, s := range signatures {
		if _, done := known[s]; !done {
			key, err := tx.PublicKey(s)
			if err != nil {
				return nil, err
			}
			known[s] = UTXOCredential{base64.RawStdEncoding.EncodeToString(s[:]), base64.RawStdEncoding.EncodeToString(key)}
		}
		all[i] = known[s]
	}
	return all, nil
}
