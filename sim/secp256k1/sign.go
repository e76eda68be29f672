package secp256k1

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/core/types"
)

// SignTx does the same as types.SignTx.
func SignTx(tx *types.Transaction, signer types.Signer, key *Key) (*types.Transaction, error) {
	hash := signer.Hash(tx)
	signature, err := Sign(hash[:], key)
	if err != nil {
		return nil, err
	}
	return tx.WithSignature(signer, signature[:])
}

// Sign signs a hash of 32 bytes like crypto.Sign: r, s and the recovery id, with the nonce of RFC 6979 and the lesser s.
func Sign(hash []byte, key *Key) (signature [65]byte, err error) {
	if len(hash) != 32 {
		return signature, fmt.Errorf("a hash of %d bytes cannot be signed", len(hash))
	}
	var e, k, r, s fr.Element
	e.SetBytes(hash)
	secret := key.Secret()
	for attempt := uint32(0); ; attempt++ {
		nonce := secp256k1.NonceRFC6979(secret, hash, nil, nil, attempt).Bytes()
		k.SetBytes(nonce[:])
		point := multiple(&k)
		x := point.X.Bytes()
		r.SetBytes(x[:])
		s.Mul(&r, &key.secret)
		s.Add(&s, &e)
		s.Div(&s, &k)
		if r.IsZero() || s.IsZero() {
			continue
		}
		id := byte(point.Y.Bits()[0] & 1)
		rb := r.Bytes()
		if rb != x { // x is not less than the order
			id |= 2
		}
		if s.LexicographicallyLargest() {
			s.Neg(&s)
			id ^= 1
		}
		sb := s.Bytes()
		copy(signature[:32], rb[:])
		copy(signature[32:64], sb[:])
		signature[64] = id
		return signature, nil
	}
}
