package evm

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"

	"snowglobe/seed/population"
)

// habits lists how people set their tips, in millionths of a gwei. A wallet that asks the node offers next to nothing on a quiet chain;
// others keep a habit from the days of expensive gas.
var habits = []struct {
	percent   int
	low, high int64
	legacy    bool // a fixed gas price, regardless of the base fee
}{
	{18, 0, 0, false},                 // one wei, as a node suggests
	{34, 500, 20_000, false},          // below 0.02 gwei
	{28, 50_000, 500_000, false},      // a fraction of a gwei
	{12, 1_000_000, 2_500_000, false}, // the default of many wallets
	{8, 25_000_000, 30_000_000, true}, // the price of former years, written into a script
}

// tipUnit is a millionth of a gwei in wei.
const tipUnit = 1_000

// offer is a sender's price per unit of gas.
type offer struct {
	tip    *big.Int
	legacy bool
}

// offerOf returns an account's offer at a time in Unix seconds: the habitual one, a higher one in busy hours, a much higher one in a rush.
func (c *Chain) offerOf(who *population.Account, at uint64, rushing bool, r *rand.Rand) offer {
	person := binary.BigEndian.Uint64(who.Address[:])
	draw := int(person % 100)
	for _, h := range habits {
		if draw -= h.percent; draw >= 0 {
			continue
		}
		units := h.low + int64(person/100%uint64(h.high-h.low+1))
		if h.legacy {
			return offer{big.NewInt(units * tipUnit), true}
		}
		units = units * c.moodAt(at) / 100 * population.Between(r, 85, 115) / 100
		if rushing {
			units = units*population.Between(r, 2, 20) + population.Between(r, 100_000, 3_000_000)
		}
		return offer{big.NewInt(1 + units*tipUnit), false}
	}
	return offer{big.NewInt(1), false}
}

// moodAt returns the level of an hour's tips in percent of the usual: busier hours pay more.
func (c *Chain) moodAt(at uint64) int64 {
	if hour := at / population.Hour; hour != c.hour {
		c.hour, c.mood = hour, population.Between(c.rng.For("mood", c.Row.EVMID, hour), 40, 160)*population.Busyness(at)/60
	}
	return c.mood
}
