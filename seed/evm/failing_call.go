package evm

import (
	"math/big"
	"math/rand/v2"

	"snowglobe/seed/population"
)

const (
	gasShort = 60_000 // runs out in a loop
	gasTight = 24_000 // runs out in the first storage write of a token transfer
)

// fail is a transaction that fails in the EVM: with a reason, with a custom error, without data, in a panic, by an
// invalid opcode, or by running out of gas.
func (a *activity) fail(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	return a.failingCall(who, r.IntN(8), r)
}

func (a *activity) failingCall(who *population.Account, kind int, r *rand.Rand) (*TxRequest, error) {
	switch kind {
	case 0:
		return a.chain.Call(who, "reverter", "Reverter", "withReason", []string{"not today", "paused", "slippage too high"}[r.IntN(3)])
	case 1:
		return a.chain.Call(who, "reverter", "Reverter", "withCustomError", big.NewInt(population.Between(r, 1, 99)))
	case 2:
		return a.chain.Call(who, "reverter", "Reverter", "withoutData")
	case 3:
		return a.chain.Call(who, "reverter", "Reverter", "withPanic")
	case 4:
		return a.chain.CallWith(who, "reverter", "Reverter", "burnGas", nil, gasShort)
	case 5:
		return a.chain.Call(who, "reverter", "Reverter", "nestedRevert")
	case 6: // more than anyone has
		return a.chain.Call(who, "usdx", "Token", "transfer", a.chain.Personas.Bob.Address, new(big.Int).Lsh(big.NewInt(1), 200))
	default:
		return a.chain.CallWith(who, "usdx", "Token", "transfer", nil, gasTight, a.chain.Personas.Bob.Address, big.NewInt(1))
	}
}
