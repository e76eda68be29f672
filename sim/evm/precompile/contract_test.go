package precompile

import (
	"math/big"
	"testing"
)

// TestMissingArguments leaves arguments out, and expects the words of libevm's accounts/abi, which subnet-evm's contracts pass on.
func TestMissingArguments(t *testing.T) {
	const none = "abi: attempting to unmarshal an empty string while arguments are expected"
	for _, c := range []struct {
		contract  *Contract
		signature string
		bytes     int
		want      string
	}{
		{NativeMinter, "mintNativeCoin(address,uint256)", 0, "failed to unpack input: " + none},
		{NativeMinter, "mintNativeCoin(address,uint256)", 31, "failed to unpack input: abi: cannot marshal in to go type: length insufficient 31 require 32"},
		{NativeMinter, "mintNativeCoin(address,uint256)", 63, "failed to unpack input: abi: cannot marshal in to go type: length insufficient 63 require 64"},
		{NativeMinter, "mintNativeCoin(address,uint256)", 64, ""},
		{NativeMinter, "setAdmin(address)", 0, none},
		{FeeManager, SetFeeConfig, 100, "failed to unpack input: abi: cannot marshal in to go type: length insufficient 100 require 128"},
		{FeeManager, "getFeeConfig()", 0, ""},
		{Warp, "sendWarpMessage(bytes)", 0, "invalid sendWarpMessage input: " + none},
		{Warp, "getVerifiedWarpMessage(uint32)", 4, "invalid index to specify warp message: abi: cannot marshal in to go type: length insufficient 4 require 32"},
		{Warp, "getVerifiedWarpBlockHash(uint32)", 0, "invalid index to specify warp message: " + none},
		{DeployerAllowList, "readAllowList(address)", 1, "abi: cannot marshal in to go type: length insufficient 1 require 32"},
	} {
		f, err := c.contract.find(PackInput(c.signature))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.check(make([]byte, c.bytes)); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s with %d bytes: %v, want %s", c.signature, c.bytes, err, c.want)
		}
	}
}

// TestFeeConfigsAreCheckedInOrder puts all mistakes into a configuration, and removes them one by one.
func TestFeeConfigsAreCheckedInOrder(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	below := big.NewInt(-1)
	f := FeeConfig{GasLimit: new(big.Int), MinBaseFee: below, TargetGas: new(big.Int), BaseFeeChangeDenominator: below, MinBlockGasCost: below,
		MaxBlockGasCost: big.NewInt(-2)}
	for _, c := range []struct {
		want string
		mend func()
	}{
		{"blockGasCostStep cannot be nil", func() { f.BlockGasCostStep = below }},
		{"gasLimit cannot be less than or equal to 0: gasLimit = 0", func() { f.GasLimit = huge }},
		{"targetBlockRate cannot be less than or equal to 0: targetBlockRate = 0", func() { f.TargetBlockRate = 1 }},
		{"minBaseFee cannot be less than 0: minBaseFee = -1", func() { f.MinBaseFee = new(big.Int) }},
		{"targetGas cannot be less than or equal to 0: targetGas = 0", func() { f.TargetGas = huge }},
		{"baseFeeChangeDenominator cannot be less than or equal to 0: baseFeeChangeDenominator = -1", func() { f.BaseFeeChangeDenominator = big.NewInt(1) }},
		{"minBlockGasCost cannot be less than 0: minBlockGasCost = -1", func() { f.MinBlockGasCost = big.NewInt(3) }},
		{"minBlockGasCost cannot be greater than maxBlockGasCost: minBlockGasCost = 3, maxBlockGasCost = -2", func() { f.MaxBlockGasCost = new(big.Int).Lsh(big.NewInt(1), 64) }},
		{"blockGasCostStep cannot be less than 0: blockGasCostStep = -1", func() { f.BlockGasCostStep = new(big.Int) }},
		{"maxBlockGasCost is not a valid uint64: maxBlockGasCost = 18446744073709551616", func() { f.MaxBlockGasCost = big.NewInt(3) }},
		{"gasLimit exceeds hash length: 32 bytes", func() { f.GasLimit = big.NewInt(1) }},
		{"targetGas exceeds hash length: 32 bytes", func() { f.TargetGas = big.NewInt(1) }},
	} {
		if err := f.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		c.mend()
	}
	f.TargetGas = new(big.Int).Sub(huge, big.NewInt(1)) // the most that a word holds
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}
