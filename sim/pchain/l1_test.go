package pchain

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

var manager = []byte{19: 0xaa}

// l1 is a subnet with a chain, on its way to becoming an L1.
type l1 struct {
	*world
	owner    *txs.Key
	subnetID ids.ID
	chainID  ids.ID
}

func newL1(t *testing.T) *l1 {
	t.Helper()
	w := newWorld(t)
	owner := w.keys[0]
	control := txs.NewOwner(owner.Address())
	subnet := w.pChainTx(owner, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.CreateSubnetTx{BaseTx: base, Owner: &control} })
	w.accept(start, subnet)
	chain := w.pChainTx(owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.CreateChainTx{BaseTx: base, SubnetID: subnet.ID(), ChainName: "chain", VMID: txs.IDOfName("subnetevm"), FxIDs: []ids.ID{}, GenesisData: []byte("{}"), SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{owner})
	w.accept(start, chain)
	return &l1{w, owner, subnet.ID(), chain.ID()}
}

// convert makes two validators with this balance each.
func (l *l1) convert(balance uint64) *Diff {
	l.t.Helper()
	return l.accept(l.p.Time(), l.conversionTx(func(all []*txs.ConversionValidator) { all[0].Balance, all[1].Balance = balance, balance }))[1]
}

// conversionTx converts to two validators without a balance, which a test may change.
func (l *l1) conversionTx(change func([]*txs.ConversionValidator)) *txs.Tx {
	l.t.Helper()
	owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{l.owner.Address()}}
	var validators []*txs.ConversionValidator
	for i := range byte(2) {
		node := nodeID(i)
		validators = append(validators, &txs.ConversionValidator{
			NodeID: node[:], Weight: 100, Signer: *l.signer(i), RemainingBalanceOwner: owner, DeactivationOwner: owner,
		})
	}
	change(validators)
	return l.pChainTx(l.owner, validators[0].Balance+validators[1].Balance, func(base txs.BaseTx) txs.Unsigned {
		return &txs.ConvertSubnetToL1Tx{BaseTx: base, SubnetID: l.subnetID, ChainID: l.chainID, Address: manager, Validators: validators, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{l.owner})
}

// message signs an L1 message from the manager with these validators of the L1.
func (l *l1) message(message warp.L1Message, indices ...int) []byte {
	l.t.Helper()
	unsigned, err := warp.NewL1Message(12345, l.chainID, manager, message)
	if err != nil {
		l.t.Fatal(err)
	}
	validators, err := l.p.Validators(l.subnetID)
	if err != nil {
		l.t.Fatal(err)
	}
	set, err := warp.NewCanonicalValidatorSet(validators)
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := warp.Aggregate(unsigned, set, indices, func(m *warp.CanonicalValidator) (*warp.SecretKey, error) {
		return blsKey(m.NodeIDs[0][19] - 1), nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	b, err := m.Bytes()
	return must(l.t, b, err)
}

func (l *l1) registration(node byte, expiry uint64) *warp.RegisterL1Validator {
	id := nodeID(node)
	owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{l.owner.Address()}}
	return &warp.RegisterL1Validator{
		SubnetID: l.subnetID, NodeID: id[:], PublicKey: l.signer(node).PublicKey, Expiry: expiry,
		RemainingBalanceOwner: owner, DisableOwner: owner, Weight: 10,
	}
}

func (l *l1) registerTx(node byte, expiry uint64, indices ...int) *txs.Tx {
	message := l.message(l.registration(node, expiry), indices...)
	return l.pChainTx(l.owner, nAVAX, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, Balance: nAVAX, ProofOfPossession: l.signer(node).ProofOfPossession, Message: message}
	})
}

func (l *l1) weightTx(validationID ids.ID, nonce, weight uint64, indices ...int) *txs.Tx {
	message := l.message(&warp.L1ValidatorWeight{ValidationID: validationID, Nonce: nonce, Weight: weight}, indices...)
	return l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.SetL1ValidatorWeightTx{BaseTx: base, Message: message} })
}

func parsed(t *testing.T, tx *txs.Tx) *txs.Tx {
	t.Helper()
	again, err := txs.ParseTx(txs.PChain, tx.Bytes())
	return must(t, again, err)
}

