package pchain

import (
	"math/rand/v2"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// TestChangedTransactionsChangeNothing verifies transactions of every type with altered bytes, as a client might send them. Whether refused or not,
// none stops the chain, and verifying changes nothing.
func TestChangedTransactionsChangeNothing(t *testing.T) {
	l := newL1(t)
	auth, control := &txs.Input{SigIndices: []uint32{0}}, txs.NewOwner(l.owner.Address())
	one := func(build func(base txs.BaseTx) txs.Unsigned) *txs.Tx { return l.pChainTx(l.owner, 0, build) }
	owned := func(build func(base txs.BaseTx) txs.Unsigned) *txs.Tx {
		return l.pChainTx(l.owner, 0, build, []*txs.Key{l.owner})
	}
	all := []*txs.Tx{
		l.validatorTx(l.owner, 0, 2000*nAVAX, 30*oneDay),
		one(func(base txs.BaseTx) txs.Unsigned { return &base }),
		one(func(base txs.BaseTx) txs.Unsigned { return &txs.CreateSubnetTx{BaseTx: base, Owner: &control} }),
		l.pChainTx(l.owner, nAVAX, func(base txs.BaseTx) txs.Unsigned {
			return &txs.ExportTx{BaseTx: base, DestinationChain: local.XChainID, ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, nAVAX, control)}}
		}),
		owned(func(base txs.BaseTx) txs.Unsigned {
			return &txs.TransferSubnetOwnershipTx{BaseTx: base, SubnetID: l.subnetID, SubnetAuth: auth, Owner: &control}
		}),
		owned(func(base txs.BaseTx) txs.Unsigned {
			return &txs.CreateChainTx{BaseTx: base, SubnetID: l.subnetID, ChainName: "again", VMID: ids.ID{1}, FxIDs: []ids.ID{}, GenesisData: []byte("{}"), SubnetAuth: auth}
		}),
	}
	l.accept(start, l.validatorTx(l.keys[1], 0, 2000*nAVAX, 30*oneDay))
	all = append(all, l.delegatorTx(l.owner, 0, 25*nAVAX, 5*oneDay), owned(func(base txs.BaseTx) txs.Unsigned {
		v := txs.Validator{NodeID: nodeID(0), End: start + 5*oneDay, Weight: 1}
		return &txs.AddSubnetValidatorTx{BaseTx: base, Validator: txs.SubnetValidator{Validator: v, SubnetID: l.subnetID}, SubnetAuth: auth}
	}))
	l.convert(nAVAX)
	validation := warp.ConversionValidationID(l.subnetID, 0)
	all = append(all, l.registerTx(5, l.p.Time()+60, 0, 1), l.weightTx(validation, 0, 7, 0, 1),
		l.pChainTx(l.owner, 5, func(base txs.BaseTx) txs.Unsigned {
			return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: validation, Balance: 5}
		}),
		owned(func(base txs.BaseTx) txs.Unsigned {
			return &txs.DisableL1ValidatorTx{BaseTx: base, ValidationID: validation, DisableAuth: auth}
		}))
	times := 40
	if testing.Short() {
		t.Log("left out of a short run: most of 2,000 changes")
	} else {
		times = 2000
	}
	before := l.fingerprint()
	for i, tx := range all {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		refused := 0
		for range times {
			b := append([]byte{}, tx.Bytes()...)
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] = []byte{0, 1, 0xff, byte(r.IntN(256))}[r.IntN(4)]
			}
			changed, err := txs.ParseTx(txs.PChain, b)
			if err != nil {
				continue
			}
			if l.p.VerifyTx(changed, l.p.Time()+uint64(r.IntN(100))) != nil {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("none of the changed %s was refused", tx.TypeName())
		}
		if after := l.fingerprint(); after != before {
			t.Fatalf("verifying a changed %s changed the chain from %+v to %+v", tx.TypeName(), before, after)
		}
	}
}

// fingerprint covers enough of a chain to show that it changed.
type fingerprint struct {
	tip             ids.ID
	time, supply    uint64
	capacity        uint64
	outputs         int
	stakers, active int
	accrued, excess uint64
}

func (w *world) fingerprint() fingerprint {
	excess, accrued := w.p.ValidatorFees()
	return fingerprint{w.p.Tip(), w.p.Time(), w.p.Supply(), w.p.Fees().Capacity, w.p.Count(), len(w.p.current.queue), w.p.ActiveL1Validators(), accrued, excess}
}
