package secp256k1

import (
	"errors"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var errSecret = errors.New("a private key is a number of 32 bytes from 1 to less than the order of the curve")

// Key is a private key and its public one.
type Key struct{ secret, x, y [32]byte }

// CheckSecret fails for what is no private key.
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

// NewKey is the key with a secret of 32 bytes.
func NewKey(secret []byte) (*Key, error) {
	d, err := numberOf(secret)
	if err != nil {
		return nil, err
	}
	point := multiple(&d)
	return &Key{[32]byte(secret), point.x.bytes(), point.y.bytes()}, nil
}

// Secret is the private key, as crypto.FromECDSA writes it.
func (k *Key) Secret() []byte { return k.secret[:] }

// Compressed is the public key, as crypto.CompressPubkey writes it.
func (k *Key) Compressed() []byte {
	return append([]byte{2 | k.y[31]&1}, k.x[:]...)
}

// Address is that of the key's account, as crypto.PubkeyToAddress makes it.
func (k *Key) Address() common.Address {
	return common.BytesToAddress(crypto.Keccak256(k.x[:], k.y[:]))
}
