package anvil

import (
	"context"
	"encoding/json"
)

// What anvil or Hardhat has and this network has no room for is refused with a reason, which says what to use instead.

// unsupported is such a refusal.
type unsupported string

func (e unsupported) Error() string { return string(e) }

// ErrorCode is that of EIP-1474 for a method that is not supported, as Hardhat has it.
func (unsupported) ErrorCode() int { return -32004 }

const (
	errMinGasPrice = unsupported("no minimal gas price can be set: blocks have a base fee by EIP-1559, as where anvil and Hardhat refuse this too; set that of the next block with anvil_setNextBlockBaseFeePerGas")
	errPrevRandao  = unsupported("blocks of this network have no random value: PREVRANDAO is 1 in all of them")
	errDetailed    = unsupported("blocks are not answered with what their transactions returned; use evm_mine, then eth_getBlockByNumber and debug_traceBlockByNumber with the callTracer")
	errState       = unsupported("the state of one chain cannot be taken out of its world, nor put into another; use evm_snapshot and evm_revert, or copy the world's file")
)

// SetLoggingEnabled changes nothing: what is logged is up to who starts the program.
func (a *anvilAPI) SetLoggingEnabled(bool) {}

// SetLoggingEnabled changes nothing: what is logged is up to who starts the program.
func (a *hardhatAPI) SetLoggingEnabled(bool) bool { return true }

// SetMinGasPrice is refused.
func (a *anvilAPI) SetMinGasPrice(number) error { return errMinGasPrice }

// SetMinGasPrice is refused.
func (a *hardhatAPI) SetMinGasPrice(number) error { return errMinGasPrice }

// SetPrevRandao is refused.
func (a *hardhatAPI) SetPrevRandao(json.RawMessage) error { return errPrevRandao }

// Mine_detailed is refused.
func (a *anvilAPI) Mine_detailed(context.Context, *mineOptions) error { return errDetailed }

// Mine_detailed is refused.
func (a *evmAPI) Mine_detailed(context.Context, *mineOptions) error { return errDetailed }

// DumpState is refused.
func (a *anvilAPI) DumpState(*bool) error { return errState }

// LoadState is refused.
func (a *anvilAPI) LoadState(json.RawMessage) error { return errState }

// DumpState is refused.
func (a *hardhatAPI) DumpState(*bool) error { return errState }

// LoadState is refused.
func (a *hardhatAPI) LoadState(json.RawMessage) error { return errState }
