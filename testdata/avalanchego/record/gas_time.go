package main

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"time"

	"github.com/ava-labs/avalanchego/vms/components/gas"
	"github.com/ava-labs/avalanchego/vms/saevm/cchain/dynamic"
	"github.com/ava-labs/avalanchego/vms/saevm/gastime"
)

// gasBlock is a block that moves gas time on, and the gas time around it.
type gasBlock struct {
	TimeMS                        uint64 // when it begins
	Price, Gas                    uint64 // what gas costs in it, and what it uses
	TargetExponent, PriceExponent uint64 // those of its header
	Unix, Numerator, Excess       uint64 // afterwards
	Target, MinPrice              uint64
}

// gasChain is a chain that starts with a block that was executed when it was accepted.
type gasChain struct {
	TimeMS, TargetExponent, BaseFee uint64
	Excess                          uint64 // after that block
	Blocks                          []gasBlock
}

func recordGasTime(w io.Writer) error {
	random := rand.New(rand.NewPCG(3, 4))
	var all []gasChain
	for range 24 {
		c, err := runGasChain(random)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	return json.NewEncoder(w).Encode(all)
}

func runGasChain(random *rand.Rand) (c gasChain, err error) {
	target, price := dynamic.TargetExponent(random.Uint64N(1<<25)), dynamic.InitialPriceExponent
	c = gasChain{TimeMS: 1_790_089_200_000 + random.Uint64N(100_000), TargetExponent: uint64(target), BaseFee: 1 + random.Uint64N(1<<random.IntN(40))}
	config := gastime.GasPriceConfig{TargetToExcessScaling: 87, MinPrice: price.Price()}
	clock, err := gastime.New(time.UnixMilli(int64(c.TimeMS)), target.Target(), gas.Price(c.BaseFee), config)
	if err != nil {
		return c, err
	}
	c.Excess = uint64(clock.Excess())
	at := c.TimeMS
	for range 32 {
		switch random.IntN(4) {
		case 0:
			at += random.Uint64N(100)
		case 1, 2:
			at += random.Uint64N(12_000)
		default:
			at += random.Uint64N(400_000)
		}
		b := gasBlock{TimeMS: at, Gas: random.Uint64N(1 << random.IntN(26))}
		if random.IntN(4) == 0 {
			wanted := dynamic.TargetExponent(random.Uint64N(1 << 26))
			target = target.Toward(&wanted)
		}
		if random.IntN(3) == 0 {
			wanted := dynamic.DesiredPriceExponent(gas.Price(random.Uint64N(1 << random.IntN(50))))
			for range random.IntN(20_000) {
				price = price.Toward(&wanted)
			}
		}
		clock.BeforeBlock(time.UnixMilli(int64(at)))
		b.Price, b.TargetExponent, b.PriceExponent = uint64(clock.Price()), uint64(target), uint64(price)
		config.MinPrice = price.Price()
		if err := clock.AfterBlock(gas.Gas(b.Gas), target.Target(), config); err != nil {
			return c, err
		}
		b.Unix, b.Numerator, b.Excess = clock.Unix(), uint64(clock.Fraction().Numerator), uint64(clock.Excess())
		b.Target, b.MinPrice = uint64(target.Target()), uint64(config.MinPrice)
		c.Blocks = append(c.Blocks, b)
	}
	return c, nil
}
