package txs

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// Sign fills in the credentials and computes bytes and id. signers has one element for each input, in the order of
// Inputs, then one for each operation or authorization; each lists the keys in the order of its signature indices.
func (tx *Tx) Sign(c Chain, signers [][]*Key) error {
	tx.Credentials = make([]FxCredential, 0, len(signers))
	tx.signers = nil
	if err := tx.initialize(c); err != nil {
		return err
	}
	hash := hashing.ComputeHash256(tx.unsignedBytes)
	made := make(map[ids.ShortID]Signature)
	for i, keys := range signers {
		cred, who, err := sign(hash, keys, made)
		if err != nil {
			return fmt.Errorf("credential %d: %w", i, err)
		}
		tx.Credentials = append(tx.Credentials, tx.credential(i, cred))
		tx.signers = append(tx.signers, who)
	}
	return tx.initialize(c)
}

// NewSigned builds and signs a transaction.
func NewSigned(c Chain, unsigned Unsigned, signers ...[]*Key) (*Tx, error) {
	tx := &Tx{Unsigned: unsigned}
	return tx, tx.Sign(c, signers)
}

// sign signs a hash with several keys, reusing the signature of a repeated key.
func sign(hash []byte, keys []*Key, made map[ids.ShortID]Signature) (*Credential, []ids.ShortID, error) {
	cred := &Credential{Signatures: make([]Signature, len(keys))}
	who := make([]ids.ShortID, len(keys))
	for i, key := range keys {
		sig, found := made[key.address]
		if !found {
			var err error
			if sig, err = key.signHash(hash); err != nil {
				return nil, nil, err
			}
			made[key.address] = sig
		}
		cred.Signatures[i], who[i] = sig, key.address
	}
	return cred, who, nil
}

// credential gives the i-th credential the type that its input or operation requires.
func (tx *Tx) credential(i int, cred *Credential) FxCredential {
	u, ok := tx.Unsigned.(*OperationTx)
	if !ok || i < len(u.Ins) || i-len(u.Ins) >= len(u.Ops) {
		return cred
	}
	switch FxIndex(u.Ops[i-len(u.Ins)].Op) {
	case 1:
		return &NFTCredential{*cred}
	case 2:
		return &PropertyCredential{*cred}
	}
	return cred
}

// Recover returns the address that made a signature of the transaction.
func (tx *Tx) Recover(sig Signature) (ids.ShortID, error) {
	key, err := tx.PublicKey(sig)
	if err != nil {
		return ids.ShortEmpty, err
	}
	return ownerAddress(key), nil
}

// Signer returns the address whose key made the j-th signature of the i-th credential in this process.
func (tx *Tx) Signer(i, j int) (who ids.ShortID, known bool) {
	if i >= len(tx.signers) || j >= len(tx.signers[i]) {
		return ids.ShortEmpty, false
	}
	return tx.signers[i][j], true
}

// SignedHere reports whether this process made the transaction's signatures, and so its proofs.
func (tx *Tx) SignedHere() bool { return tx.signers != nil }

// Signature is a recoverable secp256k1 signature: r, s, and the recovery id 0 or 1.
type Signature [65]byte

// FxCredential holds the signatures that authorize one input or operation.
type FxCredential interface {
	signatures() []Signature
}

// Credential carries the signatures for a secp256k1 input, operation or authorization.
type Credential struct {
	Signatures []Signature `serialize:"true" json:"signatures"`
}

// NFTCredential is a Credential for an NFT operation.
type NFTCredential struct {
	Credential `serialize:"true"`
}

// PropertyCredential is a Credential for a property operation.
type PropertyCredential struct {
	Credential `serialize:"true"`
}

func (c *Credential) signatures() []Signature { return c.Signatures }
