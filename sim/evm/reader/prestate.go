package reader

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/tracers"
)

// prestateAccount is an account before or after a transaction, with the slots that the transaction touched.
type prestateAccount struct {
	Balance *hexutil.Big                `json:"balance,omitempty"`
	Code    hexutil.Bytes               `json:"code,omitempty"`
	Nonce   uint64                      `json:"nonce,omitempty"`
	Storage map[common.Hash]common.Hash `json:"storage,omitempty"`
}

func (a *prestateAccount) exists() bool {
	return a.Nonce > 0 || len(a.Code) > 0 || len(a.Storage) > 0 || a.Balance.ToInt().Sign() != 0
}

// prestateTracerConfig has the node's name for it, which is told with a wrong argument.
type prestateTracerConfig struct {
	DiffMode bool `json:"diffMode"`
}

// prestate is the tracer of that name in a node's version (libevm eth/tracers/native.prestateTracer), which knows no code hashes and keeps
// accounts that were empty. A contract that the transaction itself creates counts from its first nonce on.
type prestate struct {
	prestateTracerConfig

	env              *tracing.VMContext
	pre, post        map[common.Address]*prestateAccount
	created, deleted map[common.Address]bool
	reason           atomic.Pointer[error]
}

func newPrestate(config json.RawMessage) (*tracers.Tracer, error) {
	t := &prestate{pre: map[common.Address]*prestateAccount{}, post: map[common.Address]*prestateAccount{}, created: map[common.Address]bool{}, deleted: map[common.Address]bool{}}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &t.prestateTracerConfig); err != nil {
			return nil, err
		}
	}
	hooks := &tracing.Hooks{OnTxStart: t.start, OnTxEnd: func(*types.Receipt, error) { t.end() }, OnOpcode: t.step}
	return &tracers.Tracer{Hooks: hooks, GetResult: t.result, Stop: func(reason error) { t.reason.Store(&reason) }}, nil
}

func (t *prestate) start(env *tracing.VMContext, tx *types.Transaction, from common.Address) {
	t.env = env
	to := crypto.CreateAddress(from, env.StateDB.GetNonce(from))
	if tx.To() != nil {
		to = *tx.To()
	}
	for _, address := range []common.Address{from, to, env.Coinbase} {
		t.lookup(address)
	}
	if tx.To() == nil {
		t.pre[to].Nonce, t.created[to] = 1, true
	}
}

// lookup records an account's present state, unless it is known.
func (t *prestate) lookup(address common.Address) *prestateAccount {
	if t.pre[address] == nil {
		states := t.env.StateDB
		t.pre[address] = &prestateAccount{(*hexutil.Big)(states.GetBalance(address).ToBig()), states.GetCode(address), states.GetNonce(address), map[common.Hash]common.Hash{}}
	}
	return t.pre[address]
}

func (t *prestate) step(_ uint64, code byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, err error) {
	if err != nil || t.reason.Load() != nil {
		return
	}
	stack, contract := scope.StackData(), scope.Address()
	top := func(n int) common.Hash { return stack[len(stack)-1-n].Bytes32() }
	address := func(n int) common.Address { return common.BytesToAddress(top(n).Bytes()) }
	switch op := vm.OpCode(code); {
	case len(stack) >= 1 && (op == vm.SLOAD || op == vm.SSTORE):
		slots := t.lookup(contract).Storage
		if _, known := slots[top(0)]; !known {
			slots[top(0)] = t.env.StateDB.GetState(contract, top(0))
		}
	case len(stack) >= 1 && (op == vm.EXTCODECOPY || op == vm.EXTCODEHASH || op == vm.EXTCODESIZE || op == vm.BALANCE || op == vm.SELFDESTRUCT):
		t.lookup(address(0))
		t.deleted[contract] = t.deleted[contract] || op == vm.SELFDESTRUCT
	case len(stack) >= 5 && (op == vm.DELEGATECALL || op == vm.CALL || op == vm.STATICCALL || op == vm.CALLCODE):
		t.lookup(address(1))
	case op == vm.CREATE:
		t.create(crypto.CreateAddress(contract, t.env.StateDB.GetNonce(contract)))
	case len(stack) >= 4 && op == vm.CREATE2:
		if init, whole := memoryCopy(scope.MemoryData(), top(1).Big(), top(2).Big()); whole {
			t.create(crypto.CreateAddress2(contract, top(3), crypto.Keccak256(init)))
		}
	}
}

func (t *prestate) create(address common.Address) {
	t.lookup(address)
	t.created[address] = true
}

// memoryCopy returns part of a memory, with at most a mebibyte of zeros beyond its end (libevm eth/tracers.GetMemoryCopyPadded).
func memoryCopy(memory []byte, offset, size *big.Int) ([]byte, bool) {
	const most = 1 << 20
	end := new(big.Int).Add(offset, size)
	if end.Cmp(big.NewInt(int64(len(memory)+most))) > 0 {
		return nil, false
	}
	part := make([]byte, size.Int64())
	if from := offset.Int64(); from < int64(len(memory)) {
		copy(part, memory[from:])
	}
	return part, true
}

// end reduces the result to the changes, before and after, if the client asked for those.
func (t *prestate) end() {
	if !t.DiffMode {
		return
	}
	states := t.env.StateDB
	for address, before := range t.pre {
		if t.deleted[address] {
			continue
		}
		after, changed := &prestateAccount{Storage: map[common.Hash]common.Hash{}}, false
		if balance := states.GetBalance(address).ToBig(); balance.Cmp(before.Balance.ToInt()) != 0 {
			after.Balance, changed = (*hexutil.Big)(balance), true
		}
		if nonce := states.GetNonce(address); nonce != before.Nonce {
			after.Nonce, changed = nonce, true
		}
		if code := states.GetCode(address); !bytes.Equal(code, before.Code) {
			after.Code, changed = code, true
		}
		for slot, value := range maps.Clone(before.Storage) {
			now := states.GetState(address, slot)
			if value == now || value == (common.Hash{}) {
				delete(before.Storage, slot)
			}
			if changed = changed || value != now; value != now && now != (common.Hash{}) {
				after.Storage[slot] = now
			}
		}
		if changed {
			t.post[address] = after
		} else {
			delete(t.pre, address)
		}
	}
	for address := range t.created {
		if before := t.pre[address]; before != nil && !before.exists() {
			delete(t.pre, address)
		}
	}
}

func (t *prestate) result() (json.RawMessage, error) {
	var all any = t.pre
	if t.DiffMode {
		all = struct {
			Post map[common.Address]*prestateAccount `json:"post"`
			Pre  map[common.Address]*prestateAccount `json:"pre"`
		}{t.post, t.pre}
	}
	result, err := json.Marshal(all)
	if reason := t.reason.Load(); err == nil && reason != nil {
		err = *reason
	}
	return result, err
}
