package pchain

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// TestMaxWeight compares with the weight in every second of a delegation, for random delegations that begin and end before, within and after it.
func TestMaxWeight(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		v := &Staker{NodeID: nodeID(1), Weight: 100}
		current := newStakerSet(func(s *Staker) uint64 { return s.End })
		pending := newStakerSet(func(s *Staker) uint64 { return s.Start })
		current.insert(v)
		var all []*Staker
		for i := range byte(random.IntN(7)) {
			d := &Staker{TxID: ids.ID{i + 1}, NodeID: v.NodeID, Delegator: true, Weight: 1 + random.Uint64N(9), End: 11 + random.Uint64N(12)}
			if random.IntN(2) == 0 {
				current.insert(d)
			} else {
				d.Start = 11 + random.Uint64N(10)
				d.End = d.Start + 1 + random.Uint64N(6)
				pending.insert(d)
			}
			all = append(all, d)
		}
		start := 10 + random.Uint64N(5)
		end := start + 1 + random.Uint64N(10)
		// Current stakers are already staking; stakers that ended before start were removed by then.
		all = slices.DeleteFunc(all, func(d *Staker) bool {
			if d.Start == 0 && d.End <= start {
				current.delete(d)
				return true
			}
			return false
		})
		var want uint64
		for second := start; second < end; second++ {
			weight := v.Weight
			for _, d := range all {
				if d.Start <= second && second < d.End {
					weight += d.Weight
				}
			}
			want = max(want, weight)
		}
		if got := current.maxWeight(v, pending, start, end); got != want {
			t.Fatalf("from %d to %d: %d, want %d", start, end, got, want)
		}
	}
}

// TestStakersAreOrdered by time, kind and transaction, whatever the order of insertion.
func TestStakersAreOrdered(t *testing.T) {
	want := []*Staker{
		{End: 1, TxID: ids.ID{9}}, {End: 2, SubnetID: ids.ID{1}, TxID: ids.ID{8}}, {End: 2, Delegator: true, TxID: ids.ID{3}}, {End: 2, Delegator: true, TxID: ids.ID{4}},
		{End: 2, TxID: ids.ID{1}}, {End: 2, TxID: ids.ID{2}}, {End: 3, SubnetID: ids.ID{1}, TxID: ids.ID{7}},
	}
	for seed := range uint64(20) {
		s := newStakerSet(func(s *Staker) uint64 { return s.End })
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(want)) {
			s.insert(want[i])
		}
		if !slices.Equal(s.queue, want) {
			t.Fatalf("%+v", s.queue)
		}
		s.delete(want[2])
		s.delete(want[2])
		if len(s.queue) != len(want)-1 || len(s.delegators[want[3].key()]) != 1 || s.delegators[want[3].key()][0] != want[3] {
			t.Errorf("%d are left, delegators %v", len(s.queue), s.delegators)
		}
		s.delete(want[6])
		if s.validators[want[6].key()] != nil && s.validators[want[6].key()] == want[6] {
			t.Error("a deleted validator is there")
		}
	}
}

// snapshot returns the state with which a stored chain would begin.
func (w *world) snapshot() Snapshot {
	s := w.p.State
	excess, accrued := s.ValidatorFees()
	at := Snapshot{
		Time: s.Time(), Supply: s.Supply(), Fees: s.Fees(), Excess: excess, Accrued: accrued, Registered: maps.Clone(s.l1.registered),
		UTXOs: slices.Collect(maps.Keys(maps.Collect(s.UTXOs()))), Stakers: slices.Concat(s.pending.queue, s.current.queue),
		Subnets: slices.Collect(maps.Values(s.subnets)), Blockchains: slices.Collect(maps.Values(s.blockchains)),
	}
	for _, all := range s.l1.bySubnet {
		at.L1Validators = append(at.L1Validators, all...)
	}
	return at
}

