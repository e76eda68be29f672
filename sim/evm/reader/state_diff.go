package reader

import (
	"bytes"
	"encoding/json"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth/tracers"
)

// stateDiff makes OpenEthereum's stateDiff: the accounts that a transaction changed, before and after. It keeps what was there when something
// first changed, and compares it with what is there at the end.
type stateDiff struct {
	w      *boundedTracer
	before map[common.Address]*accountBefore
	states tracing.StateDB
	diff   map[common.Address]accountDiff
}

// accountBefore holds the parts of an account that changed, as they were.
type accountBefore struct {
	balance *big.Int
	nonce   *uint64
	code    *[]byte
	storage map[common.Hash]common.Hash
}

// accountDiff has for each part "=", or an object with "+", "-" or "*".
type accountDiff struct {
	Balance any                 `json:"balance"`
	Code    any                 `json:"code"`
	Nonce   any                 `json:"nonce"`
	Storage map[common.Hash]any `json:"storage"`
}

const diffBytes = 256 // of an account without code and storage, and of a slot

func (w *boundedTracer) stateDiff() *tracers.Tracer {
	d := &stateDiff{w: w, before: map[common.Address]*accountBefore{}, diff: map[common.Address]accountDiff{}}
	return &tracers.Tracer{
		Hooks: &tracing.Hooks{
			OnTxStart: func(env *tracing.VMContext, _ *types.Transaction, _ common.Address) { d.states = env.StateDB },
			OnTxEnd:   func(*types.Receipt, error) { d.end() },
			OnBalanceChange: func(address common.Address, before, _ *big.Int, _ tracing.BalanceChangeReason) {
				if a := d.of(address); a.balance == nil {
					a.balance = before
				}
			},
			OnNonceChange: func(address common.Address, before, _ uint64) {
				if a := d.of(address); a.nonce == nil {
					a.nonce = &before
				}
			},
			OnCodeChange: func(address common.Address, _ common.Hash, before []byte, _ common.Hash, after []byte) {
				if a := d.of(address); a.code == nil && w.add(2*len(before)+2*len(after)) {
					a.code = &before
				}
			},
			OnStorageChange: func(address common.Address, slot, before, _ common.Hash) {
				a := d.of(address)
				if _, known := a.storage[slot]; !known && w.add(diffBytes) {
					a.storage[slot] = before
				}
			},
		},
		GetResult: func() (json.RawMessage, error) {
			if reason := w.stopped.Load(); reason != nil {
				return nil, *reason
			}
			return json.Marshal(d.diff)
		},
		Stop: func(error) {},
	}
}

func (d *stateDiff) of(address common.Address) *accountBefore {
	a := d.before[address]
	if a == nil {
		a = &accountBefore{storage: map[common.Hash]common.Hash{}}
		if d.w.add(diffBytes) {
			d.before[address] = a
		}
	}
	return a
}

// end compares the accounts with what they are now.
func (d *stateDiff) end() {
	for address, a := range d.before {
		balance, nonce, code := d.states.GetBalance(address).ToBig(), d.states.GetNonce(address), d.states.GetCode(address)
		balanceBefore, nonceBefore, codeBefore := balance, nonce, code
		if a.balance != nil {
			balanceBefore = a.balance
		}
		if a.nonce != nil {
			nonceBefore = *a.nonce
		}
		if a.code != nil {
			codeBefore = *a.code
		}
		c := change{born: isEmpty(balanceBefore, nonceBefore, codeBefore), died: isEmpty(balance, nonce, code)}
		if c.born && c.died {
			continue
		}
		diff := accountDiff{
			Balance: c.of(balanceBefore.Cmp(balance) == 0, (*hexutil.Big)(balanceBefore), (*hexutil.Big)(balance)),
			Nonce:   c.of(nonceBefore == nonce, hexutil.Uint64(nonceBefore), hexutil.Uint64(nonce)),
			Code:    c.of(bytes.Equal(codeBefore, code), hexutil.Bytes(codeBefore), hexutil.Bytes(code)),
			Storage: map[common.Hash]any{},
		}
		for slot, before := range a.storage {
			if now := d.states.GetState(address, slot); now != before {
				diff.Storage[slot] = c.of(false, before, now)
			}
		}
		if diff.Balance != same || diff.Nonce != same || diff.Code != same || len(diff.Storage) > 0 {
			d.diff[address] = diff
		}
	}
}

// isEmpty reports whether an account does not exist: there are no empty ones (EIP-161).
func isEmpty(balance *big.Int, nonce uint64, code []byte) bool {
	return balance.Sign() == 0 && nonce == 0 && len(code) == 0
}

// change says whether an account exists only after a transaction, or only before it.
type change struct{ born, died bool }

const same = "="

func (c change) of(equal bool, before, after any) any {
	switch {
	case c.born:
		return map[string]any{"+": after}
	case c.died:
		return map[string]any{"-": before}
	case equal:
		return same
	}
	return map[string]any{"*": map[string]any{"from": before, "to": after}}
}
