// Package secp256k1 makes the same keys and signatures as go-ethereum's package crypto, and recovers the same signers, in less than half of its
// time without cgo: most of a world is signed, and whatever comes from outside is recovered. Like package crypto without cgo, it takes time that depends on the key: the keys of a world are no secrets.
package secp256k1

import (
	"errors"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var errSecret = errors.New("a private key is a number of 32 bytes from 1 to less than the order of the curve")

// Key is a private key with its public key.
type Key struct {
	secret fr.Element
	x, y   [32]byte
}

// CheckSecret fails unless the bytes are a private key.
func CheckSecret(secret []byte) error {
	_, err := numberOf(secret)
	return err
}

func numberOf(secret []byte) (d fr.Element, err error) {
	if len(secret) != fr.Bytes || d.SetBytesCanonical(secret) != nil || d.IsZero() {
		err = errSecret
	}
	return d, err
}

// NewKey returns the key with a secret of 32 bytes.
func NewKey(secret []byte) (*Key, error) {
	d, err := numberOf(secret)
	if err != nil {
		return nil, err
	}
	point := multiple(&d)
	return &Key{d, point.X.Bytes(), point.Y.Bytes()}, nil
}

// Secret returns the private key, like crypto.FromECDSA.
func (k *Key) Secret() []byte {
	b := k.secret.Bytes()
	return b[:]
}

// Compressed returns the public key, like crypto.CompressPubkey.
func (k *Key) Compressed() []byte {
	return append([]byte{2 | k.y[31]&1}, k.x[:]...)
}

// Address returns the key's account, like crypto.PubkeyToAddress.
func (k *Key) Address() common.Address {
	return common.BytesToAddress(crypto.Keccak256(k.x[:], k.y[:]))
}