// TestAStoredChainGoesOn: a chain started from a snapshot accepts and refuses the same as the original.
func TestAStoredChainGoesOn(t *testing.T) {
	l := newL1(t)
	l.accept(start, l.validatorTx(l.keys[1], 9, 2000*nAVAX, 20*oneDay))
	l.accept(start, l.delegatorTx(l.keys[2], 9, 25*nAVAX, 20*oneDay))
	l.convert(nAVAX)
	expiry := l.p.Time() + 3600
	l.accept(l.p.Time()+1, l.registerTx(5, expiry, 0, 1))
	used := l.message(l.registration(5, expiry), 0, 1, 2)
	l.accept(l.p.Time(), l.weightTx(must1(l.registration(5, expiry).ValidationID()), 0, 0, 0, 1, 2))
	tip, height := l.p.Tip(), l.p.Height()
	at := l.snapshot()
	// A pending validator, as in a genesis, in addition to the current ones.
	at.Stakers = append(at.Stakers, &Staker{TxID: ids.ID{7}, NodeID: nodeID(7), Start: l.p.Time() + 50, End: l.p.Time() + 20*oneDay, Weight: nAVAX, Status: Pending})
	before := l.p
	l.p = New(local, utxo.NewSharedMemory(), at)
	l.p.SetTip(tip, height, at.Time)
	sameState(t, l.p, before)
	if len(l.p.pending.queue) != 1 || l.p.NextStakerChangeTime() != at.Time+50 {
		t.Errorf("%d are pending, the next change is at %d", len(l.p.pending.queue), l.p.NextStakerChangeTime())
	}
	if subnet, err := l.p.SubnetOf(l.chainID); err != nil || subnet != l.subnetID {
		t.Errorf("the chain is validated by %s: %v", subnet, err)
	}
	for _, c := range []ids.ID{ids.Empty, local.XChainID, local.CChainID} {
		if subnet, err := l.p.SubnetOf(c); err != nil || subnet != ids.Empty {
			t.Errorf("%s is validated by %s: %v", c, subnet, err)
		}
	}
	for missing, want := range map[ids.ID]string{
		{1}:        fmt.Sprintf("problem retrieving blockchain %q: not found", ids.ID{1}),
		l.subnetID: fmt.Sprintf("%q is not a blockchain", l.subnetID),
	} {
		if _, err := l.p.SubnetOf(missing); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	l.refuse(errMessageIssued, l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, ProofOfPossession: l.signer(5).ProofOfPossession, Message: used}
	}))
	l.refuse(errDuplicateL1, l.registerTx(1, expiry, 0, 1))
	set, err := l.p.Validators(ids.Empty)
	if err != nil || len(set) != 1 || set[0].Weight != 2025*nAVAX || set[0].NodeID != nodeID(9) {
		t.Errorf("%+v, %v", set, err)
	}
	if _, found := l.p.Validator(ids.Empty, nodeID(7)); !found {
		t.Error("a pending validator is not found")
	}
	if l.p.RemainingDelegation(nodeID(8), at.Time+1) != 0 {
		t.Error("who does not validate has room")
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestMessagesOfNoL1 refuses messages of an unknown subnet, of one that is not an L1, of another chain, and of another address.
func TestMessagesOfNoL1(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	control := txs.NewOwner(l.owner.Address())
	plain := l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.CreateSubnetTx{BaseTx: base, Owner: &control} })
	l.accept(l.p.Time(), plain)
	for name, c := range map[string]struct {
		subnet, source ids.ID
		sender         []byte
		want           error
	}{
		"no subnet":           {ids.ID{1}, l.chainID, manager, errNoConversion},
		"a subnet, not an L1": {plain.ID(), l.chainID, manager, errNoConversion},
		"another chain":       {l.subnetID, local.CChainID, manager, errSourceChain},
		"another address":     {l.subnetID, l.chainID, manager[1:], errSourceAddress},
		"its manager":         {l.subnetID, l.chainID, manager, nil},
	} {
		err := (&txExecutor{State: l.p.State}).verifyL1Conversion(c.subnet, c.source, c.sender)
		if name == "no subnet" || name == "a subnet, not an L1" {
			if err == nil || !strings.Contains(err.Error(), c.subnet.String()) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantError(t, err, c.want)
		if want := fmt.Sprintf("wrong warp message source chain ID expected %s but had %s", l.chainID, c.source); name == "another chain" && err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	r := l.registration(5, l.p.Time()+10)
	r.SubnetID = plain.ID()
	message := l.message(r, 0, 1)
	l.refuse(errNoConversion, l.pChainTx(l.owner, nAVAX, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, Balance: nAVAX, ProofOfPossession: l.signer(5).ProofOfPossession, Message: message}
	}))
	weight := l.message(&warp.L1ValidatorWeight{ValidationID: l.subnetID.Append(0), Weight: 5}, 0, 1)
	l.refuse(errMessageType, l.pChainTx(l.owner, nAVAX, func(base txs.BaseTx) txs.Unsigned {
		return &txs.RegisterL1ValidatorTx{BaseTx: base, Balance: nAVAX, ProofOfPossession: l.signer(5).ProofOfPossession, Message: weight}
	}))
}

