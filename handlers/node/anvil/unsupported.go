package anvil

import (
	"context"
	"encoding/json"
)

// Methods of anvil or Hardhat that this network cannot support return an error that suggests an alternative.

// unsupported is the error of such a method.
type unsupported string

func (e unsupported) Error() string { return string(e) }

// ErrorCode is EIP-1474's code for an unsupported method, as Hardhat returns it.
func (unsupported) ErrorCode() int { return -32004 }

const (
	errMinGasPrice = unsupported("the minimum gas price cannot be set: blocks have a base fee (EIP-1559), so anvil and Hardhat would refuse this too; set the next block's with anvil_setNextBlockBaseFeePerGas")
	errPrevRandao  = unsupported("blocks of this network have no random value: PREVRANDAO is 1 in all of them")
	errDetailed    = unsupported("this method is not supported; use evm_mine, then eth_getBlockByNumber and debug_traceBlockByNumber with the callTracer")
	errState       = unsupported("one chain's state cannot be moved between worlds; use evm_snapshot and evm_revert, or copy the world's file")
)

// SetLoggingEnabled changes nothing: the program's flags decide about logging.
func (a *anvilAPI) SetLoggingEnabled(bool) {}

// SetLoggingEnabled changes nothing: the program's flags decide about logging.
func (a *hardhatAPI) SetLoggingEnabled(bool) bool { return true }

// SetMinGasPrice is unsupported.
func (a *anvilAPI) SetMinGasPrice(number) error { return errMinGasPrice }

// SetMinGasPrice is unsupported.
func (a *hardhatAPI) SetMinGasPrice(number) error { return errMinGasPrice }

// SetPrevRandao is unsupported.
func (a *hardhatAPI) SetPrevRandao(json.RawMessage) error { return errPrevRandao }

// Mine_detailed is unsupported.
func (a *anvilAPI) Mine_detailed(context.Context, *mineOptions) error { return errDetailed }

// Mine_detailed is unsupported.
func (a *evmAPI) Mine_detailed(context.Context, *mineOptions) error { return errDetailed }

// DumpState is unsupported.
func (a *anvilAPI) DumpState(*bool) error { return errState }

// LoadState is unsupported.
func (a *anvilAPI) LoadState(json.RawMessage) error { return errState }

// DumpState is unsupported.
func (a *hardhatAPI) DumpState(*bool) error { return errState }

// LoadState is unsupported.
func (a *hardhatAPI) LoadState(json.RawMessage) error { return errState }
