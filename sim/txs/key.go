package txs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/cb58"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/secp256k1"
)

const privateKeyPrefix = "PrivateKey-"

var errNotPrivateKey = errors.New(`private key must begin with "` + privateKeyPrefix + `"`)

// Key is a secp256k1 key. The same key owns UTXOs under its Address and an account under its EVM address.
type Key struct {
	secret  *secp256k1.Key
	address ids.ShortID
	evm     common.Address
}

// NewKey makes a Key of an EVM key.
func NewKey(secret *secp256k1.Key) *Key {
	return &Key{secret: secret, address: ownerAddress(secret.Compressed()), evm: secret.Address()}
}

// KeyFromBytes makes a Key of the 32 bytes of a secret.
func KeyFromBytes(b []byte) (*Key, error) {
	secret, err := secp256k1.NewKey(b)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	return NewKey(secret), nil
}

// longestKey is more than 32 bytes with a checksum take in cb58, whose reading costs the square of the length.
const longestKey = 64

// ParseKey reads the network's text form, PrivateKey-<cb58>.
func ParseKey(s string) (*Key, error) {
	text, found := strings.CutPrefix(s, privateKeyPrefix)
	if !found {
		return nil, errNotPrivateKey
	}
	if len(text) > longestKey {
		return nil, errNotPrivateKey
	}
	b, err := cb58.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	return KeyFromBytes(b)
}

// String is the network's text form of the secret.
func (k *Key) String() string {
	text, err := cb58.Encode(k.secret.Secret())
	if err != nil {
		return ""
	}
	return privateKeyPrefix + text
}

// Address owns the key's UTXOs.
func (k *Key) Address() ids.ShortID { return k.address }

// EVMAddress is the key's account.
func (k *Key) EVMAddress() common.Address { return k.evm }

// signHash signs a 32-byte hash.
func (k *Key) signHash(hash []byte) (Signature, error) {
	return secp256k1.Sign(hash, k.secret)
}

// ownerAddress is that of a compressed public key.
func ownerAddress(key []byte) ids.ShortID {
	a, err := ids.ToShortID(hashing.PubkeyBytesToAddress(key))
	if err != nil {
		return ids.ShortEmpty
	}
	return a
}

// RecoverKey finds who made a signature over a hash.
func RecoverKey(hash []byte, sig Signature) (*ecdsa.PublicKey, error) {
	key, err := crypto.SigToPub(hash, sig[:])
	if err != nil {
		return nil, fmt.Errorf("recover signer: %w", err)
	}
	return key, nil
}

// StakingKey is the key with which a node proves who it is and signs what it proposes, derived from its secret.
func StakingKey(secret []byte) *ecdsa.PrivateKey {
	for seed := sha256.Sum256(append([]byte("staking key "), secret...)); ; seed = sha256.Sum256(seed[:]) {
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:]); err == nil { // it is no key once in 2^32
			return key
		}
	}
}

// StakingCertificate is the certificate that avalanchego would make of a key, the same for the same key.
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