// TestBoundsOfStaking: values exactly at a bound are accepted.
func TestBoundsOfStaking(t *testing.T) {
	networkRules := local.BaseStaking
	for name, tx := range map[string]func(*world) *txs.Tx{
		"the least": func(w *world) *txs.Tx {
			return w.validatorTx(w.keys[0], 0, networkRules.MinValidatorStake, networkRules.MinValidationDuration)
		},
		"the most": func(w *world) *txs.Tx {
			return w.validatorTx(w.keys[0], 0, networkRules.MaxValidatorStake, networkRules.MaxStakeDuration)
		},
		"the lowest fee": func(w *world) *txs.Tx {
			return w.validatorTx(w.keys[0], 0, 2000*nAVAX, 20*oneDay, func(tx *txs.AddPermissionlessValidatorTx) { tx.DelegationShares = 20_000 })
		},
		"the highest fee": func(w *world) *txs.Tx {
			return w.validatorTx(w.keys[0], 0, 2000*nAVAX, 20*oneDay, func(tx *txs.AddPermissionlessValidatorTx) { tx.DelegationShares = 1_000_000 })
		},
	} {
		w := newWorld(t)
		b, err := w.p.BuildBlock(start, []*txs.Tx{tx(w)})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.p.acceptOnly(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := newWorld(t)
	w.accept(start, w.validatorTx(w.keys[1], 9, 2000*nAVAX, 20*oneDay))
	w.accept(start, w.delegatorTx(w.keys[0], 9, networkRules.MinDelegatorStake, 20*oneDay))
	if got := w.p.RemainingDelegation(nodeID(9), start+20*oneDay); got != 7975*nAVAX {
		t.Errorf("room for %d", got)
	}
	w.accept(start, w.delegatorTx(w.keys[2], 9, 7975*nAVAX, 5*oneDay))
	w.refuse(errOverDelegated, w.delegatorTx(w.keys[3], 9, 25*nAVAX, 5*oneDay))
	if got := w.p.RemainingDelegation(nodeID(9), start+5*oneDay); got != 0 {
		t.Errorf("room for %d", got)
	}
	// There is room again as soon as a delegation has ended.
	w.refuse(errPeriodMismatch, w.delegatorTx(w.keys[3], 9, 25*nAVAX, 20*oneDay+1))
	tooShort := w.delegatorTx(w.keys[3], 9, 25*nAVAX, oneDay-1)
	w.refuse(errStakeTooShort, tooShort)
	other := w.delegatorTx(w.keys[3], 9, 25*nAVAX, 5*oneDay)
	u := other.Unsigned.(*txs.AddPermissionlessDelegatorTx)
	u.Validator.Weight++
	resigned, err := txs.NewSigned(txs.PChain, u, signers(u.BaseTx, w.keys[3])...)
	w.refuse(errDelegationMismatch, must(t, resigned, err))
}

// TestWhoHasWhichKey: validators of permissioned subnets sign with their keys on the primary network, L1 validators with their own, and the weight of
// validators includes delegations.
func TestWhoHasWhichKey(t *testing.T) {
	l := newL1(t)
	l.accept(start, l.validatorTx(l.keys[1], 0, 2000*nAVAX, 30*oneDay))
	l.accept(start, l.delegatorTx(l.keys[2], 0, 100*nAVAX, 20*oneDay))
	l.accept(start, l.delegatorTx(l.keys[3], 0, 50*nAVAX, 20*oneDay))
	l.accept(start, l.pChainTx(l.owner, 0, func(base txs.BaseTx) txs.Unsigned {
		v := txs.SubnetValidator{Validator: txs.Validator{NodeID: nodeID(0), End: start + 10*oneDay, Weight: 42}, SubnetID: l.subnetID}
		return &txs.AddSubnetValidatorTx{BaseTx: base, Validator: v, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{l.owner}))
	for subnet, weight := range map[ids.ID]uint64{ids.Empty: 2150 * nAVAX, l.subnetID: 42} {
		for range 2 { // the second time the key is cached
			set, err := l.p.Validators(subnet)
			if err != nil || len(set) != 1 || set[0].Weight != weight || set[0].NodeID != nodeID(0) || set[0].PublicKey == nil {
				t.Fatalf("%s: %+v, %v", subnet, set, err)
			}
			if set[0].PublicKey.Compressed() != l.signer(0).PublicKey {
				t.Errorf("%s: another key", subnet)
			}
		}
	}
}

// TestCapacityTime: a transaction waits for the gas that is refilled each second (ACP-103).
func TestCapacityTime(t *testing.T) {
	w := newWorld(t)
	base := baseOf(&w.p.UTXOState, w.keys[0], 0, 0)
	complexity, err := rules.ComplexityOf(&base)
	if err != nil {
		t.Fatal(err)
	}
	gas, second := local.Fees.Gas(complexity), local.Fees.MaxPerSecond
	for _, c := range []struct{ have, wait uint64 }{{gas, 0}, {gas - 1, 1}, {0, (gas + second - 1) / second}, {gas + 1, 0}} {
		w.p.fees.Capacity = c.have
		if got := w.p.CapacityTime(&base, start); got != start+c.wait {
			t.Errorf("with %d of %d gas: %d seconds, want %d", c.have, gas, got-start, c.wait)
		}
		if got := w.p.CapacityTime(&base, start-5); got != start-5+c.wait {
			t.Errorf("from before the chain's time: %d", got)
		}
	}
	w.p.fees.Capacity = 0
	if got := w.p.CapacityTime(&base, start+100); got != start+100 {
		t.Errorf("when the gas came back it waits %d", got-start-100)
	}
	if got := w.p.CapacityTime(&txs.AdvanceTimeTx{}, start); got != start {
		t.Errorf("what has no complexity waits until %d", got)
	}
	// No block can have so many outputs.
	for gas, wait := range map[uint64]uint64{local.Fees.MaxCapacity: 10, local.Fees.MaxCapacity + 1: 0} {
		many := base
		many.Outs = nil
		complexity, err := rules.ComplexityOf(&many)
		if err != nil {
			t.Fatal(err)
		}
		many.Memo = make([]byte, gas-local.Fees.Gas(complexity))
		if got := w.p.CapacityTime(&many, start); got != start+wait {
			t.Errorf("%d gas wait %d seconds", gas, got-start)
		}
	}
}

// TestGenesis: validators that begin later are pending; the rewards of all others count as supply, one after another.
func TestGenesis(t *testing.T) {
	owner := txs.NewOwner(testKey(t, 0).Address())
	validator := func(n byte, from uint64) *txs.Tx {
		tx, err := txs.NewTx(txs.PChain, &txs.AddValidatorTx{
			Validator: txs.Validator{NodeID: nodeID(n), Start: from, End: start + 30*oneDay, Weight: 2000 * nAVAX},
			StakeOuts: []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, 2000*nAVAX, owner)}, RewardsOwner: &owner, Shares: 20_000,
		})
		return must(t, tx, err)
	}
	g := &PChainGenesis{Timestamp: start, InitialSupply: 360_000_000 * nAVAX, Validators: []*txs.Tx{validator(0, start), validator(1, start-oneDay), validator(2, start+1)}}
	for _, u := range genesisUTXOs([]*txs.Key{testKey(t, 0)}, 5) {
		g.UTXOs = append(g.UTXOs, &GenesisUTXO{UTXO: *u})
	}
	b, err := g.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParsePChainGenesis(b)
	if err != nil {
		t.Fatal(err)
	}
	at, err := back.State(local)
	if err != nil {
		t.Fatal(err)
	}
	first := local.BaseStaking.Reward(30*oneDay, 2000*nAVAX, g.InitialSupply)
	second := local.BaseStaking.Reward(31*oneDay, 2000*nAVAX, g.InitialSupply+first)
	if s := at.Stakers; len(s) != 3 || s[0].PotentialReward != first || s[1].PotentialReward != second || s[0].Status != Active || s[2].Status != Pending || s[2].PotentialReward != 0 {
		t.Errorf("%+v", at.Stakers)
	}
	if at.Supply != g.InitialSupply+first+second || at.Time != start || len(at.UTXOs) != 1 || at.UTXOs[0].Amount() != 5 || at.Fees.Capacity != local.Fees.MaxCapacity {
		t.Errorf("%+v", at)
	}
	if _, err := ParsePChainGenesis(b[:20]); err == nil || !strings.HasPrefix(err.Error(), "P-Chain genesis: ") {
		t.Error(err)
	}
	g.Validators[1] = must1(txs.NewTx(txs.PChain, &txs.AdvanceTimeTx{}))
	if _, err := g.State(local); err == nil || !strings.HasPrefix(err.Error(), "genesis validator 1: ") {
		t.Error(err)
	}
}

// TestForms: stateless checks refuse the same transactions as the node's SyntacticVerify, and accept values at a bound.
func TestForms(t *testing.T) {
	l := newL1(t)
	key := l.owner
	auth, control := &txs.Input{SigIndices: []uint32{0}}, txs.NewOwner(key.Address())
	chain := func(change func(*txs.CreateChainTx)) *txs.Tx {
		return l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			u := &txs.CreateChainTx{BaseTx: base, SubnetID: l.subnetID, ChainName: "chain", VMID: ids.ID{1}, FxIDs: []ids.ID{}, GenesisData: []byte{}, SubnetAuth: auth}
			change(u)
			return u
		}, []*txs.Key{key})
	}
	conversion := func(change func(*txs.ConvertSubnetToL1Tx)) *txs.Tx {
		node := nodeID(3)
		owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{key.Address()}}
		return l.pChainTx(key, 5, func(base txs.BaseTx) txs.Unsigned {
			u := &txs.ConvertSubnetToL1Tx{BaseTx: base, SubnetID: l.subnetID, ChainID: l.chainID, Address: manager, SubnetAuth: auth, Validators: []*txs.ConversionValidator{{
				NodeID: node[:], Weight: 1, Balance: 5, Signer: *l.signer(3), RemainingBalanceOwner: owner, DeactivationOwner: owner,
			}}}
			change(u)
			return u
		}, []*txs.Key{key})
	}
	exported := func(outs ...*txs.TransferableOutput) *txs.Tx {
		return l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.ExportTx{BaseTx: base, DestinationChain: local.XChainID, ExportedOutputs: outs}
		})
	}
	validator := func(change func(*txs.AddPermissionlessValidatorTx)) *txs.Tx {
		return l.validatorTx(key, 5, 2000*nAVAX, 20*oneDay, change)
	}
	avax := local.AVAXAssetID
	for name, c := range map[string]struct {
		tx   *txs.Tx
		want error
	}{
		"a chain":                   {chain(func(*txs.CreateChainTx) {}), nil},
		"the longest name":          {chain(func(u *txs.CreateChainTx) { u.ChainName = strings.Repeat("n", 128) }), nil},
		"a longer name":             {chain(func(u *txs.CreateChainTx) { u.ChainName = strings.Repeat("n", 129) }), errChainNameTooLong},
		"a sign in the name":        {chain(func(u *txs.CreateChainTx) { u.ChainName = "a-b" }), errChainNameCharacter},
		"no VM":                     {chain(func(u *txs.CreateChainTx) { u.VMID = ids.Empty }), errInvalidVMID},
		"a chain of the network's":  {chain(func(u *txs.CreateChainTx) { u.SubnetID = ids.Empty }), errPrimaryHasNoChains},
		"extensions out of order":   {chain(func(u *txs.CreateChainTx) { u.FxIDs = []ids.ID{{2}, {1}} }), errFxIDsOrder},
		"an unsorted authorization": {chain(func(u *txs.CreateChainTx) { u.SubnetAuth = &txs.Input{SigIndices: []uint32{1, 0}} }), txs.ErrSigIndicesUnsorted},
		"a conversion":              {conversion(func(*txs.ConvertSubnetToL1Tx) {}), nil},
		"the longest address":       {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Address = make([]byte, 4096) }), nil},
		"a longer address":          {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Address = make([]byte, 4097) }), errManagerAddress},
		"a conversion to nothing":   {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators = nil }), errConvertEmpty},
		"the same node twice":       {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators = append(u.Validators, u.Validators[0]) }), errConvertOrder},
		"of the network itself":     {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.SubnetID = ids.Empty }), errConvertPrimary},
		"no weight":                 {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators[0].Weight = 0 }), errZeroWeight},
		"no node":                   {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators[0].NodeID = make([]byte, 20) }), errEmptyNodeID},
		"owners that cannot sign":   {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators[0].DeactivationOwner.Threshold = 2 }), txs.ErrOwnersUnspendable},
		"others that cannot sign":   {conversion(func(u *txs.ConvertSubnetToL1Tx) { u.Validators[0].RemainingBalanceOwner.Threshold = 2 }), txs.ErrOwnersUnspendable},
		"balances that overflow": {conversion(func(u *txs.ConvertSubnetToL1Tx) {
			two := *u.Validators[0]
			two.NodeID = append([]byte{1}, two.NodeID[1:]...)
			two.Balance = math.MaxUint64
			u.Validators = append(u.Validators, &two)
		}), utxo.ErrOverflow},
		"an export of nothing":   {exported(), utxo.ErrNoExports},
		"an export of no amount": {exported(txs.NewTransferableOutput(avax, 0, control)), txs.ErrNoValueOutput},
		"an export under a lock": {exported(&txs.TransferableOutput{AssetID: avax, Out: &txs.StakeableLockOut{Locktime: 5, Output: &txs.TransferOutput{Amount: 1, OutputOwners: control}}}), errExportLocktime},
		"an export out of order": {exported(txs.NewTransferableOutput(avax, 2, control), txs.NewTransferableOutput(avax, 1, control)), txs.ErrOutputsNotSorted},
		"an import of nothing":   {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.ImportTx{BaseTx: base, SourceChain: local.XChainID} }), errNoImports},
		"stake of nothing":       {validator(func(u *txs.AddPermissionlessValidatorTx) { u.StakeOuts = nil }), errNoStake},
		"stake of two assets": {validator(func(u *txs.AddPermissionlessValidatorTx) {
			u.StakeOuts = append(u.StakeOuts, txs.NewTransferableOutput(ids.ID{0xff, 0xff}, 1, control))
		}), errMultipleAssets},
		"stake of another asset": {validator(func(u *txs.AddPermissionlessValidatorTx) { u.StakeOuts[0].AssetID = ids.ID{1} }), errStakedAsset},
		"stake that overflows": {validator(func(u *txs.AddPermissionlessValidatorTx) {
			u.StakeOuts = append(u.StakeOuts, txs.NewTransferableOutput(avax, math.MaxUint64, control))
		}), utxo.ErrOverflow},
		"stake out of order": {validator(func(u *txs.AddPermissionlessValidatorTx) {
			u.StakeOuts[0].Out.(*txs.TransferOutput).Amount--
			u.StakeOuts = append(u.StakeOuts, txs.NewTransferableOutput(avax, 1, control))
		}), txs.ErrOutputsNotSorted},
		"stake that no owner gets":    {validator(func(u *txs.AddPermissionlessValidatorTx) { u.StakeOuts[0].Out.(*txs.TransferOutput).Threshold = 2 }), txs.ErrOwnersUnspendable},
		"no one to reward":            {validator(func(u *txs.AddPermissionlessValidatorTx) { u.ValidationOwner = &txs.OutputOwners{Threshold: 1} }), txs.ErrOwnersUnspendable},
		"no one to reward for others": {validator(func(u *txs.AddPermissionlessValidatorTx) { u.DelegationOwner = &txs.OutputOwners{Threshold: 1} }), txs.ErrOwnersUnspendable},
		"a top-up of nothing": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: ids.ID{1}}
		}), errZeroBalance},
		"a top-up of nobody": {l.pChainTx(key, 1, func(base txs.BaseTx) txs.Unsigned {
			return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: ids.ID{1}, Balance: 1}
		}), utxo.ErrNotFound},
		"a top-up that is not paid": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: ids.ID{1}, Balance: 1}
		}), utxo.ErrInsufficientUnlockedFunds},
		"inputs out of order":        {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { base.Ins = append(base.Ins, base.Ins[0]); return &base }, []*txs.Key{key}), txs.ErrInputsNotSorted},
		"an input of nothing":        {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { base.Ins[0].In.TransferInput().Amount = 0; return &base }), txs.ErrNoValueInput},
		"an output of nothing":       {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { base.Outs[0].Out.(*txs.TransferOutput).Amount = 0; return &base }), txs.ErrNoValueOutput},
		"a memo":                     {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { base.Memo = []byte{1}; return &base }), utxo.ErrMemoTooLarge},
		"another network":            {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { base.NetworkID++; return &base }), utxo.ErrWrongNetwork},
		"a subnet validator of none": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.AddSubnetValidatorTx{BaseTx: base, SubnetAuth: auth} }), errAddPrimary},
		"a removal from the network": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.RemoveSubnetValidatorTx{BaseTx: base, SubnetAuth: auth}
		}), errRemovePrimary},
		"a transfer of the network": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.TransferSubnetOwnershipTx{BaseTx: base, SubnetAuth: auth, Owner: &control}
		}), errTransferPrimary},
		"a subnet validator without weight": {l.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			return &txs.AddSubnetValidatorTx{BaseTx: base, SubnetAuth: auth, Validator: txs.SubnetValidator{SubnetID: l.subnetID}}
		}), errWeightTooSmall},
	} {
		b, err := l.p.BuildBlock(l.p.Time(), []*txs.Tx{c.tx})
		if err != nil {
			t.Fatal(err)
		}
		count := l.p.Count()
		if got := l.p.VerifyTx(c.tx, l.p.Time()); (got == nil) != (c.want == nil) {
			t.Errorf("%s: verified, %v, want %v", name, got, c.want)
		}
		if err = l.p.acceptOnly(b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err == nil {
			l.p.journal.Revert()
		}
		if l.p.Count() != count {
			t.Fatalf("%s: something changed", name)
		}
	}
}

