package webhook

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	"snowglobe/sim/txs"
)

// news holds a commit's additions to one of a network's chains, and their watchers.
type news struct {
	*Promiser
	batch    *store.Batch
	network  *sim.Network
	chain    int
	watchers map[int64]*watcher
}

// primary promises messages about the P- and X-Chain of a network.
func (p *Promiser) primary(b *store.Batch, active []outbox.Webhook, network *sim.Network, deltas []*store.PrimaryDelta, moved *sim.Added) error {
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		chain := network.Chain(kind)
		all, err := watchers(active, false, chain)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			continue
		}
		n := &news{p, b, network, chain, all}
		for _, d := range deltas {
			if d.Block != nil && d.Block.ID.Chain() == chain {
				if err := errors.Join(n.addresses(d), n.stakers(d), n.l1Validators(d)); err != nil {
					return err
				}
			}
		}
		if kind == txs.PChain {
			if err := n.l1Thresholds(deltas, moved.From/1000, moved.To/1000); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell promises a message to the watchers of something that subscribe to an event.
func (n *news) tell(keys [][]byte, wants func(*watcher) bool, m outbox.Message) error {
	found, err := watching(n.batch, n.watchers, keys)
	if err != nil {
		return err
	}
	for _, w := range found {
		if !slices.Contains(w.SubEvents, m.Event) || !wants(w) {
			continue
		}
		message := m
		if err := n.promise(n.batch, w, &message); err != nil {
			return err
		}
	}
	return nil
}

func ofAddresses(w *watcher) bool { return w.Event == outbox.PrimaryAddressActivity }

// addresses promises messages about addresses in transactions. Writing a message later decides whether a balance fell below a threshold.
func (n *news) addresses(d *store.PrimaryDelta) error {
	touched := map[store.Position][][]byte{}
	for i := range d.Activity {
		if a := &d.Activity[i]; len(a.Subject) == ids.ShortIDLen {
			touched[a.Tx] = append(touched[a.Tx], a.Subject)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(touched)) {
		for _, event := range []string{BalanceChange, BalanceThreshold} {
			if err := n.tell(touched[at], ofAddresses, outbox.Message{Event: event, Tx: at, Time: d.Block.Time}); err != nil {
				return err
			}
		}
	}
	return n.rewards(d)
}

// rewards promises messages about the rewards that a block pays.
func (n *news) rewards(d *store.PrimaryDelta) error {
	for i := range d.Stakers {
		s := &d.Stakers[i]
		at, paid, err := n.rewardOf(d, s)
		if err != nil {
			return err
		}
		if !paid {
			continue
		}
		var owners [][]byte
		for j := range d.UTXOs {
			if u := &d.UTXOs[j]; u.Reward && (bytes.Equal(u.Tx, s.Tx) || bytes.Equal(u.Tx, s.RewardTx)) {
				owners = append(owners, u.OwnerAddresses...)
			}
		}
		m := outbox.Message{Event: RewardDistribution, Tx: at, Subject: s.Tx, Time: d.Block.Time}
		if err := n.tell(owners, ofAddresses, m); err != nil {
			return err
		}
		if err := n.tell([][]byte{s.Node, s.Subnet}, n.ofStaker(s.Node, s.Subnet), m); err != nil {
			return err
		}
	}
	return nil
}

// rewardOf returns the position of the transaction that rewarded a staker, if this block did that.
func (n *news) rewardOf(d *store.PrimaryDelta, s *store.Staker) (at store.Position, paid bool, err error) {
	if s.RewardTx == nil || !s.Rewarded || s.Ended == nil || *s.Ended != int64(d.Block.ID.Number()) {
		return 0, false, nil
	}
	at, err = outbox.TxPosition(n.batch, n.chain, s.RewardTx)
	return at, err == nil, err
}

// ofStaker selects webhooks about a validator of a subnet.
func (n *news) ofStaker(node, subnet []byte) func(*watcher) bool {
	return func(w *watcher) bool {
		return w.Event == outbox.ValidatorActivity && (len(w.NodeIDs) == 0 || slices.Contains(w.NodeIDs, ids.NodeID(node))) &&
			(len(w.SubnetIDs) == 0 || slices.Contains(w.SubnetIDs, ids.ID(subnet)))
	}
}

// stakers promises messages about new validators and delegators.
func (n *news) stakers(d *store.PrimaryDelta) error {
	for i := range d.Transactions {
		tx := &d.Transactions[i]
		at := slices.IndexFunc(d.Stakers, func(s store.Staker) bool { return bytes.Equal(s.Tx, tx.Hash) })
		if at < 0 {
			continue
		}
		s := &d.Stakers[at]
		event := ValidatorStake
		if s.Delegator {
			event = DelegatorStake
		}
		err := n.tell([][]byte{s.Node, s.Subnet}, n.ofStaker(s.Node, s.Subnet), outbox.Message{Event: event, Tx: tx.ID, Subject: s.Tx, Time: d.Block.Time})
		if err != nil {
			return err
		}
	}
	return nil
}

// l1Validators promises messages about a block's changes to validators of L1s.
func (n *news) l1Validators(d *store.PrimaryDelta) error {
	for i := range d.L1ValidatorStates {
		now := &d.L1ValidatorStates[i]
		v, err := outbox.L1ValidatorOf(n.batch, now.Validator)
		if err != nil {
			return err
		}
		before, err := outbox.L1StateBefore(n.batch, now.Validator, d.Block.ID.Number())
		isNew := errors.Is(err, store.ErrNotFound)
		if err != nil && !isNew {
			return err
		}
		var event string
		switch {
		case isNew:
			event = ValidatorStake
		case now.Weight == 0 && before.Weight > 0:
			event = L1Removed
		case now.EndAccumulatedFee == 0 && before.PaidUntil > 0:
			event = L1Disabled
		case now.EndAccumulatedFee > before.PaidUntil:
			event = L1BalanceIncreased
		default:
			continue
		}
		m := outbox.Message{Event: event, Tx: txAbout(d, v.Validation), Subject: v.Validation, Time: d.Block.Time}
		if err := n.tell([][]byte{v.Node, v.Subnet}, n.ofStaker(v.Node, v.Subnet), m); err != nil {
			return err
		}
	}
	return nil
}

// txAbout returns the block's transaction about a validation, 0 for none: then only the passing of time caused the event.
func txAbout(d *store.PrimaryDelta, validation []byte) store.Position {
	i := slices.IndexFunc(d.Activity, func(a store.PrimaryActivity) bool { return bytes.Equal(a.Subject, validation) })
	if i >= 0 {
		return d.Activity[i].Tx
	}
	return 0
}

// l1Thresholds promises messages about L1 validators whose balances fell below a threshold between two times, in Unix seconds: they pay the
// fee continuously, without a transaction.
func (n *news) l1Thresholds(deltas []*store.PrimaryDelta, from, to int64) error {
	for _, w := range n.watchers {
		if slices.Contains(w.SubEvents, L1BalanceThreshold) {
			return n.compareBalances(deltas, from, to)
		}
	}
	return nil
}

func (n *news) compareBalances(deltas []*store.PrimaryDelta, from, to int64) error {
	first := uint64(store.MaxNumber)
	for _, d := range deltas {
		if d.Block != nil && d.Block.ID.Chain() == n.chain {
			first = min(first, d.Block.ID.Number())
		}
	}
	head, err := store.PrimaryHeadBefore(context.Background(), n.batch, n.chain, first)
	if err != nil {
		return err
	}
	accrued := n.network.AccruedAt(head, from)
	validators, err := store.L1ValidatorsAt(context.Background(), n.batch, n.chain, head.ID.Number())
	if err != nil {
		return err
	}
	now := map[store.UTXONumber]store.L1ValidatorState{}
	for _, d := range deltas {
		if d.Block == nil || d.Block.ID.Chain() != n.chain {
			continue
		}
		head = d.Block
		for _, s := range d.L1ValidatorStates {
			now[s.Validator] = s
		}
	}
	accruedNow := n.network.AccruedAt(head, to)
	for i := range validators {
		v := &validators[i]
		after := *v
		if s, changed := now[v.ID]; changed {
			after.L1ValidatorState = s
		}
		if v.Weight == 0 || v.EndAccumulatedFee == 0 || after.Weight == 0 {
			continue
		}
		before, left := v.Balance(accrued), after.Balance(accruedNow)
		fell := func(w *watcher) bool {
			return before >= w.L1BalanceThreshold && left < w.L1BalanceThreshold && n.ofStaker(v.Node, v.Subnet)(w)
		}
		if err := n.tell([][]byte{v.Node, v.Subnet}, fell, outbox.Message{Event: L1BalanceThreshold, Subject: v.Validation, Time: to}); err != nil {
			return err
		}
	}
	return nil
}
