package primary

import (
	"bytes"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func (r *record) staker(s *pchain.Staker, at store.Position) {
	row := r.stakers[s.TxID]
	if row == nil {
		row = newStaker(s, at)
		r.stakers[s.TxID] = row
		r.stakeOwners(s, at)
	}
	changed := *row
	changed.Start, changed.PotentialReward, changed.DelegateeReward = int64(s.Start), store.Amount(s.PotentialReward), store.Amount(s.DelegateeReward)
	changed.Status, changed.Rewarded = int(s.Status), s.Rewarded
	if s.Renewal != nil {
		changed.NextPeriod, changed.AutoCompoundRewardShares = int64(s.Renewal.NextPeriod), s.Renewal.AutoCompoundRewardShares
	}
	height := int64(r.height)
	if s.Status != pchain.Pending && changed.Began == nil {
		changed.Began = &height
		r.begin(s)
		r.stake(s.SubnetID, stakeOf(s))
	}
	if s.Status == pchain.Completed || s.Status == pchain.Removed {
		changed.Ended = &height
		r.stake(s.SubnetID, metric.Stake{}.Minus(stakeOf(s)))
		if r.proposal != nil && s.Status == pchain.Completed {
			changed.RewardTx = bytes.Clone(r.proposal.txID[:])
		}
		delete(r.stakers, s.TxID)
	} else {
		r.stakers[s.TxID] = &changed
	}
	r.delta.Stakers = append(r.delta.Stakers, changed)
}

func (r *record) stakeOwners(s *pchain.Staker, at store.Position) {
	var owners []ids.ShortID
	for _, out := range s.Stake() {
		owners = append(owners, (&txs.UTXO{AssetID: out.AssetID, Out: out.Out}).Owners().Addresses...)
	}
	slices.SortFunc(owners, ids.ShortID.Compare)
	for _, address := range slices.Compact(owners) {
		r.delta.StakeOwners = append(r.delta.StakeOwners, store.StakeOwner{Address: bytes.Clone(address[:]), Staker: at})
	}
}

// begin records the time in which a node may propose blocks.
func (r *record) begin(s *pchain.Staker) {
	if !s.Delegator && s.SubnetID == [32]byte{} {
		r.periods[s.NodeID] = append(r.periods[s.NodeID], stakingPeriod{s.Start, s.End})
	}
}

func newStaker(s *pchain.Staker, at store.Position) *store.Staker {
	row := &store.Staker{
		ID: at, Tx: bytes.Clone(s.TxID[:]), Node: bytes.Clone(s.NodeID[:]), Subnet: bytes.Clone(s.SubnetID[:]), Delegator: s.Delegator,
		Weight: store.Amount(s.Weight), End: int64(s.End), Shares: s.Shares,
	}
	if s.BLS != nil {
		row.BLS, row.Proof = bytes.Clone(s.BLS.PublicKey[:]), bytes.Clone(s.BLS.ProofOfPossession[:])
	}
	if added, ok := s.Tx.Unsigned.(*txs.AddAutoRenewedValidatorTx); ok {
		row.Authority = owner(added.ValidatorAuthority.Owners())
		row.AccruedValidationRewards, row.AccruedDelegateeRewards = store.Amount(s.Renewal.AccruedValidationRewards), store.Amount(s.Renewal.AccruedDelegateeRewards)
	}
	for i, owners := range s.RewardOwners() {
		if i == 0 {
			row.Owner = owner(owners)
		} else {
			row.FeeOwner = owner(owners)
		}
	}
	return row
}

func owner(o *txs.OutputOwners) []byte {
	return store.OutputOwners{Threshold: o.Threshold, Locktime: o.Locktime, Addresses: addresses(o)}.Bytes()
}

// subnetChanges records changes of subnets, their chains and their L1 validators.
func (r *record) subnetChanges(diff *pchain.Diff, at store.Position) {
	for _, s := range diff.Subnets {
		r.subnet(s, at)
	}
	for _, b := range diff.Blockchains {
		r.delta.Blockchains = append(r.delta.Blockchains, store.Blockchain{
			ID: at, Hash: bytes.Clone(b.ID[:]), Subnet: bytes.Clone(b.SubnetID[:]), Name: b.Name, VM: bytes.Clone(b.VMID[:]),
		})
	}
	for _, v := range diff.L1Validators {
		r.l1Validator(v, diff, at)
	}
}

func (r *record) subnet(s *pchain.Subnet, at store.Position) {
	number, known := r.subnets[s.ID]
	if !known {
		number = at
		r.subnets[s.ID] = at
		r.delta.Subnets = append(r.delta.Subnets, store.Subnet{ID: at, Hash: bytes.Clone(s.ID[:])})
		r.stake(s.ID, metric.Stake{})
	}
	state := store.SubnetState{Subnet: number, Height: r.height, Owner: owner(&s.Owner)}
	if c := s.Conversion; c != nil {
		state.Conversion, state.ManagerChain, state.ManagerAddress = bytes.Clone(c.ID[:]), bytes.Clone(c.ChainID[:]), c.Address
	}
	r.delta.SubnetStates = replace(r.delta.SubnetStates, state, func(o store.SubnetState) bool { return o.Subnet == number })
}

func (r *record) l1Validator(v *pchain.L1Validator, diff *pchain.Diff, at store.Position) {
	m := r.l1[v.ValidationID]
	if m == nil {
		number := store.NewUTXONumber(r.Chain(r.chain), r.height, len(r.delta.L1Validators))
		m = &l1Validator{number: number}
		r.l1[v.ValidationID] = m
		balance, deactivation := txs.FromWarpOwner(v.RemainingBalanceOwner), txs.FromWarpOwner(v.DeactivationOwner)
		r.delta.L1Validators = append(r.delta.L1Validators, store.L1Validator{
			ID: number, Validation: bytes.Clone(v.ValidationID[:]), Subnet: bytes.Clone(v.SubnetID[:]), Node: bytes.Clone(v.NodeID[:]),
			BLS: bytes.Clone(v.PublicKey[:]), BalanceOwner: owner(&balance), DeactivationOwner: owner(&deactivation),
			Start: int64(v.Start), Tx: at,
		})
	}
	r.l1Metrics(m, v, diff.TxID == ids.Empty)
	if v.Weight == 0 {
		delete(r.l1, v.ValidationID)
	}
	state := store.L1ValidatorState{Validator: m.number, Height: r.height, Weight: store.Amount(v.Weight), Nonce: store.Amount(v.MinNonce), EndAccumulatedFee: store.Amount(v.EndAccumulatedFee)}
	r.delta.L1ValidatorStates = replace(r.delta.L1ValidatorStates, state, func(o store.L1ValidatorState) bool { return o.Validator == m.number })
}

// replace keeps one row for each key: the last one that a block writes.
func replace[T any](rows []T, row T, same func(T) bool) []T {
	for i := range rows {
		if same(rows[i]) {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}
