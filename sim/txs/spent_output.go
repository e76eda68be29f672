package txs

import "github.com/ava-labs/avalanchego/utils/hashing"

// SpentOutput is a UTXO that a transaction spends, with its signatures.
type SpentOutput struct {
	UTXOID
	Signatures []Signature
	Imported   bool // exported by another chain
}

// SpentOutputs returns all UTXOs that a transaction spends, imported ones too, in the order of its credentials.
func (tx *Tx) SpentOutputs() []SpentOutput {
	var all []SpentOutput
	own := 0
	if base := tx.Unsigned.Base(); base != nil {
		own = len(base.Ins)
	}
	for i, in := range tx.Inputs() {
		all = append(all, SpentOutput{in.UTXOID, tx.Signatures(i), i >= own})
	}
	if u, ok := tx.Unsigned.(*OperationTx); ok {
		first := len(all)
		for i, op := range u.Ops {
			for _, id := range op.UTXOIDs {
				all = append(all, SpentOutput{*id, tx.Signatures(first + i), false})
			}
		}
	}
	return all
}

// Signatures returns the signatures of a transaction's i-th credential.
func (tx *Tx) Signatures(i int) []Signature {
	if i >= len(tx.Credentials) {
		return nil
	}
	return tx.Credentials[i].signatures()
}

// PublicKey recovers the compressed key of a transaction's signature.
func (tx *Tx) PublicKey(sig Signature) ([]byte, error) {
	key, err := RecoverKey(hashing.ComputeHash256(tx.unsignedBytes), sig)
	if err != nil {
		return nil, err
	}
	return append([]byte{2 | key[64]&1}, key[1:33]...), nil
}
