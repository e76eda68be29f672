package primary

import (
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// validatorChange is a change of an L1's validators: a registration, a new weight, or a removal. The L1's validator manager sends an ICM
// message for it in a transaction of the L1's chain, and a while later a RegisterL1ValidatorTx or SetL1ValidatorWeightTx of the P-Chain
// carries the message. Its bytes are known before either: neither chain's history waits for the other's.
type validatorChange struct {
	node      *node
	registers bool
	weight    uint64 // 0 removes the validator
	at        uint64 // when the P-Chain accepts it
	message   *warp.UnsignedMessage
}

const (
	initiateLead     = 240            // seconds from the manager's transaction to the P-Chain's
	registrationTerm = population.Day // until a registration expires
	startingWeight   = 20
	gasManager       = 500_000
)

// managerOwner owns the validator manager of every L1.
func managerOwner(w *population.Personas) *population.Account { return w.Ewoq }

// initiatedAt returns when the manager sends the message. It must be that very second, from which a registration's expiry counts.
func (c *validatorChange) initiatedAt() uint64 { return c.at - initiateLead }

func (l *L1) scheduleRegistration(node *node, balance, at uint64) {
	c := &validatorChange{node: node, registers: true, weight: startingWeight, at: at}
	l.changes = append(l.changes, c)
	l.network.schedule(store.PChain, at, l.register(c, balance))
}

func (l *L1) scheduleWeight(node *node, weight, at uint64) {
	c := &validatorChange{node: node, weight: weight, at: at}
	l.changes = append(l.changes, c)
	l.network.schedule(store.PChain, at, l.setWeight(c))
}

func (l *L1) register(c *validatorChange, balance uint64) txBuilder {
	return func(at uint64) (*txs.Tx, error) {
		message, err := l.sign(c.message)
		if err != nil {
			return nil, err
		}
		return l.network.wallet.sign(txDraft{chain: store.PChain, from: l.owner(), more: balance, tx: &txs.RegisterL1ValidatorTx{
			Balance: balance, ProofOfPossession: c.node.proof.ProofOfPossession, Message: message}}, at)
	}
}

func (l *L1) setWeight(c *validatorChange) txBuilder {
	return func(at uint64) (*txs.Tx, error) {
		if !l.isValidator(c.node) {
			return nil, nil
		}
		message, err := l.sign(c.message)
		if err != nil {
			return nil, err
		}
		return l.network.wallet.sign(txDraft{chain: store.PChain, from: l.owner(), tx: &txs.SetL1ValidatorWeightTx{Message: message}}, at)
	}
}

// writeMessages writes the messages of the changes, once the L1 has its ids: the manager numbers a validator's weights.
func (l *L1) writeMessages() error {
	for i, node := range l.initialValidators {
		l.validationIDs[node] = warp.ConversionValidationID(l.subnet, uint32(i))
	}
	nonces := map[*node]uint64{}
	for _, c := range l.changes {
		var event warp.L1Message
		if c.registers {
			request := l.registration(c)
			id, err := request.ValidationID()
			if err != nil {
				return err
			}
			event, l.validationIDs[c.node] = request, id
		} else {
			nonces[c.node]++
			event = &warp.L1ValidatorWeight{ValidationID: l.validationIDs[c.node], Nonce: nonces[c.node], Weight: c.weight}
		}
		var err error
		if c.message, err = warp.NewL1Message(l.network.rules.NetworkID, l.chain, evm.ValidatorManager[:], event); err != nil {
			return err
		}
	}
	return nil
}

func (l *L1) registration(c *validatorChange) *warp.RegisterL1Validator {
	return &warp.RegisterL1Validator{SubnetID: l.subnet, NodeID: c.node.id[:], PublicKey: c.node.proof.PublicKey, Expiry: c.initiatedAt() + registrationTerm,
		RemainingBalanceOwner: warpOwner(c.node.owner), DisableOwner: warpOwner(c.node.owner), Weight: c.weight}
}

func warpOwner(a *population.Account) warp.PChainOwner {
	return warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{a.Primary.Address()}}
}

// scheduleManager plans the transactions of an L1's validator manager, if the world has its chain.
func (t *ICM) scheduleManager(l *L1, converted uint64) {
	slices.SortStableFunc(l.changes, func(a, b *validatorChange) int { return cmp.Compare(a.at, b.at) })
	for _, e := range t.endpoints {
		if e.chain == nil || e.l1 != l {
			continue
		}
		e.add(icmTx{ScheduledTx: evm.ScheduledTx{At: converted, Early: true, Request: l.initializeManager}})
		for _, c := range l.changes {
			e.add(icmTx{ScheduledTx: evm.ScheduledTx{At: c.initiatedAt(), Early: true, Exact: c.registers, Request: l.initiate(c), Message: func() *warp.UnsignedMessage { return c.message }}})
		}
		e.sort()
	}
}

// initializeManager sets the owner and the L1 of a chain's manager.
func (l *L1) initializeManager(c *evm.Chain) (*evm.TxRequest, error) {
	owner := managerOwner(c.Personas)
	return c.CallWith(owner, "validator-manager", "ValidatorManager", "initialize", nil, gasManager, owner.Address, l.subnet)
}

// pChainOwner is PChainOwner of the manager's interface.
type pChainOwner struct {
	Threshold uint32
	Addresses []common.Address
}

// initiate returns the transaction in which the manager sends the message of a change.
func (l *L1) initiate(change *validatorChange) func(*evm.Chain) (*evm.TxRequest, error) {
	return func(c *evm.Chain) (*evm.TxRequest, error) {
		node, id := change.node, l.validationIDs[change.node]
		method, args := "initiateValidatorWeightUpdate", []any{id, change.weight}
		switch {
		case change.registers:
			owner := pChainOwner{1, []common.Address{common.Address(node.owner.Primary.Address())}}
			method, args = "initiateValidatorRegistration", []any{node.id[:], node.proof.PublicKey[:], owner, owner, change.weight}
		case change.weight == 0:
			method, args = "initiateValidatorRemoval", []any{id}
		}
		return c.CallWith(managerOwner(c.Personas), "validator-manager", "ValidatorManager", method, nil, gasManager, args...)
	}
}
