package reader

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
)

// StateOverrides are accounts whose state is replaced for a call (coreth internal/ethapi.StateOverride; go-ethereum's
// internal/ethapi/override.StateOverride can also move precompiles).
type StateOverrides map[common.Address]AccountOverride

// AccountOverride replaces the set parts of an account. State replaces all storage, StateDiff single slots.
type AccountOverride struct {
	Nonce            *hexutil.Uint64             `json:"nonce"`
	Code             *hexutil.Bytes              `json:"code"`
	Balance          *hexutil.Big                `json:"balance"`
	State            map[common.Hash]common.Hash `json:"state"`
	StateDiff        map[common.Hash]common.Hash `json:"stateDiff"`
	MovePrecompileTo *common.Address             `json:"movePrecompileToAddress"`
}

// UnmarshalJSON names the node's own type in the error for a wrong argument.
func (o *AccountOverride) UnmarshalJSON(data []byte) error {
	type OverrideAccount AccountOverride
	return decodeAs("ethapi.OverrideAccount", data, (*OverrideAccount)(o))
}

// BlockOverrides replaces the set fields of the block, by their older or newer names.
type BlockOverrides struct {
	Number        *hexutil.Big    `json:"number"`
	Difficulty    *hexutil.Big    `json:"difficulty"`
	Time          *hexutil.Uint64 `json:"time"`
	GasLimit      *hexutil.Uint64 `json:"gasLimit"`
	Coinbase      *common.Address `json:"coinbase"`
	FeeRecipient  *common.Address `json:"feeRecipient"`
	Random        *Word           `json:"random"`
	PrevRandao    *Word           `json:"prevRandao"`
	BaseFee       *hexutil.Big    `json:"baseFee"`
	BaseFeePerGas *hexutil.Big    `json:"baseFeePerGas"`
	BlobBaseFee   *hexutil.Big    `json:"blobBaseFee"`
}

// OverridesOf makes a call run in a block with a header, as far as the header is known before execution.
func OverridesOf(h *evm.Header) *BlockOverrides {
	return &BlockOverrides{Number: (*hexutil.Big)(h.Number), Time: (*hexutil.Uint64)(&h.Time), GasLimit: (*hexutil.Uint64)(&h.GasLimit),
		Coinbase: &h.Coinbase, BaseFee: (*hexutil.Big)(h.BaseFee)}
}

// Word is a 256-bit value that clients may write without leading zeros.
type Word common.Hash

// UnmarshalText parses 0x and at most 64 digits.
func (w *Word) UnmarshalText(text []byte) error {
	digits := string(text)
	if !strings.HasPrefix(digits, "0x") && !strings.HasPrefix(digits, "0X") {
		return hexutil.ErrMissingPrefix
	}
	digits = digits[2:]
	if len(digits) > 2*common.HashLength {
		return fmt.Errorf("hex string has %d digits: expected at most %d", len(digits), 2*common.HashLength)
	}
	return (*common.Hash)(w).UnmarshalText([]byte("0x" + strings.Repeat("0", 2*common.HashLength-len(digits)) + digits))
}

func (o *BlockOverrides) apply(block *vm.BlockContext) {
	if o == nil {
		return
	}
	if o.Number != nil {
		block.BlockNumber = o.Number.ToInt()
	}
	if o.Difficulty != nil {
		block.Difficulty = o.Difficulty.ToInt()
	}
	if o.Time != nil {
		block.Time = uint64(*o.Time)
	}
	if o.GasLimit != nil {
		block.GasLimit = uint64(*o.GasLimit)
	}
	if address := either(o.Coinbase, o.FeeRecipient); address != nil {
		block.Coinbase = *address
	}
	if random := either(o.Random, o.PrevRandao); random != nil {
		block.Random = (*common.Hash)(random)
	}
	if fee := either(o.BaseFee, o.BaseFeePerGas); fee != nil {
		block.BaseFee = fee.ToInt()
	}
	if o.BlobBaseFee != nil {
		block.BlobBaseFee = o.BlobBaseFee.ToInt()
	}
}

func either[T any](older, newer *T) *T {
	if newer != nil {
		return newer
	}
	return older
}

// override changes the state before the execution, as if an earlier transaction had. At the address of a precompile, a node runs the precompile
// and ignores the override's code (coreth internal/ethapi.StateOverride.Apply); in a simulation the override replaces it, as in go-ethereum.
func (x *execution) override(all StateOverrides, replace bool) error {
	if len(all) == 0 {
		return nil
	}
	x.precompiles = x.precompilesAt().Clone()
	moved := map[common.Address]bool{}
	for _, address := range slices.SortedFunc(maps.Keys(all), func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) }) {
		o := all[address]
		if moved[address] {
			return fmt.Errorf("account %s has already been overridden by a precompile", address)
		}
		if replace || o.MovePrecompileTo != nil {
			if err := x.movePrecompile(address, &o, all, moved); err != nil {
				return err
			}
		}
		if err := x.overrideAccount(address, &o); err != nil {
			return err
		}
	}
	x.states.Finalise(params.Rules{})
	return nil
}

// movePrecompile takes the precompile away from an overridden address and moves it to another one on request.
func (x *execution) movePrecompile(address common.Address, o *AccountOverride, all StateOverrides, moved map[common.Address]bool) error {
	target := o.MovePrecompileTo
	if !x.precompiles.Move(address, target) && target != nil {
		return fmt.Errorf("account %s is not a precompile", address)
	}
	if target == nil {
		return nil
	}
	if _, taken := all[*target]; taken {
		return fmt.Errorf("account %s is already overridden", *target)
	}
	moved[*target] = true
	return nil
}

func (x *execution) overrideAccount(address common.Address, o *AccountOverride) error {
	if o.State != nil && o.StateDiff != nil {
		return fmt.Errorf("account %s has both 'state' and 'stateDiff'", address)
	}
	if o.Nonce != nil {
		x.states.SetNonce(address, uint64(*o.Nonce), tracing.NonceChangeUnspecified)
	}
	if o.Code != nil {
		x.states.SetCode(address, *o.Code, tracing.CodeChangeUnspecified)
	}
	if o.Balance != nil {
		balance, overflow := uint256.FromBig(o.Balance.ToInt())
		if overflow || o.Balance.ToInt().Sign() < 0 {
			return fmt.Errorf("balance of account %s does not fit 256 bits", address)
		}
		x.states.SetBalance(address, balance, tracing.BalanceChangeUnspecified)
	}
	if o.State != nil {
		storage := make(map[common.Hash]common.Hash, len(o.State))
		for key, value := range o.State {
			storage[evm.StateKey(x.chain.Kind, key)] = value
		}
		x.states.SetStorage(address, storage)
	}
	for key, value := range o.StateDiff {
		x.states.SetState(address, evm.StateKey(x.chain.Kind, key), value)
	}
	return nil
}
