package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// Validators are the validators of a subnet now, as those who check cross-chain messages see them: with delegations, and
// with inactive L1 validators as weight that cannot sign.
func (p *Platform) Validators(subnetID ids.ID) ([]warp.Validator, error) {
	var set []warp.Validator
	for _, s := range p.current.queue {
		if s.Delegator || s.SubnetID != subnetID {
			continue
		}
		v := warp.Validator{NodeID: s.NodeID, Weight: s.Weight}
		for _, d := range p.current.delegators[s.at()] {
			v.Weight += d.Weight
		}
		key, err := parseBLS(p.signer(s))
		if err != nil {
			return nil, err
		}
		v.PublicKey = key
		set = append(set, v)
	}
	for _, m := range p.members[subnetID] {
		v := warp.Validator{Weight: m.Weight}
		if m.Active() {
			key, err := parseBLS(&ProofOfPossession{PublicKey: m.PublicKey})
			if err != nil {
				return nil, err
			}
			v.NodeID, v.PublicKey = m.NodeID, key
		}
		set = append(set, v)
	}
	return set, nil
}

// signer is a validator's key; validators of permissioned subnets sign with the key they have on the primary network.
func (p *Platform) signer(s *Staker) *ProofOfPossession {
	if !s.permissioned() {
		return s.BLS
	}
	if primary, found := p.current.validators[stakerKey{ids.Empty, s.NodeID}]; found {
		return primary.BLS
	}
	return nil
}

func parseBLS(signer *ProofOfPossession) (*warp.PublicKey, error) {
	if signer == nil {
		return nil, nil
	}
	return warp.ParsePublicKey(signer.PublicKey[:])
}

// SubnetOf is the subnet that validates a blockchain; the primary network's is the zero id.
func (p *Platform) SubnetOf(blockchainID ids.ID) (ids.ID, error) {
	if _, found := p.Network.ChainOf(blockchainID); found {
		return ids.Empty, nil
	}
	if b, found := p.blockchains[blockchainID]; found {
		return b.SubnetID, nil
	}
	return ids.Empty, fmt.Errorf("blockchain %s: %w", blockchainID, errNotFound)
}

// VerifyMessage checks the signatures of a message against the validators of its source's subnet now.
func (p *Platform) VerifyMessage(m *warp.Message) error {
	subnetID, err := p.SubnetOf(m.SourceChainID)
	if err != nil {
		return err
	}
	validators, err := p.Validators(subnetID)
	if err != nil {
		return err
	}
	set, err := warp.NewCanonicalSet(validators)
	if err != nil {
		return err
	}
	return m.Verify(p.Network.NetworkID, set, warp.DefaultQuorumNumerator, warp.QuorumDenominator)
}
