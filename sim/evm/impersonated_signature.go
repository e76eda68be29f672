package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
)

// An impersonated signature is one that clients let ecrecover answer with an account of their choice, whatever was signed. It is part of the state: a
// slot of the precompile's own account, which no code can write, holds the account. So it is changed, undone, copied and verified like any
// storage that a client sets.

// RecoverAddress is the address of ecrecover, and of the account whose storage holds the impersonated signatures.
var RecoverAddress = common.BytesToAddress([]byte{1})

// SignatureBytes is the length of a signature: r, s, and v, which is 27 or 28.
const SignatureBytes = 65

// SignatureSlot returns the slot that holds the account of an impersonated signature.
func SignatureSlot(signature []byte) common.Hash { return crypto.Keccak256Hash(signature) }

// recoverName is the name of ecrecover among go-ethereum's precompiles (EIP-7910).
const recoverName = "ECREC"

// impersonatingRecover is ecrecover with the impersonated signatures of a state.
type impersonatingRecover struct {
	vm.PrecompiledContract
	bound *bound
}

// Run recovers the account of a signature, unless it is impersonated. The input is a hash, v, r and s, in 32 bytes each.
func (r impersonatingRecover) Run(input []byte) ([]byte, error) {
	padded := common.RightPadBytes(input, 4*common.HashLength)
	v := common.BytesToHash(padded[32:64])
	signature := append(padded[64:128:128], v[31])
	if v == (common.Hash{31: v[31]}) {
		if account := r.bound.state.GetState(RecoverAddress, StateKey(r.bound.kind, SignatureSlot(signature))); account != (common.Hash{}) {
			return account[:], nil
		}
	}
	return r.PrecompiledContract.Run(input)
}
