package evm

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// FeeConfig is the fee configuration of an L1, with the network's names; the C-Chain has its own rule (see fee.go).
type FeeConfig struct {
	GasLimit                 uint64 `json:"gasLimit"`
	TargetBlockRate          uint64 `json:"targetBlockRate"`
	MinBaseFee               uint64 `json:"minBaseFee"`
	TargetGas                uint64 `json:"targetGas"`
	BaseFeeChangeDenominator uint64 `json:"baseFeeChangeDenominator"`
	MinBlockGasCost          uint64 `json:"minBlockGasCost"`
	MaxBlockGasCost          uint64 `json:"maxBlockGasCost"`
	BlockGasCostStep         uint64 `json:"blockGasCostStep"`
}

// GenesisAccount is what an address holds before the first block.
type GenesisAccount struct {
	Balance *hexutil.Big  `json:"balance,omitempty"`
	Code    hexutil.Bytes `json:"code,omitempty"`
	Nonce   uint64        `json:"nonce,omitempty"`
}

// Genesis is everything that a chain starts from.
type Genesis struct {
	Kind      Kind                              `json:"kind"`
	ChainID   uint64                            `json:"chainId"`
	Timestamp uint64                            `json:"timestamp"`
	FeeConfig FeeConfig                         `json:"feeConfig"`
	Alloc     map[common.Address]GenesisAccount `json:"alloc"`

	Precompiles precompile.Schedule `json:"precompiles,omitzero"`
}

// ParseGenesis reads the JSON that Encode writes.
func ParseGenesis(raw []byte) (*Genesis, error) {
	var g Genesis
	if err := json.Unmarshal(raw, &g); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return &g, nil
}

// Encode is the canonical JSON of the genesis.
func (g *Genesis) Encode() ([]byte, error) { return json.Marshal(g) }

// rules is the one set of rules that holds over a whole chain: Cancun from the first block on.
func (g *Genesis) rules() *params.ChainConfig {
	zero := uint64(0)
	return &params.ChainConfig{
		ChainID:                 new(big.Int).SetUint64(g.ChainID),
		HomesteadBlock:          new(big.Int),
		EIP150Block:             new(big.Int),
		EIP155Block:             new(big.Int),
		EIP158Block:             new(big.Int),
		ByzantiumBlock:          new(big.Int),
		ConstantinopleBlock:     new(big.Int),
		PetersburgBlock:         new(big.Int),
		IstanbulBlock:           new(big.Int),
		MuirGlacierBlock:        new(big.Int),
		BerlinBlock:             new(big.Int),
		LondonBlock:             new(big.Int),
		ShanghaiTime:            &zero,
		CancunTime:              &zero,
		TerminalTotalDifficulty: new(big.Int),
	}
}

// header is the header of block 0, all but the state root.
func (g *Genesis) header() *Header {
	h := &Header{
		UncleHash:        types.EmptyUncleHash,
		TxHash:           types.EmptyTxsHash,
		ReceiptHash:      types.EmptyReceiptsHash,
		Difficulty:       new(big.Int),
		Number:           new(big.Int),
		GasLimit:         g.FeeConfig.GasLimit,
		Time:             g.Timestamp,
		Extra:            []byte{0},
		BaseFee:          new(big.Int).SetUint64(g.FeeConfig.MinBaseFee),
		ExtDataGasUsed:   new(big.Int),
		BlockGasCost:     new(big.Int),
		TimeMilliseconds: g.Timestamp * 1000,
		MinDelayExcess:   InitialDelayExcess,
	}
	return h
}
