package nodetest

import "github.com/ethereum/go-ethereum/common"

// Frame is a call from the callTracer.
type Frame struct {
	Type, From, To, Value, Gas, GasUsed, Input, Output, Error string
	Calls                                                     []Frame
}

// IsPrecompile reports whether the call is of one of Ethereum's precompiles, which other tracers leave out.
func (f *Frame) IsPrecompile() bool {
	to := common.HexToAddress(f.To)
	return (f.Type == "CALL" || f.Type == "STATICCALL") && to.Big().IsUint64() && to.Big().Uint64() <= 10 && to != (common.Address{})
}
