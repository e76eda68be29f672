package network

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// loadStakers reads who stakes or waits to, and when which node validated the primary network.
func (r *restore) loadStakers(at *primary.PlatformState) error {
	rows, err := r.db.Stakers(r.ctx, r.Chain(store.PChain))
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		if subnet := ids.ID(row.Subnet); row.Began != nil && !row.Delegator && subnet == ids.Empty {
			node := ids.NodeID(row.Node)
			r.terms[node] = append(r.terms[node], term{uint64(row.Start), uint64(row.End)})
		}
		if row.Status == store.StakerCompleted || row.Status == store.StakerRemoved {
			continue
		}
		s, err := r.staker(row)
		if err != nil {
			return fmt.Errorf("staker %x: %w", row.Tx, err)
		}
		at.Stakers = append(at.Stakers, s)
		r.stakers[s.TxID] = row
	}
	return nil
}

func (r *restore) staker(row *store.Staker) (*primary.Staker, error) {
	raw, err := r.db.PrimaryTx(r.ctx, row.ID)
	if err != nil {
		return nil, err
	}
	tx, err := primary.ParseTx(primary.PChain, raw.Bytes)
	if err != nil {
		return nil, err
	}
	s, err := primary.NewStaker(tx, primary.StakerStatus(row.Status))
	if err != nil {
		return nil, err
	}
	s.Start, s.PotentialReward, s.DelegateeReward = uint64(row.Start), uint64(row.Reward), uint64(row.Delegatee)
	return s, nil
}

func (r *restore) loadSubnets(at *primary.PlatformState) error {
	rows, err := r.db.Subnets(r.ctx, r.Chain(store.PChain))
	if err != nil {
		return err
	}
	for _, row := range rows {
		s := &primary.Subnet{ID: ids.ID(row.Hash), Owner: ownersOf(row.State.Owner)}
		if row.State.Conversion != nil {
			s.Conversion = &primary.Conversion{
				ID: ids.ID(row.State.Conversion), ChainID: ids.ID(row.State.ManagerChain), Address: row.State.ManagerAddress,
			}
		}
		at.Subnets = append(at.Subnets, s)
		r.subnets[s.ID] = row.ID
	}
	return nil
}

// ownersOf reads what owner wrote.
func ownersOf(raw []byte) primary.OutputOwners {
	o := store.ParseOwners(raw)
	owners := primary.OutputOwners{Threshold: o.Threshold, Locktime: o.Locktime, Addresses: make([]ids.ShortID, len(o.Addresses))}
	for i, address := range o.Addresses {
		owners.Addresses[i] = ids.ShortID(address)
	}
	return owners
}

func (r *restore) loadBlockchains(at *primary.PlatformState) error {
	rows, err := r.db.Blockchains(r.ctx, r.Chain(store.PChain))
	for _, row := range rows {
		at.Blockchains = append(at.Blockchains, &primary.Blockchain{
			ID: ids.ID(row.Hash), SubnetID: ids.ID(row.Subnet), Name: row.Name, VMID: ids.ID(row.VM),
		})
	}
	return err
}

func (r *restore) loadL1Validators(at *primary.PlatformState, height uint64) error {
	rows, err := r.db.L1Validators(r.ctx, r.Chain(store.PChain), height)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Weight == 0 {
			continue
		}
		balance, deactivation := ownersOf(row.BalanceOwner), ownersOf(row.DeactivationOwner)
		v := &primary.L1Validator{
			ValidationID: ids.ID(row.Validation), SubnetID: ids.ID(row.Subnet), NodeID: ids.NodeID(row.Node), PublicKey: [48]byte(row.BLS),
			RemainingBalanceOwner: warp.Owner{Threshold: balance.Threshold, Addresses: balance.Addresses},
			DeactivationOwner:     warp.Owner{Threshold: deactivation.Threshold, Addresses: deactivation.Addresses},
			Start:                 uint64(row.Start), Weight: uint64(row.Weight), MinNonce: uint64(row.Nonce), EndAccumulatedFee: uint64(row.PaidUntil),
		}
		at.L1Validators = append(at.L1Validators, v)
		r.l1[v.ValidationID] = row.ID
	}
	return nil
}

// loadRegistrations finds the registration messages that could still be used a second time, were they not remembered.
func (r *restore) loadRegistrations(at *primary.PlatformState) error {
	rows, err := r.db.PrimaryTxsOfType(r.ctx, r.Chain(store.PChain), "RegisterL1ValidatorTx")
	if err != nil {
		return err
	}
	for i := range rows {
		tx, err := primary.ParseTx(primary.PChain, rows[i].Bytes)
		if err != nil {
			return err
		}
		validationID, expiry, err := tx.Registration()
		if err != nil {
			return fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
		if expiry > at.Time {
			at.Registered[validationID] = expiry
		}
	}
	return nil
}
