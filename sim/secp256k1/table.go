package secp256k1

import (
	"sync"
	"sync/atomic"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
)

const (
	fewBits     = 8  // a table made in a millisecond
	manyBits    = 12 // one of 3 MB, which cuts the time of a multiple by a quarter
	many        = 10_000
	mostWindows = (254 + fewBits) / fewBits
)

// table holds multiples of the generator, window by window: for window w, 1 to 2^(bits-1) times 2^(bits·w).
type table struct {
	bits, windows, entries int
	points                 []affine
}

var (
	fewTable  = sync.OnceValue(func() *table { return newTable(fewBits) })
	manyTable = sync.OnceValue(func() *table { return newTable(manyBits) })
	asked     atomic.Int64 // multiples requested, up to many
)

func usedTable() *table {
	if asked.Load() < many {
		asked.Add(1)
		return fewTable()
	}
	return manyTable()
}

func newTable(bits int) *table {
	windows := (254 + bits) / bits // of a number up to half of the group's order, which has 255 bits
	t := &table{bits, windows, 1 << (bits - 1), make([]affine, windows<<(bits-1))}
	doubles := make([]secp256k1.G1Jac, windows*bits)
	double, _ := secp256k1.Generators()
	for i := range doubles {
		doubles[i] = double
		double.DoubleAssign()
	}
	for i, power := range secp256k1.BatchJacobianToAffineG1(doubles) {
		t.points[i/bits*t.entries+1<<(i%bits)-1] = affine{power.X.Bits(), power.Y.Bits()}
	}
	for m := 2; m < t.entries; m *= 2 {
		t.extend(m)
	}
	return t
}

// extend computes m+1 to 2m-1 times the base of each window, by adding 1 to m-1 times it to m times it. A single inversion, of the product,
// yields the inverses for all these additions: Montgomery's trick.
func (t *table) extend(m int) {
	products := make([]field, 0, t.windows*(m-1)) // of the differences before
	product := field{1}
	var difference, inverse field
	for w := 0; w < len(t.points); w += t.entries {
		for i := range m - 1 {
			products = append(products, product)
			difference.sub(&t.points[w+m-1].x, &t.points[w+i].x)
			product.mul(&product, &difference)
		}
	}
	product.inverse(&product)
	for w := len(t.points) - t.entries; w >= 0; w -= t.entries {
		for i := m - 2; i >= 0; i-- {
			last := len(products) - 1
			p, q := &t.points[w+i], &t.points[w+m-1]
			inverse.mul(&product, &products[last])
			difference.sub(&q.x, &p.x)
			product.mul(&product, &difference)
			products = products[:last]
			t.points[w+m+i].add(p, q, &inverse)
		}
	}
}

// multiple returns k times the generator, for k other than 0.
func multiple(k *fr.Element) affine { return usedTable().multiple(k) }

func (t *table) multiple(k *fr.Element) affine {
	// For a number up to half of the group's order, the highest digit leaves no carry.
	least, opposite := *k, k.LexicographicallyLargest()
	if opposite {
		least.Neg(&least)
	}
	number := least.Bits()
	var terms [mostWindows]affine // read first: the table exceeds the fastest memory, so this waits for it only once
	count, carry := 0, 0
	for w := range t.windows {
		digit := int(number[0])&(1<<t.bits-1) + carry
		for i := range 3 {
			number[i] = number[i]>>t.bits | number[i+1]<<(64-t.bits)
		}
		number[3] >>= t.bits
		carry = 0
		if digit > t.entries {
			digit, carry = digit-1<<t.bits, 1
		}
		if digit == 0 {
			continue
		}
		terms[count] = t.points[w*t.entries+max(digit, -digit)-1]
		if (digit < 0) != opposite {
			terms[count].y.sub(&field{}, &terms[count].y)
		}
		count++
	}
	// No sum equals the next term or its opposite, which is larger in absolute value, and together with the sum less than the order.
	sum := extended{terms[0].x, terms[0].y, field{1}, field{1}}
	for i := range terms[1:count] {
		sum.add(&terms[1+i])
	}
	return sum.affine()
}
