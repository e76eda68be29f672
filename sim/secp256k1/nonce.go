package secp256k1

import (
	"crypto/sha256"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
)

// nonces generates the nonces of a secret and a hash: section 3.2 of RFC 6979, but with the hash unreduced by the order, as in
// go-ethereum's package crypto without cgo.
type nonces struct {
	key, value [32]byte
	drawn      bool
}

func newNonces(secret, hash *[32]byte) (n nonces) {
	for i := range n.value {
		n.value[i] = 1
	}
	var message [97]byte
	copy(message[33:], secret[:])
	copy(message[65:], hash[:])
	for message[32] = range byte(2) {
		copy(message[:], n.value[:])
		n.update(message[:])
	}
	return n
}

// update mixes bytes into the key.
func (n *nonces) update(message []byte) {
	n.key = hmac(&n.key, message)
	n.value = hmac(&n.key, n.value[:])
}

// draw returns the next nonce, from 1 to less than the order.
func (n *nonces) draw() (k fr.Element) {
	for {
		if n.drawn {
			n.update(append(n.value[:], 0))
		}
		n.drawn = true
		n.value = hmac(&n.key, n.value[:])
		if k.SetBytesCanonical(n.value[:]) == nil && !k.IsZero() {
			return k
		}
	}
}

// hmac is HMAC-SHA256 of up to 97 bytes: package crypto/hmac allocates.
func hmac(key *[32]byte, message []byte) [32]byte {
	var inner [sha256.BlockSize + 97]byte
	var outer [sha256.BlockSize + sha256.Size]byte
	copy(inner[:], key[:])
	copy(outer[:], key[:])
	for i := range sha256.BlockSize {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	n := copy(inner[sha256.BlockSize:], message)
	sum := sha256.Sum256(inner[:sha256.BlockSize+n])
	copy(outer[sha256.BlockSize:], sum[:])
	return sha256.Sum256(outer[:])
}
