package secp256k1

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

var prime = crypto.S256().Params().P

// number is what a field stands for, which may be p or more.
func (z *field) number() *big.Int {
	b := bytesOf(*z)
	return new(big.Int).SetBytes(b[:])
}

// checkField compares all that is done with two numbers with what package big makes of them.
func checkField(t *testing.T, x, y field) {
	t.Helper()
	a, b := x.number(), y.number()
	check := func(name string, got field, want *big.Int) {
		t.Helper()
		want.Mod(want, prime)
		number, least := got.number(), got.reduced()
		if number.Mod(number, prime).Cmp(want) != 0 || least.number().Cmp(want) != 0 {
			t.Fatalf("%s of %x and %x is %x, reduced %x, not %x", name, a, b, got.number(), least.number(), want)
		}
		if bytes := got.bytes(); new(big.Int).SetBytes(bytes[:]).Cmp(want) != 0 {
			t.Fatalf("bytes of %x are %x", got.number(), bytes)
		}
	}
	var z field
	z.mul(&x, &y)
	check("product", z, new(big.Int).Mul(a, b))
	z.square(&x)
	check("square", z, new(big.Int).Mul(a, a))
	z.sub(&x, &y)
	check("difference", z, new(big.Int).Sub(a, b))
	z = x
	z.mul(&z, &z)
	check("product with itself", z, new(big.Int).Mul(a, a))
	z = x
	z.sub(&y, &z)
	check("difference from itself", z, new(big.Int).Sub(b, a))
	z.inverse(&x)
	want := new(big.Int).ModInverse(a, prime)
	if want == nil {
		want = new(big.Int)
	}
	check("inverse", z, want)
	if modulo := new(big.Int).Mod(a, order); modulo.Sign() > 0 {
		inverse, want := field(orderModulus.inverse(fieldOf(modulo.FillBytes(make([]byte, 32))))), new(big.Int).ModInverse(a, order)
		if inverse.number().Cmp(want) != 0 {
			t.Fatalf("inverse of %x modulo the order is %x, not %x", a, inverse.number(), want)
		}
	}
}

// edges are numbers whose sums and products carry and borrow as far as can be.
func edges() (all []field) {
	for _, least := range []*big.Int{new(big.Int), prime, order, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(3)), new(big.Int).Lsh(big.NewInt(1), 255),
		big.NewInt(excess), big.NewInt(1 << 32), new(big.Int).Rsh(prime, 1)} {
		for i := int64(-2); i <= 2; i++ {
			if n := new(big.Int).Add(least, big.NewInt(i)); n.Sign() >= 0 {
				all = append(all, fieldOf(n.FillBytes(make([]byte, 32))))
			}
		}
	}
	words := []uint64{0, 1, excess, 1<<64 - excess, 1 << 63, ^uint64(0)}
	for i := range len(words) * len(words) * len(words) {
		all = append(all, field{words[i%6], words[i/6%6], words[i/6%6], words[i/36]})
	}
	return all
}

func fieldOf(b []byte) (z field) {
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return z
}

func TestFieldAtEdges(t *testing.T) {
	all := edges()
	for _, x := range all {
		for _, y := range all {
			checkField(t, x, y)
		}
	}
}

func TestField(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		checkField(t, fieldOf(random(r)), fieldOf(random(r)))
	}
}

func FuzzField(f *testing.F) {
	f.Add(prime.Bytes(), order.Bytes())
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) == 32 && len(b) == 32 {
			checkField(t, fieldOf(a), fieldOf(b))
		}
	})
}
