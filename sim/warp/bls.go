package warp

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Domain separation tags: a proof of possession must never pass as the signature of a message.
var (
	messageTag    = []byte("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_")
	possessionTag = []byte("BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_")
)

// Sizes of keys and signatures in bytes.
const (
	PublicKeyLen = 48
	SignatureLen = 96
)

// SecretKey is a BLS secret. Signing with the sum of several secrets yields their aggregate signature.
type SecretKey struct{ scalar fr.Element }

// NewSecretKey derives a key by reducing seed material modulo the group's order. Zero is not a valid key, so it becomes one.
func NewSecretKey(seed [32]byte) *SecretKey {
	k := &SecretKey{}
	k.scalar.SetBytes(seed[:])
	if k.scalar.IsZero() {
		k.scalar.SetOne()
	}
	return k
}

// Bytes returns the secret as 32 big-endian bytes.
func (k *SecretKey) Bytes() [32]byte { return k.scalar.Bytes() }

// SumKeys returns the key whose signature equals the aggregate of these keys' signatures.
func SumKeys(keys ...*SecretKey) *SecretKey {
	sum := &SecretKey{}
	for _, k := range keys {
		sum.scalar.Add(&sum.scalar, &k.scalar)
	}
	return sum
}

// PublicKey computes the public key.
func (k *SecretKey) PublicKey() *PublicKey {
	pk := &PublicKey{}
	pk.point.ScalarMultiplicationBase(k.scalar.BigInt(new(big.Int)))
	return pk
}

// windowBits is the number of a secret's bits that PublicKeys takes at once. With 6, it builds a table of 2,700 points in the time of
// thirty keys, and makes a key with 43 additions instead of 255 doublings.
const windowBits = 6

// PublicKeys computes the public keys of many secrets, each in a third of the time that it takes alone.
func PublicKeys(secrets []*SecretKey) []*PublicKey {
	const windows, multiples = (fr.Bits + windowBits - 1) / windowBits, 1<<windowBits - 1
	base, _, _, _ := bls12381.Generators()
	var sums [windows * multiples]bls12381.G1Jac // of window w and digit d: d * 2^(w*windowBits) times the generator
	for w := range windows {
		sums[w*multiples] = base
		for d := 1; d < multiples; d++ {
			sums[w*multiples+d] = sums[w*multiples+d-1]
			sums[w*multiples+d].AddAssign(&base)
		}
		for range windowBits {
			base.DoubleAssign()
		}
	}
	table := bls12381.BatchJacobianToAffineG1(sums[:])
	points := make([]bls12381.G1Jac, len(secrets))
	for i, k := range secrets {
		bits := k.scalar.BigInt(new(big.Int))
		for w := range windows {
			digit := 0
			for n := range windowBits {
				digit |= int(bits.Bit(w*windowBits+n)) << n
			}
			if digit > 0 {
				points[i].AddMixed(&table[w*multiples+digit-1])
			}
		}
	}
	keys := make([]*PublicKey, len(secrets))
	for i, point := range bls12381.BatchJacobianToAffineG1(points) {
		keys[i] = &PublicKey{point}
	}
	return keys
}

// Sign signs a message; a warp message is signed over its unsigned bytes.
func (k *SecretKey) Sign(message []byte) (*Signature, error) { return k.sign(message, messageTag) }

// Prove makes the key's proof of possession: a signature over the given public key.
func (k *SecretKey) Prove(public [PublicKeyLen]byte) (*Signature, error) {
	return k.sign(public[:], possessionTag)
}

func (k *SecretKey) sign(message, tag []byte) (*Signature, error) {
	hash, err := bls12381.HashToG2(message, tag)
	if err != nil {
		return nil, fmt.Errorf("bls sign: %w", err)
	}
	sig := &Signature{}
	sig.point.ScalarMultiplication(&hash, k.scalar.BigInt(new(big.Int)))
	return sig, nil
}

// PublicKey is a valid BLS public key.
type PublicKey struct{ point bls12381.G1Affine }

// Errors of parsing keys and signatures, in the words of avalanchego's utils/crypto/bls: of bytes that are no point, and of points that are
// no key or signature.
var (
	errPublicKeyBytes = errors.New("couldn't decompress public key")
	errPublicKey      = errors.New("invalid public key")
	errSignatureBytes = errors.New("couldn't decompress signature")
	errSignature      = errors.New("invalid signature")
)

// decodePoint reads a point of the curve, in its subgroup or not, from all of the bytes.
func decodePoint(b []byte, point any) bool {
	d := bls12381.NewDecoder(bytes.NewReader(b), bls12381.NoSubgroupChecks())
	return d.Decode(point) == nil && d.BytesRead() == int64(len(b))
}

// ParsePublicKey parses a compressed (48 bytes) or uncompressed (96 bytes) key. It refuses the point at infinity and points outside the
// subgroup.
func ParsePublicKey(b []byte) (*PublicKey, error) {
	pk := &PublicKey{}
	if !decodePoint(b, &pk.point) {
		return nil, errPublicKeyBytes
	}
	if pk.point.IsInfinity() || !pk.point.IsInSubGroup() {
		return nil, errPublicKey
	}
	return pk, nil
}

// Compressed returns the 48-byte form.
func (pk *PublicKey) Compressed() [PublicKeyLen]byte { return pk.point.Bytes() }

// Uncompressed returns the 96-byte form, by which validators are sorted.
func (pk *PublicKey) Uncompressed() [2 * PublicKeyLen]byte { return pk.point.RawBytes() }

// SumPublicKeys returns the key that verifies the aggregate of these keys' signatures; nil for none.
func SumPublicKeys(keys ...*PublicKey) *PublicKey {
	if len(keys) == 0 {
		return nil
	}
	var sum bls12381.G1Jac
	sum.FromAffine(&keys[0].point)
	for _, pk := range keys[1:] {
		sum.AddMixed(&pk.point)
	}
	total := &PublicKey{}
	total.point.FromJacobian(&sum)
	return total
}

// Signature is a BLS signature or an aggregate of several.
type Signature struct{ point bls12381.G2Affine }

// ParseSignature parses the 96-byte compressed form and refuses points outside the subgroup.
func ParseSignature(b []byte) (*Signature, error) {
	sig := &Signature{}
	if len(b) != SignatureLen || !decodePoint(b, &sig.point) {
		return nil, errSignatureBytes
	}
	if !sig.point.IsInSubGroup() {
		return nil, errSignature
	}
	return sig, nil
}

// Bytes returns the compressed form.
func (s *Signature) Bytes() [SignatureLen]byte { return s.point.Bytes() }

// Verify reports whether the key made the signature of the message.
func (pk *PublicKey) Verify(sig *Signature, message []byte) bool {
	return pk.verify(sig, message, messageTag)
}

// VerifyPossession reports whether the proof of possession belongs to the key.
func (pk *PublicKey) VerifyPossession(proof *Signature) bool {
	compressed := pk.Compressed()
	return pk.verify(proof, compressed[:], possessionTag)
}

// verify checks e(-g1, sig) * e(pk, H(message)) = 1.
func (pk *PublicKey) verify(sig *Signature, message, tag []byte) bool {
	hash, err := bls12381.HashToG2(message, tag)
	if err != nil {
		return false
	}
	_, _, base, _ := bls12381.Generators()
	var minusBase bls12381.G1Affine
	minusBase.Neg(&base)
	ok, err := bls12381.PairingCheck(
		[]bls12381.G1Affine{minusBase, pk.point},
		[]bls12381.G2Affine{sig.point, hash},
	)
	return err == nil && ok
}
