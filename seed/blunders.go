package seed

import (
	"math/big"
	"math/rand/v2"
)

const (
	gasShort = 60_000 // runs out in a loop
	gasTight = 24_000 // runs out in the first storage write of a token transfer
)

// stumble is a transaction that fails in the EVM: with a reason, with a custom error, without data, in a panic, by an
// invalid opcode, or by running out of gas.
func (s *evmChain) fail(who *account, r *rand.Rand) (*txRequest, error) {
	return s.failingCall(who, r.IntN(8), r)
}

func (s *evmChain) failingCall(who *account, kind int, r *rand.Rand) (*txRequest, error) {
	switch kind {
	case 0:
		return s.call(who, "reverter", "Reverter", "withReason", []string{"not today", "paused", "slippage too high"}[r.IntN(3)])
	case 1:
		return s.call(who, "reverter", "Reverter", "withCustomError", big.NewInt(between(r, 1, 99)))
	case 2:
		return s.call(who, "reverter", "Reverter", "withoutData")
	case 3:
		return s.call(who, "reverter", "Reverter", "withPanic")
	case 4:
		return s.callWith(who, "reverter", "Reverter", "burnGas", nil, gasShort)
	case 5:
		return s.call(who, "reverter", "Reverter", "nestedRevert")
	case 6: // more than anyone has
		return s.call(who, "usdx", "Token", "transfer", s.people["bob"].address, new(big.Int).Lsh(big.NewInt(1), 200))
	default:
		return s.callWith(who, "usdx", "Token", "transfer", nil, gasTight, s.people["bob"].address, big.NewInt(1))
	}
}
