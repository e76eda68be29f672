package price

import (
	"math/big"
	"testing"
)

func TestSeriesStaysInItsSwing(t *testing.T) {
	s := Series{Name: "btcx", Middle: 98_000 * Unit, Amplitude: 300_000}
	low, high := s.Middle-s.Middle*3/10, s.Middle+s.Middle*3/10
	seen := map[int64]bool{}
	for hour := int64(490_000); hour < 494_000; hour++ {
		p := s.At(1, hour)
		if p < low || p > high {
			t.Fatalf("price in hour %d is %d: want %d to %d", hour, p, low, high)
		}
		if step := p - s.At(1, hour-1); step > s.Middle/10 || step < -s.Middle/10 {
			t.Fatalf("price jumps by %d in hour %d", step, hour)
		}
		seen[p] = true
	}
	if len(seen) < 3900 {
		t.Errorf("%d different prices in 4000 hours", len(seen))
	}
	if s.At(1, 490_000) == s.At(2, 490_000) {
		t.Error("two worlds have the same price")
	}
}

func TestEveryCurrencyHasARate(t *testing.T) {
	for currency := range rates {
		if r := Rate(1, currency, 490_000); r <= 0 {
			t.Errorf("rate of %s is %d", currency, r)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		n      string
		places int
		want   string
	}{
		{"0", 8, "0"}, {"1", 8, "0.00000001"}, {"100000000", 8, "1"}, {"4242000000", 8, "42.42"}, {"7", 0, "7"},
		{"79228162514264337593543950335", 26, "792.28162514264337593543950335"},
	} {
		n, _ := new(big.Int).SetString(c.n, 10)
		if got := Decimal(n, c.places); got != c.want {
			t.Errorf("%s with %d places is %s: want %s", c.n, c.places, got, c.want)
		}
	}
}
