package secp256k1

import (
	"errors"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fp"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

// LatestSigner is types.LatestSigner with a quicker Sender.
func LatestSigner(config *params.ChainConfig) types.Signer { return signer{types.LatestSigner(config)} }

type signer struct{ types.Signer }

// Equal lets go-ethereum's own signers find a sender that is already recovered.
func (s signer) Equal(other types.Signer) bool {
	if o, is := other.(signer); is {
		other = o.Signer
	}
	return s.Signer.Equal(other)
}

// Sender leaves to go-ethereum what this chain's accounts do not sign: it has the reasons.
func (s signer) Sender(tx *types.Transaction) (common.Address, error) {
	if sender, ok := s.sender(tx); ok {
		return sender, nil
	}
	return s.Signer.Sender(tx)
}

func (s signer) sender(tx *types.Transaction) (sender common.Address, ok bool) {
	id, r, value := tx.RawSignatureValues()
	if tx.ChainId().Cmp(s.ChainID()) != 0 {
		return sender, false
	}
	if tx.Type() == types.LegacyTxType { // EIP-155; others have no chain
		id = new(big.Int).Sub(id, new(big.Int).Lsh(s.ChainID(), 1))
		id.Sub(id, big.NewInt(35))
	}
	if !id.IsUint64() || id.Uint64() > 1 || !crypto.ValidateSignatureValues(byte(id.Uint64()), r, value, true) {
		return sender, false
	}
	var signature [65]byte
	r.FillBytes(signature[:32])
	value.FillBytes(signature[32:64])
	signature[64] = byte(id.Uint64())
	if _, _, _, err := s.SignatureValues(tx, signature[:]); err != nil { // no such type of transaction yet
		return sender, false
	}
	hash := s.Hash(tx)
	key, err := Recover(hash[:], signature[:])
	return common.BytesToAddress(crypto.Keccak256(key[1:])), err == nil
}

var errSignature = errors.New("invalid signature")

// Recover returns the public key that signed a hash of 32 bytes, uncompressed, like crypto.Ecrecover.
func Recover(hash, signature []byte) (key [65]byte, err error) {
	if len(hash) != 32 || len(signature) != 65 || signature[64] > 3 {
		return key, errSignature
	}
	var r, s, e fr.Element
	if r.SetBytesCanonical(signature[:32]) != nil || s.SetBytesCanonical(signature[32:64]) != nil || r.IsZero() || s.IsZero() {
		return key, errSignature
	}
	e.SetBytes(hash)

	// The point whose x is r, or r and the order where the recovery id says so.
	x := new(big.Int).SetBytes(signature[:32])
	if signature[64]&2 != 0 {
		x.Add(x, fr.Modulus())
		if x.Cmp(fp.Modulus()) >= 0 {
			return key, errSignature
		}
	}
	var point secp256k1.G1Affine
	point.X.SetBigInt(x)
	var seven fp.Element
	seven.SetUint64(7)
	point.Y.Square(&point.X).Mul(&point.Y, &point.X).Add(&point.Y, &seven)
	if point.Y.Sqrt(&point.Y) == nil {
		return key, errSignature
	}
	if byte(point.Y.Bits()[0]&1) != signature[64]&1 {
		point.Y.Neg(&point.Y)
	}

	// The key is (s·point - e·generator) / r.
	r.Inverse(&r)
	s.Mul(&s, &r)
	e.Mul(&e, &r).Neg(&e)
	var u big.Int
	var sum secp256k1.G1Jac
	sum.FromAffine(&point)
	sum.ScalarMultiplication(&sum, s.BigInt(&u))
	base := multiple(&e)
	sum.AddMixed(&base)
	if sum.Z.IsZero() {
		return key, errSignature
	}
	point.FromJacobian(&sum)
	key[0] = 4
	xb, yb := point.X.Bytes(), point.Y.Bytes()
	copy(key[1:], xb[:])
	copy(key[33:], yb[:])
	return key, nil
}
