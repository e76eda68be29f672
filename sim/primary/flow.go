package primary

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// The reasons why amounts do not balance, in the node's words.
var (
	ErrInsufficientFunds         = errors.New("insufficient funds")
	ErrInsufficientUnlockedFunds = errors.New("insufficient unlocked funds")
	ErrInsufficientLockedFunds   = errors.New("insufficient locked funds")
	errOverflow                  = errors.New("overflow")
)

// flow adds up what a transaction consumes and produces. Amounts that may only be staked count apart, by the time they
// unlock and by owner.
type flow struct {
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

func (f *flow) entry(key flowKey) *flowEntry {
	for _, e := range f.entries {
		if e.flowKey == key {
			return e
		}
	}
	e := &flowEntry{flowKey: key}
	f.entries = append(f.entries, e)
	return e
}

func (f *flow) add(total *uint64, amount uint64) {
	sum, carry := bits.Add64(*total, amount, 0)
	if carry != 0 {
		f.err = errOverflow
	}
	*total = sum
}

func (f *flow) consume(asset ids.ID, amount uint64) {
	f.add(&f.entry(flowKey{asset: asset}).consumed, amount)
}

func (f *flow) produce(asset ids.ID, amount uint64) {
	f.add(&f.entry(flowKey{asset: asset}).produced, amount)
}

// consumeUTXO counts a spent output, as locked if it still is.
func (f *flow) consumeUTXO(u *UTXO, now uint64) {
	if until := u.StakeableUntil(); now < until {
		f.add(&f.entry(f.locked(u.AssetID, until, u.Owners())).consumed, u.Amount())
		return
	}
	f.consume(u.AssetID, u.Amount())
}

// produceOutputs counts outputs; nothing but a stakeable lock keeps an amount from being free.
func (f *flow) produceOutputs(outs []*TransferableOutput) {
	for _, out := range outs {
		if lock, ok := out.Out.(*StakeableLockOut); ok {
			f.add(&f.entry(f.locked(out.AssetID, lock.Locktime, lock.owners())).produced, amountOf(lock))
			continue
		}
		f.produce(out.AssetID, amountOf(out.Out))
	}
}

func (f *flow) locked(asset ids.ID, until uint64, owners *OutputOwners) flowKey {
	b, err := PChain.marshal(owners)
	if err != nil {
		f.err = err
	}
	return flowKey{asset, until, hashing.ComputeHash256Array(b)}
}

// burned is what remains of an asset.
func (f *flow) burned(asset ids.ID) uint64 {
	e := f.entry(flowKey{asset: asset})
	return e.consumed - e.produced
}

// balanceLocked covers locked amounts that exceed those consumed from free ones: free value may be locked, not the
// reverse.
func (f *flow) balanceLocked() error {
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

// balanced checks that no asset is produced out of nothing; the surplus is burned. lack is the chain's own error for it.
func (f *flow) balanced(lack func(need uint64, asset ids.ID) error) error {
	if f.err != nil {
		return f.err
	}
	if err := f.balanceLocked(); err != nil {
		return err
	}
	for _, e := range f.entries {
		if e.unlock == 0 && e.produced > e.consumed {
			return lack(e.produced-e.consumed, e.asset)
		}
	}
	return nil
}
