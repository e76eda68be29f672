// Package precompile implements the stateful precompiles of subnet-evm that a chain's configuration activates: they have addresses and
// state like any other contract, but the node itself runs them. A contract declares its address, its configuration key and its functions;
// Frames supplies what go-ethereum does not pass to precompiles (the caller, and whether the call may write).
package precompile

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
)

// The gas of a storage slot and of the parts of an event (subnet-evm precompile/contract).
const (
	writeGas = 20_000
	readGas  = 5_000

	logGas   = 375
	topicGas = 375
	byteGas  = 8
)

const (
	wordBytes     = 32
	selectorBytes = 4
)

// Contract is a stateful precompile.
type Contract struct {
	Address common.Address
	Key     string // in a genesis or an upgrade

	functions map[string]*Function // by selector
	configure func(*Activation) error
}

// Function is a function of a contract.
type Function struct {
	Signature string             // as Solidity writes it; its hash starts with the selector
	Gas       func(*Call) uint64 // cost of a call, events included
	Writes    bool               // refuses static calls
	BadInput  error              // wraps the error of an input that lacks arguments; nil for none
	Run       func(*Call) ([]byte, error)
}

// Call is the argument of a precompile's function.
type Call struct {
	Caller common.Address
	State  vm.StateDB
	Block  *vm.BlockContext
	Warp   *WarpInput
	Input  []byte // without the selector
}

// declare makes a contract from its functions. configure sets it up.
func declare(address common.Address, key string, configure func(*Activation) error, functions ...Function) *Contract {
	c := &Contract{Address: address, Key: key, functions: map[string]*Function{}, configure: configure}
	for i := range functions {
		c.functions[string(crypto.Keccak256([]byte(functions[i].Signature))[:selectorBytes])] = &functions[i]
	}
	return c
}

// costs returns a constant gas function.
func costs(gas uint64) func(*Call) uint64 { return func(*Call) uint64 { return gas } }

// eventGas returns the gas of an event with this many topics, its own name included, and bytes of data.
func eventGas(topics, data uint64) uint64 { return logGas + topics*topicGas + data*byteGas }

// find returns the function that an input names (subnet-evm precompile/contract.statefulPrecompileWithFunctionSelectors.Run).
func (c *Contract) find(input []byte) (*Function, error) {
	if len(input) < selectorBytes {
		return nil, fmt.Errorf("missing function selector to precompile - input length (%d)", len(input))
	}
	f := c.functions[string(input[:selectorBytes])]
	if f == nil {
		return nil, fmt.Errorf("invalid function selector: %#x", input[:selectorBytes])
	}
	return f, nil
}

// Errors for missing arguments in an input, from libevm's accounts/abi; subnet-evm's native minter and fee manager wrap them.
var (
	errNoArguments = errors.New("abi: attempting to unmarshal an empty string while arguments are expected")
	errUnpackInput = errors.New("failed to unpack input")
)

// check fails if an argument is missing. Since Durango, extra input is allowed.
func (f *Function) check(input []byte) (err error) {
	if strings.HasSuffix(f.Signature, "()") {
		return nil
	}
	switch need := wordBytes * (1 + strings.Count(f.Signature, ",")); {
	case len(input) == 0:
		err = errNoArguments
	case len(input) < need:
		err = fmt.Errorf("abi: cannot marshal in to go type: length insufficient %d require %d", len(input), wordBytes*(1+len(input)/wordBytes))
	}
	if err != nil && f.BadInput != nil {
		err = fmt.Errorf("%w: %w", f.BadInput, err)
	}
	return err
}

// word returns an argument, counted from zero.
func (c *Call) word(n int) common.Hash { return common.Hash(c.Input[n*wordBytes : (n+1)*wordBytes]) }

// address returns an address argument. It ignores the first 12 bytes of the word, as subnet-evm does.
func (c *Call) address(n int) common.Address { return common.BytesToAddress(c.word(n).Bytes()) }

func (c *Call) number(n int) *big.Int { return c.word(n).Big() }

// emit adds an event of the contract at an address.
func (c *Call) emit(contract common.Address, data []byte, topics ...common.Hash) {
	c.State.AddLog(&types.Log{Address: contract, Topics: topics, Data: data, BlockNumber: c.Block.BlockNumber.Uint64()})
}

// PackInput encodes a call: the selector of a function and its arguments, one word each.
func PackInput(signature string, words ...common.Hash) []byte {
	data := crypto.Keccak256([]byte(signature))[:selectorBytes]
	for _, w := range words {
		data = append(data, w[:]...)
	}
	return data
}

func eventTopic(signature string) common.Hash { return crypto.Keccak256Hash([]byte(signature)) }
