package pchain

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// Validators returns a subnet's current validators for the verification of warp messages: weights include delegations, and inactive L1
// validators count in the weight but have no key (ACP-77).
func (s *State) Validators(subnetID ids.ID) ([]warp.Validator, error) {
	var set []warp.Validator
	for _, staker := range s.current.queue {
		if staker.Delegator || staker.SubnetID != subnetID {
			continue
		}
		v := warp.Validator{NodeID: staker.NodeID, Weight: staker.Weight}
		for _, d := range s.current.delegators[staker.key()] {
			v.Weight += d.Weight
		}
		key, err := s.publicKey(s.signer(staker))
		if err != nil {
			return nil, err
		}
		v.PublicKey = key
		set = append(set, v)
	}
	for _, l1 := range s.l1.bySubnet[subnetID] {
		v := warp.Validator{Weight: l1.Weight}
		if l1.Active() {
			key, err := s.publicKey(&txs.ProofOfPossession{PublicKey: l1.PublicKey})
			if err != nil {
				return nil, err
			}
			v.NodeID, v.PublicKey = l1.NodeID, key
		}
		set = append(set, v)
	}
	return set, nil
}

// WarpSet returns the canonical set of a subnet's current validators.
func (s *State) WarpSet(subnetID ids.ID) (*warp.CanonicalValidatorSet, error) {
	validators, err := s.Validators(subnetID)
	if err != nil {
		return nil, err
	}
	return warp.NewCanonicalValidatorSet(validators)
}

// signer returns a validator's key; validators of permissioned subnets sign with their key on the primary network.
func (s *State) signer(staker *Staker) *txs.ProofOfPossession {
	if !staker.permissioned() {
		return staker.BLS
	}
	if primary, found := s.current.validators[stakerKey{ids.Empty, staker.NodeID}]; found {
		return primary.BLS
	}
	return nil
}

// publicKey returns a validator's key as a point of the curve. Decompressing it is slow, so each is cached.
func (s *State) publicKey(signer *txs.ProofOfPossession) (*warp.PublicKey, error) {
	if signer == nil {
		return nil, nil
	}
	if key := s.publicKeys[signer.PublicKey]; key != nil {
		return key, nil
	}
	key, err := warp.ParsePublicKey(signer.PublicKey[:])
	if err == nil {
		s.publicKeys[signer.PublicKey] = key
	}
	return key, err
}

// SubnetOf returns the subnet that validates a blockchain; the primary network's is the zero id. The errors follow avalanchego's
// vms/platformvm/validators.Manager.GetSubnetID. Clients often pass the id of a subnet instead of its blockchain's.
func (s *State) SubnetOf(blockchainID ids.ID) (ids.ID, error) {
	if _, found := s.Network.ChainOf(blockchainID); found {
		return ids.Empty, nil
	}
	if b, found := s.blockchains[blockchainID]; found {
		return b.SubnetID, nil
	}
	if _, found := s.subnets[blockchainID]; found {
		return ids.Empty, fmt.Errorf("%q is not a blockchain", blockchainID)
	}
	return ids.Empty, fmt.Errorf("problem retrieving blockchain %q: %w", blockchainID, utxo.ErrNotFound)
}

// VerifyMessage checks the signatures of a message against the current validators of its source's subnet.
func (s *State) VerifyMessage(m *warp.Message) error {
	subnetID, err := s.SubnetOf(m.SourceChainID)
	if err != nil {
		return err
	}
	set, err := s.WarpSet(subnetID)
	if err != nil {
		return err
	}
	return m.Verify(s.Network.NetworkID, set, warp.DefaultQuorumNumerator, warp.QuorumDenominator)
}
