package secp256k1

import (
	"errors"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var errSecret = errors.New("a private key is a number of 32 bytes from 1 to less than the order of the curve")

// Key is a private key with its public key.
type Key struct{ secret, x, y [32]byte }

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
	return &Key{[32]byte(secret), point.x.bytes(), point.y.bytes()}, nil
}

// Secret returns the private key, like crypto.FromECDSA.
func (k *Key) Secret() []byte { return k.secret[:] }

// Compressed returns the public key, like crypto.CompressPubkey.
func (k *Key) Compressed() []byte {
	return append([]byte{2 | k.y[31]&1}, k.x[:]...)
}

// Address returns the key's account, like crypto.PubkeyToAddress.
func (k *Key) Address() common.Address {
	return common.BytesToAddress(crypto.Keccak256(k.x[:], k.y[:]))
}