func TestConversion(t *testing.T) {
	l := newL1(t)
	diff := l.convert(nAVAX)
	if len(diff.L1Validators) != 2 || diff.L1Validators[1].ValidationID != l.subnetID.Append(1) || !diff.L1Validators[0].Active() {
		t.Errorf("validators %+v", diff.L1Validators)
	}
	subnet := l.p.subnets[l.subnetID]
	if subnet.Conversion == nil || subnet.Conversion.ChainID != l.chainID {
		t.Fatalf("subnet %+v", subnet)
	}
	again := l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.CreateChainTx{BaseTx: base, SubnetID: l.subnetID, ChainName: "late", VMID: txs.IDOfName("x"), FxIDs: []ids.ID{}, GenesisData: []byte{}, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{l.owner})
	l.refuse(errImmutable, again)
	l.replay()
}

func TestRegistrationNeedsTheManagersMessage(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	expiry := l.p.Time() + 3600
	l.refuse(warp.ErrInsufficientWeight, parsed(t, l.registerTx(5, expiry, 0)))
	l.refuse(errMessageExpired, l.registerTx(5, l.p.Time(), 0, 1))
	l.refuse(errMessageEarly, l.registerTx(5, l.p.Time()+2*oneDay, 0, 1))
	l.refuse(errDuplicateL1, l.registerTx(1, expiry, 0, 1))

	tx := l.registerTx(5, expiry, 0, 1)
	diff := l.accept(l.p.Time()+1, parsed(t, tx))[1]
	v := diff.L1Validators[0]
	if v.Weight != 10 || v.Balance(l.p.l1.accrued) != nAVAX || v.Start != l.p.Time() {
		t.Errorf("registered %+v", v)
	}
	message := l.message(l.registration(5, expiry), 0, 1, 2)
	l.accept(l.p.Time(), l.weightTx(v.ValidationID, 0, 0, 0, 1, 2))
	replayed := l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, Balance: 0, ProofOfPossession: l.signer(5).ProofOfPossession, Message: message}
	})
	l.refuse(errMessageIssued, replayed)
	l.replay()
}

func TestWeightChangesAndRemoval(t *testing.T) {
	l := newL1(t)
	first, second := l.subnetID.Append(0), l.subnetID.Append(1)
	l.convert(nAVAX)
	diff := l.accept(l.p.Time(), l.weightTx(first, 3, 300, 0, 1))[1]
	if v := diff.L1Validators[0]; v.Weight != 300 || v.MinNonce != 4 {
		t.Errorf("changed to %+v", v)
	}
	l.refuse(errStaleNonce, l.weightTx(first, 3, 400, 0, 1))
	diff = l.accept(l.p.Time()+10, l.weightTx(first, 4, 0, 0, 1))[1]
	if len(diff.Created) != 2 || diff.Created[1].Amount() != nAVAX-10 {
		t.Errorf("refund %+v", diff.Created)
	}
	if _, found := l.p.L1Validator(first); found {
		t.Error("the removed validator is still there")
	}
	l.refuse(errLastValidator, l.weightTx(second, 0, 0, 0))
	l.refuse(errNoL1Validator, l.weightTx(first, 5, 9, 0))
	l.replay()
}

func TestBalancesDrainAndFillUp(t *testing.T) {
	l := newL1(t)
	first := l.subnetID.Append(0)
	l.convert(1000) // lasts 1000 seconds at the local network's price of 1
	if got := l.p.NextStakerChangeTime(); got != start+1000 {
		t.Fatalf("used up in %d seconds", got-start)
	}
	top := l.pChainTx(l.owner, 500, func(base txs.BaseTx) txs.Unsigned {
		return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: first, Balance: 500}
	})
	l.accept(start+400, top)
	v, _ := l.p.L1Validator(first)
	if got := v.Balance(l.p.l1.accrued); got != 1100 {
		t.Errorf("balance %d", got)
	}
	diffs := l.accept(l.p.NextStakerChangeTime())
	if got := diffs[0].L1Validators; len(got) != 1 || got[0].Active() || got[0].ValidationID != l.subnetID.Append(1) {
		t.Errorf("deactivated %+v", got)
	}
	reactivate := l.pChainTx(l.owner, 50, func(base txs.BaseTx) txs.Unsigned {
		return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: l.subnetID.Append(1), Balance: 50}
	})
	l.accept(l.p.Time(), reactivate)
	if v, _ := l.p.L1Validator(l.subnetID.Append(1)); v.Balance(l.p.l1.accrued) != 50 {
		t.Errorf("active again with %d", v.Balance(l.p.l1.accrued))
	}
	l.replay()
}

