package secp256k1

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
)

const (
	windows = 32  // of eight bits, of which the highest tells the sign
	entries = 128 // of a window: 1 to 128 times 2^(8w)
)

// multiples of the generator, a window's after another's, made when they are first needed, in milliseconds.
var multiples = sync.OnceValue(func() []secp256k1.G1Affine {
	base, _ := secp256k1.Generators()
	points := make([]secp256k1.G1Jac, 0, windows*entries)
	for range windows {
		next := base
		for range entries {
			points = append(points, next)
			next.AddAssign(&base)
		}
		base.Double(&points[len(points)-1])
	}
	return secp256k1.BatchJacobianToAffineG1(points)
})

// multiple is k times the generator.
func multiple(k *fr.Element) secp256k1.G1Affine {
	// Of a number up to half of the group's order, the highest digit leaves nothing to carry.
	least, opposite := *k, k.LexicographicallyLargest()
	if opposite {
		least.Neg(&least)
	}
	digits, table := least.Bytes(), multiples()
	var terms [windows]secp256k1.G1Affine // read first: the table is too large for the fastest memory, which is waited for once then
	count, carry := 0, 0
	for w := range windows {
		digit := int(digits[windows-1-w]) + carry
		carry = 0
		if digit > entries {
			digit, carry = digit-256, 1
		}
		if digit == 0 {
			continue
		}
		terms[count] = table[w*entries+max(digit, -digit)-1]
		if digit < 0 {
			terms[count].Neg(&terms[count])
		}
		count++
	}
	var sum secp256k1.G1Jac
	for i := range terms[:count] {
		sum.AddMixed(&terms[i])
	}
	var point secp256k1.G1Affine
	point.FromJacobian(&sum)
	if opposite {
		point.Neg(&point)
	}
	return point
}
