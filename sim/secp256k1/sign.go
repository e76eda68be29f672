package secp256k1

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

var errSecret = errors.New("a private key is a number of 32 bytes from 1 to less than the order of the curve")

// NewKey is the key with a secret of 32 bytes, as crypto.ToECDSA makes it.
func NewKey(secret []byte) (*ecdsa.PrivateKey, error) {
	var d fr.Element
	if len(secret) != fr.Bytes || d.SetBytesCanonical(secret) != nil || d.IsZero() {
		return nil, errSecret
	}
	point := multiple(&d)
	x, y, number := point.X.BigInt(new(big.Int)), point.Y.BigInt(new(big.Int)), new(big.Int).SetBytes(secret)
	//lint:ignore SA1019 go-ethereum's keys have no other form: package ecdsa parses those of its own curves only
	return &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: crypto.S256(), X: x, Y: y}, D: number}, nil
}

// SignTx is types.SignTx.
func SignTx(tx *types.Transaction, signer types.Signer, key *ecdsa.PrivateKey) (*types.Transaction, error) {
	hash := signer.Hash(tx)
	signature, err := Sign(hash[:], key)
	if err != nil {
		return nil, err
	}
	return tx.WithSignature(signer, signature[:])
}

// Sign signs a hash of 32 bytes as crypto.Sign does: r, s and the recovery id, with the nonce of RFC 6979 and the lesser of both s.
func Sign(hash []byte, key *ecdsa.PrivateKey) (signature [65]byte, err error) {
	secret := crypto.FromECDSA(key)
	var d, e fr.Element
	if len(hash) != 32 || d.SetBytesCanonical(secret) != nil || d.IsZero() {
		return signature, fmt.Errorf("sign %d bytes: %w", len(hash), errSecret)
	}
	e.SetBytes(hash)
	for iteration := uint32(0); ; iteration++ {
		nonce := secp256k1.NonceRFC6979(secret, hash, nil, nil, iteration).Bytes()
		var k, r, s fr.Element
		k.SetBytes(nonce[:])
		point := multiple(&k)
		x, y := point.X.Bytes(), point.Y.Bytes()
		r.SetBytes(x[:])
		k.Inverse(&k)
		s.Mul(&r, &d)
		s.Add(&s, &e)
		s.Mul(&s, &k)
		if r.IsZero() || s.IsZero() {
			continue
		}
		id := y[len(y)-1] & 1
		if r.Bytes() != x { // x is not less than the order
			id |= 2
		}
		if s.LexicographicallyLargest() {
			s.Neg(&s)
			id ^= 1
		}
		rb, sb := r.Bytes(), s.Bytes()
		copy(signature[:32], rb[:])
		copy(signature[32:64], sb[:])
		signature[64] = id
		return signature, nil
	}
}
