package seed

import (
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/warp"
)

// petition is what an L1 asks of the P-chain for one of its validators: to register it, to give it another weight, or to
// remove it. The L1's manager says it in a transaction of the L1's chain, and a while later one of the P-chain carries it.
// What it says is settled before, as with letters: neither chain's history waits for the other's.
type validatorChange struct {
	member  *node
	joins   bool   // the L1, with this petition
	weight  uint64 // 0 removes the validator
	at      uint64 // when the P-chain takes it in
	message *warp.UnsignedMessage
}

const (
	initiateLead     = 240 // seconds from the manager's word to the P-chain's
	registrationTerm = day // for which the manager lets a registration hold
	startingWeight   = 20
	gasPetition      = 500_000
)

// manager is where a chain has the contract that manages its L1's validators, from its first block on.
var manager = common.HexToAddress("0x0Feedc0de0000000000000000000000000000000")

// chair is the persona who owns the manager of every L1.
const managerOwner = "ewoq"

// said is when the manager says it. The term of a registration begins then, so that it must be that very second.
func (p *validatorChange) said() uint64 { return p.at - initiateLead }

// petition plans to ask for something.
func (l *l1) validatorChange(p *validatorChange) *validatorChange {
	l.changes = append(l.changes, p)
	return p
}

// seal writes the L1's petitions, once it has its ids: the manager counts what it asks for a validator.
func (l *l1) seal(network uint32) error {
	for i, m := range l.initialValidators {
		l.validations[m] = warp.ConversionValidationID(l.subnet, uint32(i))
	}
	sent := map[*node]uint64{}
	for _, p := range l.changes {
		var event warp.Event
		if p.joins {
			request := l.registration(p)
			id, err := request.ValidationID()
			if err != nil {
				return err
			}
			event, l.validations[p.member] = request, id
		} else {
			sent[p.member]++
			event = &warp.L1ValidatorWeight{ValidationID: l.validations[p.member], Nonce: sent[p.member], Weight: p.weight}
		}
		var err error
		if p.message, err = warp.NewEventMessage(network, l.chain, manager[:], event); err != nil {
			return err
		}
	}
	return nil
}

func (l *l1) registration(p *validatorChange) *warp.RegisterL1Validator {
	m := p.member
	return &warp.RegisterL1Validator{SubnetID: l.subnet, NodeID: m.id[:], PublicKey: m.proof.PublicKey, Expiry: p.said() + registrationTerm,
		RemainingBalanceOwner: control(m.owner), DisableOwner: control(m.owner), Weight: p.weight}
}

func control(a *account) warp.Owner {
	return warp.Owner{Threshold: 1, Addresses: []ids.ShortID{a.primary.Address()}}
}

// submit gives the petitions of an L1 to the mail of its chain, if the world has it, after what the manager has to know first.
func (t *icmPlan) submit(l *l1, converted uint64) {
	slices.SortStableFunc(l.changes, func(a, b *validatorChange) int { return cmp.Compare(a.at, b.at) })
	for _, o := range t.endpoints {
		if o.evmChain == nil || o.l1 != l {
			continue
		}
		o.mail = append(o.mail, icmTx{at: converted, early: true, do: initializeManager})
		for _, p := range l.changes {
			o.mail = append(o.mail, icmTx{at: p.said(), early: true, do: p.say, says: p})
		}
		slices.SortStableFunc(o.mail, func(a, b icmTx) int { return cmp.Compare(a.at, b.at) })
	}
}

// introduce tells the manager of a chain whose it is and of which L1.
func initializeManager(s *evmChain, p *evm.Pending) (*types.Transaction, *account, error) {
	i, err := s.call(s.people[managerOwner], "validator-manager", "ValidatorManager", "initialize", s.people[managerOwner].address, s.l1.subnet)
	return s.signScheduled(p, i, gasPetition, nil, err)
}

// pChainOwner is a control group as the manager's interface packs it.
type pChainOwner struct {
	Threshold uint32
	Addresses []common.Address
}

// say is the transaction in which the manager says it.
func (p *validatorChange) say(s *evmChain, pending *evm.Pending) (*types.Transaction, *account, error) {
	m, id := p.member, s.l1.validations[p.member]
	method, args := "initiateValidatorWeightUpdate", []any{id, p.weight}
	switch {
	case p.joins:
		owner := pChainOwner{1, []common.Address{common.Address(m.owner.primary.Address())}}
		method, args = "initiateValidatorRegistration", []any{m.id[:], m.proof.PublicKey[:], owner, owner, p.weight}
	case p.weight == 0:
		method, args = "initiateValidatorRemoval", []any{id}
	}
	i, err := s.call(s.people[managerOwner], "validator-manager", "ValidatorManager", method, args...)
	return s.signScheduled(pending, i, gasPetition, nil, err)
}
