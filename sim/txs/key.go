package txs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/cb58"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/secp256k1"
)

// Key is a secp256k1 key. The same key owns UTXOs under its Address and an account under its EVM address.
type Key struct {
	secret  *secp256k1.Key
	address ids.ShortID
	evm     common.Address
}

// NewKey returns the Key of an EVM key.
func NewKey(secret *secp256k1.Key) *Key {
	return &Key{secret: secret, address: ownerAddress(secret.Compressed()), evm: secret.Address()}
}

// KeyFromBytes returns the Key with a 32-byte secret.
func KeyFromBytes(b []byte) (*Key, error) {
	secret, err := secp256k1.NewKey(b)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	return NewKey(secret), nil
}

// String returns the network's text form of the secret.
func (k *Key) String() string {
	text, err := cb58.Encode(k.secret.Secret())
	if err != nil {
		return ""
	}
	return "PrivateKey-" + text
}

// Address returns the address that owns the key's UTXOs.
func (k *Key) Address() ids.ShortID { return k.address }

// EVMAddress returns the key's account.
func (k *Key) EVMAddress() common.Address { return k.evm }

// signHash signs a 32-byte hash.
func (k *Key) signHash(hash []byte) (Signature, error) {
	return secp256k1.Sign(hash, k.secret)
}

// ownerAddress returns the address of a compressed public key.
func ownerAddress(key []byte) ids.ShortID {
	a, err := ids.ToShortID(hashing.PubkeyBytesToAddress(key))
	if err != nil {
		return ids.ShortEmpty
	}
	return a
}

// Reasons why a signature has no signer, in the node's words.
var (
	errMutatedSignature = errors.New("signature was mutated from its original format")
	errInvalidSignature = errors.New("invalid signature")
	errCompressed       = errors.New("wasn't expecting a compressed key")
)

// RecoverKey recovers the uncompressed key that signed a hash: RecoverPublicKeyFromHash in avalanchego's utils/crypto/secp256k1.
func RecoverKey(hash []byte, sig Signature) (key [65]byte, err error) {
	var s fr.Element
	if s.SetBytes(sig[32:64]); s.LexicographicallyLargest() {
		return key, errMutatedSignature
	}
	const compressed = 4 // a flag that no signature of a transaction has
	flagged := sig[64]&^3 == compressed
	if flagged {
		sig[64] &^= compressed
	}
	key, err = secp256k1.Recover(hash, sig[:])
	switch {
	case err != nil:
		return key, errInvalidSignature
	case flagged:
		return key, errCompressed
	}
	return key, nil
}

// StakingKey derives the key from its secret; a node proves its identity and signs its proposals with it.
func StakingKey(secret []byte) *ecdsa.PrivateKey {
	for seed := sha256.Sum256(append([]byte("staking key "), secret...)); ; seed = sha256.Sum256(seed[:]) {
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:]); err == nil { // one secret in 2^32 is not a valid key
			return key
		}
	}
}

// StakingCertificate returns the certificate that avalanchego would make for a key, always the same for the same key.
func StakingCertificate(key *ecdsa.PrivateKey) ([]byte, error) {
	template := &x509.Certificate{
		SerialNumber:          new(big.Int),
		NotBefore:             time.Date(2000, time.January, 0, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2125, time.January, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
	return x509.CreateCertificate(nil, template, template, key.Public(), key)
}