// TestBalanceForLessThanASecondIsDeactivatedLast: a validator that a transaction activates and that cannot pay for another second is deactivated by
// the same block, in this order of diffs.
func TestBalanceForLessThanASecondIsDeactivatedLast(t *testing.T) {
	l := newL1(t)
	l.convert(1000)
	l.accept(l.p.NextStakerChangeTime())
	l.p.l1.excess = 10 * local.ValidatorFees.ExcessConversion // a second costs thousands
	second := l.subnetID.Append(1)
	diffs := l.accept(l.p.Time(), l.pChainTx(l.owner, 50, func(base txs.BaseTx) txs.Unsigned {
		return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: second, Balance: 50}
	}))
	if activated, deactivated := diffs[1].L1Validators, diffs[len(diffs)-1].L1Validators; len(activated) != 1 || !activated[0].Active() || len(deactivated) != 1 || deactivated[0].Active() {
		t.Errorf("activated %+v, deactivated %+v", activated, deactivated)
	}
	if v, _ := l.p.L1Validator(second); v.Active() {
		t.Error("it is active")
	}
}

func TestDisablingReturnsTheBalance(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	validationID := l.subnetID.Append(0)
	disable := func(key *txs.Key) *txs.Tx {
		return l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.DisableL1ValidatorTx{BaseTx: base, ValidationID: validationID, DisableAuth: &txs.Input{SigIndices: []uint32{0}}}
		}, []*txs.Key{key})
	}
	l.refuse(errUnauthorized, disable(l.keys[1]))
	diff := l.accept(l.p.Time(), disable(l.owner))[1]
	if len(diff.Created) != 2 || diff.Created[1].Amount() != nAVAX {
		t.Errorf("refund %+v", diff.Created)
	}
	set, err := l.p.Validators(l.subnetID)
	if err != nil {
		t.Fatal(err)
	}
	if len(set) != 2 || set[0].PublicKey != nil || set[0].NodeID != ids.EmptyNodeID {
		t.Errorf("the disabled validator counts as %+v", set[0])
	}
	l.replay()
}

func TestPermissionedSubnet(t *testing.T) {
	l := newL1(t)
	l.accept(start, l.validatorTx(l.keys[1], 0, 2000*nAVAX, 30*oneDay))
	add := func(node byte, days uint64) *txs.Tx {
		return l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
			v := txs.SubnetValidator{Validator: txs.Validator{NodeID: nodeID(node), End: l.p.Time() + days*oneDay, Weight: 42}, SubnetID: l.subnetID}
			return &txs.AddSubnetValidatorTx{BaseTx: base, Validator: v, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
		}, []*txs.Key{l.owner})
	}
	l.refuse(errNotValidator, add(7, 10))
	l.refuse(errPeriodMismatch, add(0, 31))
	l.accept(start, add(0, 10))
	l.refuse(errDuplicate, add(0, 10))
	remove := l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RemoveSubnetValidatorTx{BaseTx: base, NodeID: nodeID(0), SubnetID: l.subnetID, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{l.owner})
	if got := l.accept(start+5, remove)[1].Stakers[0]; got.Status != Removed {
		t.Errorf("removed as %+v", got)
	}
	l.accept(start+5, add(0, 10))
	if got := l.accept(l.p.NextStakerChangeTime())[0].Stakers[0]; got.Status != Completed {
		t.Errorf("ended as %+v", got)
	}
	control := txs.NewOwner(l.keys[2].Address())
	transfer := l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.TransferSubnetOwnershipTx{BaseTx: base, SubnetID: l.subnetID, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}, Owner: &control}
	}, []*txs.Key{l.owner})
	l.accept(l.p.Time(), transfer)
	l.refuse(errUnauthorized, add(0, 10))
	l.replay()
}

func TestOneBadTransactionTakesTheBlockBack(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	time, tip, accrued, fees := l.p.Time(), l.p.Tip(), l.p.l1.accrued, l.p.Fees()
	good := l.weightTx(l.subnetID.Append(0), 0, 300, 0, 1)
	b, err := l.p.BuildBlock(start+50, []*txs.Tx{good, good})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, l.p.acceptOnly(b), utxo.ErrNotFound) // the first one spent it
	if l.p.Time() != time || l.p.Tip() != tip || l.p.l1.accrued != accrued || l.p.Fees() != fees {
		t.Error("time passed")
	}
	if v, _ := l.p.L1Validator(l.subnetID.Append(0)); v.Weight != 100 || len(l.p.l1.active) != 2 || l.p.l1.bySubnet[l.subnetID][0].Weight != 100 {
		t.Errorf("the good transaction's change remains: %+v", v)
	}
	l.accept(start+50, good)
}

func TestOwnersOfAnotherTypeAreRefused(t *testing.T) {
	l := newL1(t)
	wrong := &txs.TransferOutput{Amount: 1, OutputOwners: txs.NewOwner(l.owner.Address())}
	l.refuse(utxo.ErrWrongOwnerType, parsed(t, l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.CreateSubnetTx{BaseTx: base, Owner: wrong} })))
}
