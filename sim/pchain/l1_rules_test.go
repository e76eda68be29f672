package pchain

import (
	"math"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// register signs a registration that a test has changed.
func (l *l1) register(change func(*warp.RegisterL1Validator), indices ...int) *txs.Tx {
	r := l.registration(5, l.p.Time()+3600)
	change(r)
	message := l.message(r, indices...)
	return l.pChainTx(l.owner, nAVAX, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, Balance: nAVAX, ProofOfPossession: l.signer(5).ProofOfPossession, Message: message}
	})
}

// TestOwnersInARegistrationAreVerified as in avalanchego's message.RegisterL1Validator.Verify.
func TestOwnersInARegistrationAreVerified(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	a, b := ids.ShortID{1}, ids.ShortID{2}
	for want, owner := range map[error]warp.PChainOwner{
		txs.ErrOwnersUnspendable: {Threshold: 2, Addresses: []ids.ShortID{a}},
		txs.ErrOwnersUnoptimized: {Addresses: []ids.ShortID{a}},
		txs.ErrOwnersUnsorted:    {Threshold: 1, Addresses: []ids.ShortID{b, a}},
	} {
		for _, change := range []func(*warp.RegisterL1Validator){
			func(r *warp.RegisterL1Validator) { r.RemainingBalanceOwner = owner },
			func(r *warp.RegisterL1Validator) { r.DisableOwner = owner },
		} {
			tx := l.register(change, 0, 1)
			l.refuse(want, tx)
			l.refuse(errInvalidOwner, tx)
		}
	}
}

// TestTheWeightOfAnL1IsANumber of 64 bits, as in avalanchego's state.Diff.PutL1Validator: a sum of exactly the maximum is allowed.
func TestTheWeightOfAnL1IsANumber(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX) // twice a weight of 100
	weigh := func(weight uint64) *txs.Tx {
		return l.register(func(r *warp.RegisterL1Validator) { r.Weight = weight }, 0, 1)
	}
	l.refuse(utxo.ErrOverflow, weigh(math.MaxUint64-199))
	first := l.subnetID.Append(0)
	l.refuse(utxo.ErrOverflow, l.weightTx(first, 0, math.MaxUint64-99, 0, 1))
	l.accept(l.p.Time(), l.weightTx(first, 0, math.MaxUint64-100, 0, 1))
	l.accept(l.p.Time(), l.weightTx(first, 1, 100, 0))
	l.accept(l.p.Time(), weigh(math.MaxUint64-200))

	l = newL1(t)
	l.refuse(utxo.ErrOverflow, l.conversionTx(func(all []*txs.ConversionValidator) { all[0].Weight, all[1].Weight = math.MaxUint64, 1 }))
	l.accept(l.p.Time(), l.conversionTx(func(all []*txs.ConversionValidator) { all[0].Weight, all[1].Weight = math.MaxUint64-1, 1 }))
}

// TestValidatorsFromBeforeAConversionAreNotDoubled: a validator of the permissioned subnet stays until its end or removal. Until then its node cannot
// be an L1 validator of the same subnet.
func TestValidatorsFromBeforeAConversionAreNotDoubled(t *testing.T) {
	l := newL1(t)
	for _, node := range []byte{0, 5} {
		l.accept(start, l.validatorTx(l.keys[1], node, 2000*nAVAX, 30*oneDay))
		l.accept(start, l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
			v := txs.SubnetValidator{Validator: txs.Validator{NodeID: nodeID(node), End: l.p.Time() + 20*oneDay, Weight: 42}, SubnetID: l.subnetID}
			return &txs.AddSubnetValidatorTx{BaseTx: base, Validator: v, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
		}, []*txs.Key{l.owner}))
	}
	remove := func(node byte) *txs.Tx {
		return l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.RemoveSubnetValidatorTx{BaseTx: base, NodeID: nodeID(node), SubnetID: l.subnetID, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
		}, []*txs.Key{l.owner})
	}
	l.refuse(errConflictingL1, l.conversionTx(func([]*txs.ConversionValidator) {}))
	l.accept(start, remove(0))
	l.convert(nAVAX)
	l.refuse(errConflictingL1, l.register(func(*warp.RegisterL1Validator) {}, 0, 1, 2))
	l.accept(start, remove(5))
	l.accept(start, l.register(func(*warp.RegisterL1Validator) {}, 0, 1))
}

// TestTheLargestTransaction has 256 KiB, the limit of avalanchego's block/executor.Manager.VerifyTx.
func TestTheLargestTransaction(t *testing.T) {
	l := newL1(t)
	chain := func(genesis int) *txs.Tx {
		return l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.CreateChainTx{BaseTx: base, SubnetID: l.subnetID, ChainName: "large", VMID: ids.ID{1}, FxIDs: []ids.ID{}, GenesisData: make([]byte, genesis), SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
		}, []*txs.Key{l.owner})
	}
	rest := len(chain(0).Bytes())
	if err := l.p.VerifyTx(chain(256<<10-rest), l.p.Time()); err != nil {
		t.Error(err)
	}
	wantError(t, l.p.VerifyTx(chain(256<<10-rest+1), l.p.Time()), errTxTooBig)
}
