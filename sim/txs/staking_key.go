package txs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"math/big"
	"time"
)

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
