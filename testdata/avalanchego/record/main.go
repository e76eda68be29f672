// Record writes what the network's own packages say, for tests that cannot import them:
//
//	go run ./record fees > ../../sim/evm/testdata/base_fee.json       # the base fees and fee windows of subnet-evm after parents of all kinds
//	go run ./record xchain > ../../sim/xchain/testdata/judged.json.gz # what avalanchego's verifiers say of X-Chain transactions with mistakes
//	go run ./record pchain > ../../sim/pchain/testdata/judged.json.gz # the same of the P-Chain
//	go run ./record helicon > ../../sim/pchain/testdata/judged_helicon.json.gz # the same with auto-renewed validators, and of transactions since Helicon
//	go run ./record rewards > ../../sim/rules/testdata/rewards.json            # rewards of stakes that start before, at and after Helicon
//	go run ./record complexities > ../../sim/rules/testdata/complexities.json.gz # complexities of P-Chain transactions of all types
//	go run ./record gastime > ../../sim/evm/testdata/gas_time.json             # gas time, prices and exponents of C-Chains since Helicon
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"math/rand/v2"
	"os"

	"github.com/ava-labs/libevm/core/types"

	"github.com/ava-labs/avalanchego/graft/subnet-evm/commontype"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/params/extras"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/plugin/evm/customheader"
)

// vector is a block after a parent.
type vector struct {
	TargetGas, Denominator, MinBaseFee uint64
	Number, BaseFee, GasUsed           uint64 // of the parent
	Window                             string // of the parent, hex
	Elapsed                            uint64 // seconds since the parent
	Want                               string // base fee
	WantWindow                         string
}

func main() {
	record := map[string]func(io.Writer) error{"fees": recordFees, "xchain": recordXChain, "pchain": recordPChain, "helicon": recordRenewed, "rewards": recordRewards,
		"gastime": recordGasTime, "complexities": recordComplexities}
	if len(os.Args) != 2 || record[os.Args[1]] == nil {
		log.Fatal("usage: record fees|xchain|pchain|helicon|rewards|gastime|complexities")
	}
	if err := record[os.Args[1]](os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func recordFees(w io.Writer) error {
	var all []string
	random := rand.New(rand.NewPCG(1, 2))
	for _, elapsed := range []uint64{0, 1, 2, 5, 9, 10, 11, 19, 20, 21, 29, 30, 35, 100, 3600, 1 << 20} {
		for range 8 {
			v := vector{
				TargetGas: 1_000_000 + random.Uint64N(20_000_000), Denominator: 8 + random.Uint64N(60), MinBaseFee: 1 + random.Uint64N(25_000_000_000),
				Number: random.Uint64N(8), GasUsed: random.Uint64N(16_000_000), Elapsed: elapsed,
			}
			v.BaseFee = v.MinBaseFee + random.Uint64N(v.MinBaseFee*3)
			if random.IntN(4) == 0 {
				v.MinBaseFee, v.BaseFee = 1, 1+random.Uint64N(100)
			}
			window := make([]uint64, 10)
			for i := range window {
				switch random.IntN(4) {
				case 0:
					window[i] = random.Uint64N(4_000_000)
				case 1:
					window[i] = v.TargetGas / 10
				}
			}
			switch random.IntN(8) {
			case 0: // exactly the target, if no time passed
				window = make([]uint64, 10)
				window[9], v.GasUsed = v.TargetGas/2, v.TargetGas-v.TargetGas/2
			case 1:
				window[3], window[9] = math.MaxUint64, math.MaxUint64
			}
			var raw []byte
			for _, gas := range window {
				raw = fmt.Appendf(raw, "%016x", gas)
			}
			v.Window = string(raw)
			line, err := feesAfter(&v)
			if err != nil {
				return err
			}
			all = append(all, line)
		}
	}
	fmt.Fprintln(w, "[")
	for i, line := range all {
		if i < len(all)-1 {
			line += ","
		}
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintln(w, "]")
	return err
}

func feesAfter(v *vector) (string, error) {
	extra := make([]byte, len(v.Window)/2)
	if _, err := fmt.Sscanf(v.Window, "%x", &extra); err != nil {
		return "", err
	}
	const before = 1_000_000
	config := extras.TestChainConfig
	parent := &types.Header{Number: new(big.Int).SetUint64(v.Number), Time: before, BaseFee: new(big.Int).SetUint64(v.BaseFee), GasUsed: v.GasUsed, Extra: extra}
	fees := commontype.FeeConfig{MinBaseFee: new(big.Int).SetUint64(v.MinBaseFee), TargetGas: new(big.Int).SetUint64(v.TargetGas), BaseFeeChangeDenominator: new(big.Int).SetUint64(v.Denominator)}
	fee, err := customheader.BaseFee(config, fees, parent, (before+v.Elapsed)*1000)
	if err != nil {
		return "", err
	}
	window, err := customheader.ExtraPrefix(config, parent, &types.Header{Number: new(big.Int).SetUint64(v.Number + 1), Time: before + v.Elapsed})
	if err != nil {
		return "", err
	}
	v.Want, v.WantWindow = fee.String(), fmt.Sprintf("%x", window)
	line, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return string(line), nil
}
