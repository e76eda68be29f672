package evm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/precompile"
)

// A predicate is a signed warp message in a transaction's access list, in an entry for the address of the warp precompile (ACP-30). The
// header's extra data lists the invalid predicates, until Helicon after the fee state (avalanchego, vms/evm/predicate), so that tracing need not verify
// them again.

// splitPredicates splits an access list into its messages and the rest.
func splitPredicates(list types.AccessList) (predicates []precompile.Predicate, rest types.AccessList) {
	for _, entry := range list {
		if entry.Address == precompile.WarpAddress {
			predicates = append(predicates, entry.StorageKeys)
		} else {
			rest = append(rest, entry)
		}
	}
	return predicates, rest
}

// predicateGas returns the intrinsic gas of predicates; it replaces the usual cost of their access list entries.
func predicateGas(predicates []precompile.Predicate) (total uint64, err error) {
	for _, p := range predicates {
		gas, err := p.Gas()
		if err != nil {
			return 0, err
		}
		total += gas
	}
	return total, nil
}

// checkPredicates verifies a transaction's predicates and sets the bits of the invalid ones (coreth core.CheckTxPredicates).
func (b *Builder) checkPredicates(tx *types.Transaction, time uint64) (*big.Int, bool) {
	predicates, _ := splitPredicates(tx.AccessList())
	if len(predicates) == 0 {
		return nil, false
	}
	config, on := b.schedule.At(time)[precompile.Warp.Key]
	if !on {
		return nil, false
	}
	failed := new(big.Int)
	for i, p := range predicates {
		m, err := p.Message()
		if err == nil {
			err = b.networkContext.verifyPredicate(m, config, time)
		}
		if err != nil {
			failed.SetBit(failed, i, 1)
		}
	}
	return failed, true
}

// predicateResult has a bit for each invalid predicate of a transaction.
type predicateResult struct {
	tx     common.Hash
	failed *big.Int
}

type predicateResults []predicateResult

// encode writes the results like the network's codec writes maps of maps: by transaction, then by contract.
func (all predicateResults) encode() []byte {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b predicateResult) int { return bytes.Compare(a.tx[:], b.tx[:]) })
	raw := binary.BigEndian.AppendUint32(make([]byte, codecVersionBytes), uint32(len(sorted)))
	for _, v := range sorted {
		bits := v.failed.Bytes()
		raw = binary.BigEndian.AppendUint32(append(raw, v.tx[:]...), 1)
		raw = append(raw, precompile.WarpAddress[:]...)
		raw = append(binary.BigEndian.AppendUint32(raw, uint32(len(bits))), bits...)
	}
	return raw
}

const codecVersionBytes = 2

var errPredicateResults = errors.New("the header's predicate results are malformed")

// PredicateResults reads the predicate results, which follow the fee state in a header's extra data.
func PredicateResults(kind Kind, h *Header) (map[common.Hash]*big.Int, error) {
	fee := feeStateBytes
	switch {
	case kind == KindL1:
		fee = feeWindowBytes
	case h.Asynchronous():
		fee = 0
	}
	if h.Number.Sign() == 0 || len(h.Extra) < fee+codecVersionBytes {
		return nil, nil
	}
	r := &unpacker{rest: h.Extra[fee+codecVersionBytes:]}
	found := map[common.Hash]*big.Int{}
	for range r.number() {
		tx := common.BytesToHash(r.take(common.HashLength))
		for range r.number() {
			address := common.BytesToAddress(r.take(common.AddressLength))
			bits := r.take(int(r.number()))
			if address == precompile.WarpAddress {
				found[tx] = new(big.Int).SetBytes(bits)
			}
		}
	}
	if r.short {
		return nil, fmt.Errorf("block %d: %w", h.Number, errPredicateResults)
	}
	return found, nil
}

// unpacker takes values from the front of a byte slice until it runs out.
type unpacker struct {
	rest  []byte
	short bool
}

func (r *unpacker) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *unpacker) number() uint32 {
	if raw := r.take(4); raw != nil {
		return binary.BigEndian.Uint32(raw)
	}
	return 0
}

// applyWithPredicates executes a message with predicates. go-ethereum knows none: applyWithPredicates deducts their gas from the limit and
// from the sender before the message runs, and credits it to the coinbase afterwards.
func (m *VM) applyWithPredicates(message *core.Message, predicates []precompile.Predicate, rest types.AccessList, gas *core.GasPool) (*core.ExecutionResult, error) {
	extra, err := predicateGas(predicates)
	if err != nil {
		return nil, err
	}
	if message.GasLimit < extra {
		return nil, fmt.Errorf("%w: have %d, want %d", core.ErrIntrinsicGas, message.GasLimit, extra)
	}
	if err := m.checkBalance(message); err != nil {
		return nil, err
	}
	if gas != nil {
		if err := gas.CheckGasLegacy(extra); err != nil {
			return nil, err
		}
	}
	reduced := *message
	reduced.GasLimit, reduced.AccessList = message.GasLimit-extra, rest
	before := m.StateDB.Snapshot()
	m.StateDB.SubBalance(message.From, times(extra, message.GasPrice), tracing.BalanceDecreaseGasBuy)
	m.accessList = message.AccessList
	result, err := core.ApplyMessage(m.EVM, &reduced, gas)
	m.accessList = nil
	if err != nil {
		m.StateDB.RevertToSnapshot(before)
		return nil, err
	}
	if gas != nil {
		err = gas.ChargeGasLegacy(0, extra)
	}
	tip := new(uint256.Int).Sub(message.GasPrice, uint256.MustFromBig(m.Context.BaseFee))
	m.StateDB.AddBalance(m.Context.Coinbase, times(extra, tip), tracing.BalanceIncreaseRewardTransactionFee)
	result.UsedGas += extra
	result.MaxUsedGas += extra
	return result, err
}

// checkBalance refuses a message whose sender cannot pay for all the gas it may use.
func (m *VM) checkBalance(message *core.Message) error {
	need := new(big.Int).Mul(new(big.Int).SetUint64(message.GasLimit), message.GasFeeCap.ToBig())
	need.Add(need, message.Value.ToBig())
	if have := m.StateDB.GetBalance(message.From); have.ToBig().Cmp(need) < 0 {
		return fmt.Errorf("%w: address %v have %v want %v", core.ErrInsufficientFunds, message.From.Hex(), have, need)
	}
	return nil
}

func times(gas uint64, price *uint256.Int) *uint256.Int {
	return new(uint256.Int).Mul(uint256.NewInt(gas), price)
}

// IntrinsicGas returns the cost of a transaction before any of its code runs. Where the warp precompile is active, its entries in the
// access list are predicates, which cost more (core.IntrinsicGas of coreth and subnet-evm).
func IntrinsicGas(tx *types.Transaction, warp bool, rules params.Rules) (uint64, error) {
	list, extra := tx.AccessList(), uint64(0)
	if warp {
		predicates, rest := splitPredicates(list)
		var err error
		if extra, err = predicateGas(predicates); err != nil {
			return 0, err
		}
		list = rest
	}
	gas, err := core.IntrinsicGas(tx.Data(), list, nil, common.Address{}, tx.To(), nil, rules)
	if err == nil && gas+extra < gas {
		err = core.ErrGasUintOverflow
	}
	return gas + extra, err
}
