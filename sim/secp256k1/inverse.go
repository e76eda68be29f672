package secp256k1

import "math/bits"

// modulus is an odd number of up to 256 bits. Inverses modulo it follow libsecp256k1's variable-time algorithm, for numbers that are no
// secrets: https://github.com/bitcoin-core/secp256k1/blob/master/doc/safegcd_implementation.md. Package big takes half as long again and
// allocates.
type modulus struct {
	limbs limbs
	low   uint64 // the inverse of the modulus modulo 2^62
}

// limbs is a signed number, the sum of limbs[i]·2^(62i). All but the last are not negative and less than 2^62.
type limbs [5]int64

const limb = 1<<62 - 1

var (
	primeModulus = newModulus([4]uint64{1<<64 - excess, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1})
	orderModulus = newModulus([4]uint64{0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 1<<64 - 2, 1<<64 - 1})
)

func newModulus(number [4]uint64) *modulus {
	m := &modulus{limbs: newLimbs(number), low: number[0]} // right in three bits; each round doubles them
	for range 5 {
		m.low *= 2 - number[0]*m.low
	}
	m.low &= limb
	return m
}

func newLimbs(x [4]uint64) limbs {
	return limbs{int64(x[0] & limb), int64((x[0]>>62 | x[1]<<2) & limb), int64((x[1]>>60 | x[2]<<4) & limb), int64((x[2]>>58 | x[3]<<6) & limb), int64(x[3] >> 56)}
}

// words returns the words of a number that is not negative.
func (l *limbs) words() [4]uint64 {
	a, b, c, d, e := uint64(l[0]), uint64(l[1]), uint64(l[2]), uint64(l[3]), uint64(l[4])
	return [4]uint64{a | b<<62, b>>2 | c<<60, c>>4 | d<<58, d>>6 | e<<56}
}

// inverse returns 1/x, or 0 for 0. x is less than the modulus.
func (m *modulus) inverse(x [4]uint64) [4]uint64 {
	// x·d = f and x·e = g modulo the modulus, before and after all steps.
	f, g := m.limbs, newLimbs(x)
	var d limbs
	e := limbs{1}
	eta, length := int64(-1), len(f)
	for g != (limbs{}) {
		var t transition
		eta, t = divide(eta, uint64(f[0]), uint64(g[0]))
		m.apply(&t, &d, &e)
		t.apply(f[:length], g[:length])
		// The rest of both gets shorter.
		if last := length - 1; last > 0 && (f[last] == 0 || f[last] == -1) && (g[last] == 0 || g[last] == -1) {
			f[last-1] |= f[last] << 62
			g[last-1] |= g[last] << 62
			f[last], g[last] = 0, 0
			length = last
		}
	}
	return m.least(&d, f[length-1] < 0) // f is 1 or -1
}

// transition is the effect of 62 steps, times 2^62: f becomes (u·f + v·g) / 2^62, g becomes (q·f + r·g) / 2^62.
type transition struct{ u, v, q, r int64 }

// divide makes 62 steps. Each halves g, and its lowest bits decide how: secp256k1_modinv64_divsteps_62_var.
func divide(eta int64, f, g uint64) (int64, transition) {
	var u, v, q, r uint64 = 1, 0, 0, 1
	for left := 62; ; {
		zeros := bits.TrailingZeros64(g | ^uint64(0)<<left)
		g >>= zeros
		u <<= zeros
		v <<= zeros
		eta -= int64(zeros)
		left -= zeros
		if left == 0 {
			return eta, transition{int64(u), int64(v), int64(q), int64(r)}
		}
		if eta < 0 {
			eta = -eta
			f, g = g, -f
			u, q = q, -u
			v, r = r, -v
		}
		// Zero as many bits of g at once as possible: limited by the bits left, by eta, and by the bits in which w is right.
		count := min(int(eta)+1, left, 6)
		w := f * g * (f*f - 2) & (1<<count - 1)
		g += f * w
		q += u * w
		r += v * w
	}
}

// wide is a signed number of 128 bits.
type wide struct {
	high int64
	low  uint64
}

func (w wide) plus(a, b int64) wide {
	high, low := bits.Mul64(uint64(a), uint64(b))
	low, carry := bits.Add64(w.low, low, 0)
	return wide{w.high + int64(high+carry) - a>>63&b - b>>63&a, low}
}

func (w wide) shift() wide { return wide{w.high >> 62, uint64(w.high)<<2 | w.low>>62} }

// apply makes steps with f and g, which divide without a remainder.
func (t *transition) apply(f, g []int64) {
	g = g[:len(f)]
	var a, b wide
	for i := range f {
		x, y := f[i], g[i]
		a, b = a.plus(t.u, x).plus(t.v, y), b.plus(t.q, x).plus(t.r, y)
		if i > 0 {
			f[i-1], g[i-1] = int64(a.low&limb), int64(b.low&limb)
		}
		a, b = a.shift(), b.shift()
	}
	f[len(f)-1], g[len(f)-1] = int64(a.low), int64(b.low)
}

// apply makes steps with d and e, which stay between -2m and m. It adds multiples of m so that the division leaves no remainder.
func (m *modulus) apply(t *transition, d, e *limbs) {
	top := len(d) - 1
	toD := t.u&(d[top]>>63) + t.v&(e[top]>>63)
	toE := t.q&(d[top]>>63) + t.r&(e[top]>>63)
	a, b := wide{}.plus(t.u, d[0]).plus(t.v, e[0]), wide{}.plus(t.q, d[0]).plus(t.r, e[0])
	toD -= int64((m.low*a.low + uint64(toD)) & limb)
	toE -= int64((m.low*b.low + uint64(toE)) & limb)
	a, b = a.plus(m.limbs[0], toD).shift(), b.plus(m.limbs[0], toE).shift()
	for i := 1; i < len(d); i++ {
		x, y, z := d[i], e[i], m.limbs[i]
		a, b = a.plus(t.u, x).plus(t.v, y).plus(z, toD), b.plus(t.q, x).plus(t.r, y).plus(z, toE)
		d[i-1], e[i-1] = int64(a.low&limb), int64(b.low&limb)
		a, b = a.shift(), b.shift()
	}
	d[top], e[top] = int64(a.low), int64(b.low)
}

// least returns d, or -d, from 0 to less than the modulus.
func (m *modulus) least(d *limbs, opposite bool) [4]uint64 {
	sign := int64(1)
	if opposite {
		sign = -1
	}
	sum := limbs{}.plus(d, sign)
	for sum[len(sum)-1] < 0 {
		sum = sum.plus(&m.limbs, 1)
	}
	for {
		less := sum.plus(&m.limbs, -1)
		if less[len(less)-1] < 0 {
			return sum.words()
		}
		sum = less
	}
}

// plus returns the sum with n times m.
func (l limbs) plus(m *limbs, n int64) limbs {
	var carry int64
	for i := range len(l) - 1 {
		sum := l[i] + n*m[i] + carry
		l[i], carry = sum&limb, sum>>62
	}
	l[len(l)-1] += n*m[len(l)-1] + carry
	return l
}
