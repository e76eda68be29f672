// Package price computes token prices and exchange rates in integers, as pure functions of the world's seed, a series and the hour.
//
// A series moves around its middle on waves of several lengths, from months to hours. Each wave connects hashed points with lines, so any
// hour's price is computed without the hours before it, and is the same on every machine.
package price

import (
	"hash/fnv"
	"math/big"
	"math/bits"
)

// Decimals is the number of decimals of a price.
const Decimals = 8

// Unit is one whole of a currency.
const Unit = 100_000_000

const million = 1_000_000

// Series is a price that changes over time.
type Series struct {
	Name      string
	Middle    int64 // 10^-8 of a currency
	Amplitude int64 // largest distance from the middle, in millionths of it
}

// waves lists the lengths of a series' waves in hours, and their shares of the amplitude in percent.
var waves = []struct{ hours, share int64 }{{2000, 45}, {400, 27}, {72, 16}, {12, 8}, {1, 4}}

// At returns the price in an hour, counted from 1970.
func (s Series) At(seed, hour int64) int64 {
	h := fnv.New64a()
	h.Write([]byte(s.Name))
	key := h.Sum64() ^ mix(uint64(seed))
	var moved int64 // millionths of the amplitude, times 100
	for n, w := range waves {
		from, to := point(key, n, hour/w.hours), point(key, n, hour/w.hours+1)
		moved += w.share * (from + (to-from)*(hour%w.hours)/w.hours)
	}
	return s.Middle + scale(s.Middle, moved/100*s.Amplitude/million)
}

// point returns a value of a wave, from minus one million to one million.
func point(key uint64, wave int, index int64) int64 {
	return int64(mix(key+mix(uint64(wave)<<48^uint64(index)))%(2*million+1)) - million
}

// mix applies the finalizer of SplitMix64.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// scale returns n times parts millionths, of which there are at most a million, without overflow.
func scale(n, parts int64) int64 {
	negative := (n < 0) != (parts < 0)
	high, low := bits.Mul64(magnitude(n), magnitude(parts))
	quotient, _ := bits.Div64(high, low, million)
	if negative {
		return -int64(quotient)
	}
	return int64(quotient)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// rates lists how much of each currency a US dollar buys, in 10^-8.
var rates = map[string]int64{
	"usd": Unit, "eur": 92_000_000, "aud": 152_000_000, "cad": 137_000_000, "chf": 88_000_000, "clp": 94_500_000_000,
	"cny": 718_000_000, "czk": 2_310_000_000, "dkk": 686_000_000, "gbp": 78_500_000, "hkd": 778_000_000,
	"huf": 36_600_000_000, "jpy": 15_100_000_000, "nzd": 166_000_000,
}

// Rate returns how much of a currency a US dollar buys in an hour, in 10^-8; zero for an unknown currency.
func Rate(seed int64, currency string, hour int64) int64 {
	if currency == "usd" {
		return Unit
	}
	return Series{Name: "usd/" + currency, Middle: rates[currency], Amplitude: 40_000}.At(seed, hour)
}

// In converts a price in US dollars to another currency, truncated to 10^-8.
func In(dollars, rate int64) *big.Int {
	product := new(big.Int).Mul(big.NewInt(dollars), big.NewInt(rate))
	return product.Quo(product, big.NewInt(Unit))
}

// Decimal formats an integer of 10^-places as a decimal number without trailing zeros.
func Decimal(n *big.Int, places int) string {
	text := n.String()
	for len(text) <= places {
		text = "0" + text
	}
	whole, part := text[:len(text)-places], text[len(text)-places:]
	for len(part) > 0 && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	if part == "" {
		return whole
	}
	return whole + "." + part
}
