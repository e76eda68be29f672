package secp256k1

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
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
	d, err := numberOf(key.secret[:])
	if err == nil && len(hash) != 32 {
		err = fmt.Errorf("a hash of %d bytes cannot be signed", len(hash))
	}
	if err != nil {
		return signature, err
	}
	var e, r, s fr.Element
	e.SetBytes(hash)
	for n := newNonces(&key.secret, (*[32]byte)(hash)); ; {
		k := n.draw()
		point := multiple(&k)
		x, y := point.x.bytes(), point.y.reduced()
		r.SetBytes(x[:])
		k = inverse(&k)
		s.Mul(&r, &d)
		s.Add(&s, &e)
		s.Mul(&s, &k)
		if r.IsZero() || s.IsZero() {
			continue
		}
		id := byte(y[0] & 1)
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

// inverse returns 1/k modulo the order.
func inverse(k *fr.Element) (i fr.Element) {
	b := bytesOf(orderModulus.inverse(k.Bits()))
	i.SetBytes(b[:])
	return i
}
