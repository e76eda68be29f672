package utxo

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"

	"snowglobe/sim/txs"
)

// Reasons why amounts do not balance, in the node's words.
var (
	ErrInsufficientFunds         = errors.New("insufficient funds")
	ErrInsufficientUnlockedFunds = errors.New("insufficient unlocked funds")
	ErrInsufficientLockedFunds   = errors.New("insufficient locked funds")
	ErrOverflow                  = errors.New("overflow")
)

// FlowChecker adds up a transaction's inputs and outputs (avalanchego's avax.FlowChecker and utxo.VerifySpendUTXOs). It counts amounts
// under a stakeable lock apart, by locktime and owner.
type FlowChecker struct {
	entries []*flowEntry
	err     error
}

type flowEntry struct {
	flowKey
	consumed uint64
	produced uint64
}

type flowKey struct {
	asset  ids.ID
	unlock uint64
	owner  ids.ID
}

func (f *FlowChecker) entry(key flowKey) *flowEntry {
	for _, e := range f.entries {
		if e.flowKey == key {
			return e
		}
	}
	e := &flowEntry{flowKey: key}
	f.entries = append(f.entries, e)
	return e
}

func (f *FlowChecker) add(total *uint64, amount uint64) {
	sum, carry := bits.Add64(*total, amount, 0)
	if carry != 0 {
		f.err = ErrOverflow
	}
	*total = sum
}

// Consume counts a spent unlocked amount.
func (f *FlowChecker) Consume(asset ids.ID, amount uint64) {
	f.add(&f.entry(flowKey{asset: asset}).consumed, amount)
}

// Produce counts a created unlocked amount, a fee or a deposit.
func (f *FlowChecker) Produce(asset ids.ID, amount uint64) {
	f.add(&f.entry(flowKey{asset: asset}).produced, amount)
}

// ConsumeUTXO counts a spent output, as locked if it still is.
func (f *FlowChecker) ConsumeUTXO(u *txs.UTXO, now uint64) {
	if until := u.StakeableUntil(); now < until {
		f.add(&f.entry(f.locked(u.AssetID, until, u.Owners())).consumed, u.Amount())
		return
	}
	f.Consume(u.AssetID, u.Amount())
}

// ProduceOutputs counts outputs; only a stakeable lock makes an amount count as locked.
func (f *FlowChecker) ProduceOutputs(outs []*txs.TransferableOutput) {
	for _, out := range outs {
		if lock, ok := out.Out.(*txs.StakeableLockOut); ok {
			f.add(&f.entry(f.locked(out.AssetID, lock.Locktime, lock.Owners())).produced, txs.AmountOf(lock))
			continue
		}
		f.Produce(out.AssetID, txs.AmountOf(out.Out))
	}
}

func (f *FlowChecker) locked(asset ids.ID, until uint64, owners *txs.OutputOwners) flowKey {
	b, err := txs.PChain.Marshal(owners)
	if err != nil {
		f.err = err
	}
	return flowKey{asset, until, hashing.ComputeHash256Array(b)}
}

// Burned returns the rest of an asset.
func (f *FlowChecker) Burned(asset ids.ID) uint64 {
	e := f.entry(flowKey{asset: asset})
	return e.consumed - e.produced
}

// balanceLocked covers produced locked amounts beyond the consumed ones with unlocked value: value can become locked, not the reverse.
func (f *FlowChecker) balanceLocked() error {
	for _, e := range f.entries {
		if e.unlock == 0 || e.produced <= e.consumed {
			continue
		}
		free := f.entry(flowKey{asset: e.asset})
		more := e.produced - e.consumed
		if more > free.consumed {
			return fmt.Errorf("%w: %s needs %d more %s for locktime %d", ErrInsufficientLockedFunds, e.owner, more-free.consumed, e.asset, e.unlock)
		}
		free.consumed -= more
	}
	return nil
}

// Verify checks that no asset produces more than it consumes; the surplus is burned. errInsufficient is the chain's own error for a
// violation.
func (f *FlowChecker) Verify(errInsufficient func(need uint64, asset ids.ID) error) error {
	if f.err != nil {
		return f.err
	}
	if err := f.balanceLocked(); err != nil {
		return err
	}
	for _, e := range f.entries {
		if e.unlock == 0 && e.produced > e.consumed {
			return errInsufficient(e.produced-e.consumed, e.asset)
		}
	}
	return nil
}