// TestDepositsArePaid: the transaction's inputs pay for an L1 validator's initial balance, and for increases of it.
func TestDepositsArePaid(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	increase := func(paid uint64) *txs.Tx {
		return l.pChainTx(l.owner, paid, func(base txs.BaseTx) txs.Unsigned {
			return &txs.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: l.subnetID.Append(0), Balance: 7}
		})
	}
	l.refuse(utxo.ErrInsufficientUnlockedFunds, increase(6))
	l.accept(l.p.Time(), increase(7))
}

// TestDiffs: each transaction's Diff contains its changes to subnets, chains and stakers. Used registration messages are remembered until they
// expire.
func TestDiffs(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	control := txs.NewOwner(key.Address())
	subnet := w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { return &txs.CreateSubnetTx{BaseTx: base, Owner: &control} })
	if d := w.accept(start, subnet)[1]; len(d.Subnets) != 1 || d.Subnets[0].ID != subnet.ID() || !d.Subnets[0].Owner.Equals(&control) {
		t.Errorf("%+v", d.Subnets)
	}
	chain := w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.CreateChainTx{BaseTx: base, SubnetID: subnet.ID(), ChainName: "a", VMID: ids.ID{1}, FxIDs: []ids.ID{}, GenesisData: []byte{}, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}
	}, []*txs.Key{key})
	if d := w.accept(start, chain)[1]; len(d.Blockchains) != 1 || d.Blockchains[0].ID != chain.ID() || d.Blockchains[0].SubnetID != subnet.ID() {
		t.Errorf("%+v", d.Blockchains)
	}
	w.accept(start, w.validatorTx(w.keys[1], 9, 2000*nAVAX, 20*oneDay))
	delegated := w.accept(start, w.delegatorTx(w.keys[2], 9, 25*nAVAX, 5*oneDay))[1].Stakers[0]
	ended := w.reward(true)
	fee, _ := rules.SplitReward(delegated.PotentialReward, 100_000)
	if len(ended.Stakers) != 2 || ended.Stakers[0].DelegateeReward != fee || ended.Stakers[1].TxID != delegated.TxID || !ended.Stakers[1].Rewarded {
		t.Errorf("%+v", ended.Stakers)
	}
	l := newL1(t)
	l.convert(nAVAX)
	expiry := l.p.Time() + 100
	l.accept(l.p.Time(), l.registerTx(5, expiry, 0, 1))
	for want, time := range []uint64{expiry, expiry - 1} {
		b := must1(l.p.BuildBlock(time, []*txs.Tx{l.weightTx(l.subnetID.Append(0), 0, 300, 0, 1, 2)}))
		if _, err := l.p.Accept(b); err != nil || len(l.p.l1.registered) != want {
			t.Errorf("%d messages are known %d seconds before they expire: %v", len(l.p.l1.registered), expiry-time, err)
		}
		l.p.journal.Revert()
	}
}

// TestTheExcessOfTheContinuousFee follows from the number of validators (ACP-77), and a rollback restores it.
func TestTheExcessOfTheContinuousFee(t *testing.T) {
	l := newL1(t)
	l.convert(nAVAX)
	l.p.l1.excess = 100 * local.ValidatorFees.Target
	excess, accrued := l.p.ValidatorFees()
	cost, after := local.ValidatorFees.Cost(2, excess, 10)
	if after == excess {
		t.Fatal("nothing changes in ten seconds")
	}
	l.accept(l.p.Time()+10, l.weightTx(l.subnetID.Append(0), 0, 300, 0, 1))
	if gotExcess, gotAccrued := l.p.ValidatorFees(); gotExcess != after || gotAccrued != accrued+cost {
		t.Errorf("excess %d, accrued %d; want %d and %d", gotExcess, gotAccrued, after, accrued+cost)
	}
	l.p.journal.Revert()
	if gotExcess, gotAccrued := l.p.ValidatorFees(); gotExcess != excess || gotAccrued != accrued {
		t.Errorf("after a rollback: excess %d, accrued %d", gotExcess, gotAccrued)
	}
}
