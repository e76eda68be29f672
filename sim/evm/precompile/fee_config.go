package precompile

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// FeeConfig is the fee configuration of an L1, with the network's names and in its order. The C-Chain has its own rules.
type FeeConfig struct {
	GasLimit                 *big.Int `json:"gasLimit"`
	TargetBlockRate          uint64   `json:"targetBlockRate"`
	MinBaseFee               *big.Int `json:"minBaseFee"`
	TargetGas                *big.Int `json:"targetGas"`
	BaseFeeChangeDenominator *big.Int `json:"baseFeeChangeDenominator"`
	MinBlockGasCost          *big.Int `json:"minBlockGasCost"`
	MaxBlockGasCost          *big.Int `json:"maxBlockGasCost"`
	BlockGasCostStep         *big.Int `json:"blockGasCostStep"`
}

// NewFeeConfig returns a configuration with a chosen gas limit, minimum base fee and target gas in ten seconds.
func NewFeeConfig(limit, floor, target int64) FeeConfig {
	return FeeConfig{
		GasLimit: big.NewInt(limit), TargetBlockRate: 2, MinBaseFee: big.NewInt(floor), TargetGas: big.NewInt(target),
		BaseFeeChangeDenominator: big.NewInt(36), MinBlockGasCost: new(big.Int), MaxBlockGasCost: big.NewInt(1_000_000),
		BlockGasCostStep: big.NewInt(200_000),
	}
}

// Words returns the fields in the order of the fee manager's arguments and slots.
func (f *FeeConfig) Words() []common.Hash {
	var words []common.Hash
	for _, n := range []*big.Int{f.GasLimit, new(big.Int).SetUint64(f.TargetBlockRate), f.MinBaseFee, f.TargetGas,
		f.BaseFeeChangeDenominator, f.MinBlockGasCost, f.MaxBlockGasCost, f.BlockGasCostStep} {
		words = append(words, common.BigToHash(n))
	}
	return words
}

// feeConfigOf makes a configuration from these fields; of the block rate only the low 64 bits count.
func feeConfigOf(numbers [feeFields]*big.Int) FeeConfig {
	return FeeConfig{
		GasLimit: numbers[0], TargetBlockRate: numbers[1].Uint64(), MinBaseFee: numbers[2], TargetGas: numbers[3],
		BaseFeeChangeDenominator: numbers[4], MinBlockGasCost: numbers[5], MaxBlockGasCost: numbers[6], BlockGasCostStep: numbers[7],
	}
}

// Check returns the first error of a configuration, in the network's order and words (subnet-evm commontype.FeeConfig.Verify).
func (f *FeeConfig) Check() error {
	rate := new(big.Int).SetUint64(f.TargetBlockRate)
	fields := []struct {
		name     string
		value    *big.Int
		positive bool
	}{
		{"gasLimit", f.GasLimit, true}, {"targetBlockRate", rate, true}, {"minBaseFee", f.MinBaseFee, false}, {"targetGas", f.TargetGas, true},
		{"baseFeeChangeDenominator", f.BaseFeeChangeDenominator, true}, {"minBlockGasCost", f.MinBlockGasCost, false},
		{"maxBlockGasCost", f.MaxBlockGasCost, false}, {"blockGasCostStep", f.BlockGasCostStep, false},
	}
	for _, field := range fields {
		if field.value == nil {
			return fmt.Errorf("%s cannot be nil", field.name)
		}
	}
	for _, field := range fields {
		switch {
		case field.positive && field.value.Sign() <= 0:
			return fmt.Errorf("%s cannot be less than or equal to 0: %s = %d", field.name, field.name, field.value)
		case field.name == "maxBlockGasCost" && f.MinBlockGasCost.Cmp(f.MaxBlockGasCost) > 0:
			return fmt.Errorf("minBlockGasCost cannot be greater than maxBlockGasCost: minBlockGasCost = %d, maxBlockGasCost = %d", f.MinBlockGasCost, f.MaxBlockGasCost)
		case field.value.Sign() < 0:
			return fmt.Errorf("%s cannot be less than 0: %s = %d", field.name, field.name, field.value)
		}
	}
	if !f.MaxBlockGasCost.IsUint64() {
		return fmt.Errorf("maxBlockGasCost is not a valid uint64: maxBlockGasCost = %d", f.MaxBlockGasCost)
	}
	for _, field := range fields {
		if field.value.BitLen() > 8*wordBytes {
			return fmt.Errorf("%s exceeds hash length: %d bytes", field.name, wordBytes)
		}
	}
	return nil
}
