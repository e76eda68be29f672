package primary

import (
	"math/rand/v2"

	"snowglobe/seed/population"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// joinerStake is how a node joins the validators of the primary network.
type joinerStake struct {
	stakingPeriod
	role    string
	renewal *renewal // of a node that renews itself (ACP-236)
}

// renewal configures a validator that renews itself.
type renewal struct {
	period uint64 // of a cycle, in seconds
	shares uint32 // of the rewards that it restakes, in millionths
	leaves bool   // after two cycles
}

// heldUptime of a node is enough for stakes that began before Helicon only, in millionths.
const heldUptime = 850_000

// beforeHelicon returns when a genesis validator begins before Helicon, at a time or sooner. It does not fit if Helicon was long ago.
func (n *Network) beforeHelicon(latest uint64) (start uint64, fits bool) {
	activation := n.rules.ActivationTime(rules.Helicon)
	start = min(latest, activation-min(activation, population.Day))
	return start, start+n.rules.StakingAt(start).MaxStakeDuration >= n.keptUntil()
}

// keptUntil returns when the node with the role uptimeKept ends.
func (n *Network) keptUntil() uint64 { return n.span.At(740, 0) }

// joiningWithRole returns how the node with the i-th role of joiners stakes, if Helicon leaves room for that.
func (n *Network) joiningWithRole(i int) (j joinerStake, fits bool) {
	from := max(n.span.At(60, 0), n.rules.ActivationTime(rules.Helicon)) + population.Hour + uint64(600*i)
	if from >= n.span.Until {
		return j, false
	}
	const margin = 2 * population.Hour // until history ends
	room, shortest := n.span.Until-from, n.shortestValidation(from)
	cycle := func(part uint64) uint64 { return max(shortest, room/part/population.Hour*population.Hour) }
	j.role = nodeRoles[genesisRoleCount+i]
	j.stakingPeriod = stakingPeriod{who: n.account(i % stakingAccounts), weight: uint64(2+i) * n.usualStake(from), start: from}
	need := shortest + margin
	switch i {
	case uptimeLost:
		j.end = from + cycle(3)
	case shortStake:
		j.start += (room - min(room, need)) / 2
		j.end = j.start + shortest
	case restaking:
		need = 3*shortest + margin
		j.weight = n.stake(n.rng.For("restaking", n.rules.NetworkID))
		j.renewal = &renewal{period: cycle(8), shares: wholeReward}
	case autoRenewed:
		need = margin
		j.weight = n.stake(n.rng.For("auto-renewed", n.rules.NetworkID))
		j.renewal = &renewal{period: max(n.shortestDelegation(from)+population.Day, cycle(6)), shares: wholeReward / 4}
	case renewalOver:
		need = 2*shortest + margin
		j.renewal = &renewal{period: cycle(6), shares: wholeReward / 2, leaves: true}
		j.end = j.start + 2*j.renewal.period
	}
	if j.renewal != nil && !j.renewal.leaves {
		j.end = n.span.Until + j.renewal.period
	}
	return j, room >= need
}

// wholeReward is all of a reward, in the millionths of autoCompoundRewardShares.
const wholeReward = 1_000_000

// usualRenewal lets some of the nodes that join for long renew themselves, once Helicon allows it.
func (n *Network) usualRenewal(at uint64, r *rand.Rand) *renewal {
	if !n.rules.Active(rules.Helicon, at) || !population.Chance(r, 10) {
		return nil
	}
	return &renewal{period: uint64(population.Between(r, 14, 40)) * population.Day, shares: uint32(population.Between(r, 0, 4)) * wholeReward / 4}
}

// rewards counts the rewards that a joiner causes within history, granted or not.
func (j *joinerStake) rewards(until uint64) int {
	switch {
	case j.renewal == nil && j.end > until:
		return 0
	case j.renewal == nil:
		return 1
	case j.renewal.leaves:
		return 2
	}
	return int((until - j.start) / j.renewal.period)
}

// scheduleRenewal plans how a validator that renews itself leaves: in its second cycle its owner sets the period to 0.
func (n *staking) scheduleRenewal(node *node, j joinerStake) {
	if j.renewal == nil || !j.renewal.leaves {
		return
	}
	n.Network.schedule(store.PChain, j.start+j.renewal.period*3/2, func(at uint64) (*txs.Tx, error) {
		owner := singleSigner(node.owner)
		return n.wallet.sign(txDraft{chain: store.PChain, from: owner, auth: [][]*txs.Key{owner.keys}, tx: &txs.SetAutoRenewedValidatorConfigTx{
			TxID: node.staking, Auth: owner.auth(), AutoCompoundRewardShares: j.renewal.shares}}, at)
	})
}

// scheduleBounded plans a delegation to a validator that renews itself. It ends with the validator's first cycle.
func (n *staking) scheduleBounded(j joinerStake) {
	s := stakingPeriod{who: n.personas.Delegator, weight: n.leastDelegation(j.start), end: j.start + j.renewal.period}
	n.expectReward(s)
	n.Network.schedule(store.PChain, j.start+population.Hour, func(at uint64) (*txs.Tx, error) {
		return n.delegate(n.joinerNode(autoRenewed), s, at)
	})
}
