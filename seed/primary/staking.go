package primary

import (
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Indices of the genesis validators with a role among a network's nodes.
const (
	popular    = iota // 25 delegations and more
	full              // no room for another delegation
	expiring          // ends within the hour after history
	lowUptime         // too low for a reward
	completed         // finished and rewarded
	refused           // finished without a reward
	pending           // begins after history
	removed           // removed from the permissioned subnet
	active            // nothing special
	finished          // of the persona staker, finished and rewarded
	running           // of the persona staker, validating
	uptimeKept        // rewarded in spite of heldUptime
	genesisRoleCount
)

// Indices of the nodes with a role among those that join during history.
const (
	uptimeLost  = iota // not rewarded because of heldUptime
	shortStake         // for the shortest time
	restaking          // renews itself with all its rewards
	autoRenewed        // renews itself with some of them
	renewalOver        // renewed itself, and left
	joinerRoleCount
)

// nodeRoles lists the roles by which /sim/world names nodes.
var nodeRoles = func() (all [genesisRoleCount + joinerRoleCount]string) {
	for i := range all {
		all[i] = fixtures.NodeRoles[i].Name
	}
	return all
}()

// subnetValidators counts the validators that the permissioned subnet ever has.
const subnetValidators = 3

// popularDelegations is the popular node's number of delegations at the end of history.
const popularDelegations = 26

// primaryValidators returns how many nodes ever validate the primary network.
func (s Size) primaryValidators() int { return s.Validators - subnetValidators }

// genesisValidators returns how many validators a network begins with; the others join.
func (s Size) genesisValidators() int { return max(genesisRoleCount, s.primaryValidators()*6/10) }

// genesisDelegators returns how many delegators a network begins with.
func (s Size) genesisDelegators() int { return max(3+popularDelegations/2, s.Delegators/3) }

// stakedPercent is the percentage of all AVAX that is staked when history ends, before rewards.
const stakedPercent = 48

// stake draws a validator's stake in nAVAX. On average, all stakes together make up the usual share of the network's supply, if the largest
// stake allows that.
func (n *Network) stake(r *rand.Rand) uint64 {
	const mostAVAX = 1_900_000
	average := min(supplies[n.rules.NetworkID]/nanoAVAX*stakedPercent/80/uint64(n.size.primaryValidators()), mostAVAX)
	return average * uint64(population.Between(r, 60, 140)) / 100 * nanoAVAX
}

// usualStake returns a small stake that begins at a time, in nAVAX.
func (n *Network) usualStake(at uint64) uint64 {
	return max(n.rules.StakingAt(at).MinValidatorStake, 50*nanoAVAX)
}

// leastDelegation is the smallest amount that people delegate, in nAVAX.
func (n *Network) leastDelegation(at uint64) uint64 {
	return max(n.rules.StakingAt(at).MinDelegatorStake, 2*nanoAVAX)
}

// usualDelegation is in nAVAX.
func (n *Network) usualDelegation(at uint64, r *rand.Rand) uint64 {
	return n.leastDelegation(at) * uint64(population.Between(r, 1, 12))
}

// shortestValidation and shortestDelegation last as long as the network asks of stakes that begin at a time, in seconds.
func (n *Network) shortestValidation(at uint64) uint64 {
	return n.rules.StakingAt(at).MinValidationDuration
}
func (n *Network) shortestDelegation(at uint64) uint64 {
	return n.rules.StakingAt(at).MinDelegationDuration
}

// stakingPeriod is a validator's or delegator's time and weight.
type stakingPeriod struct {
	who        *population.Account
	weight     uint64
	start, end uint64
}

// staking plans who joins the validators and delegators of the primary network during history.
type staking struct{ *Network }

func (n *staking) schedule(r *rand.Rand) {
	n.scheduleValidators()
	n.Network.schedule(store.PChain, n.span.At(200, 11), func(at uint64) (*txs.Tx, error) {
		node := n.nodes.all[full]
		return n.delegate(node, stakingPeriod{who: n.personas.Whale, weight: n.net.P.RemainingDelegation(node.id, node.end), end: node.end}, at)
	})
	n.scheduleDelegators(r)
}

func (n *staking) scheduleValidators() {
	for i := range n.joiners() {
		node, j := n.joinerNode(i), n.joining(i)
		if j.role != "" {
			node.row.Role, node.row.Connected = j.role, true
		}
		if j.role == nodeRoles[genesisRoleCount+uptimeLost] {
			node.row.Uptime = heldUptime
		}
		n.ending += j.rewards(n.span.Until)
		n.Network.schedule(store.PChain, j.start, func(at uint64) (*txs.Tx, error) {
			tx, err := n.validate(node, j, at)
			if tx == nil && err == nil { // the whale stakes for accounts that cannot pay
				j.who = n.personas.Whale
				tx, err = n.validate(node, j, at)
			}
			return tx, err
		})
		n.scheduleRenewal(node, j)
	}
}

func (n *staking) scheduleDelegators(r *rand.Rand) {
	count := n.size.Delegators - n.size.genesisDelegators() - 1
	if j := n.joining(autoRenewed); j.role != "" {
		count--
		n.scheduleBounded(j)
	}
	for i := range count {
		who := n.account(int(population.Between(r, 0, stakingAccounts-1)))
		if i < 3 {
			who = n.personas.Delegator
		}
		weight := uint64(population.Between(r, 1, 12)) // of the least
		at := n.span.At(int(population.Between(r, 20, 970)), int(population.Between(r, 0, population.Hour)))
		s := stakingPeriod{who: who, weight: weight * n.leastDelegation(at), end: n.endOf(at, n.shortestDelegation(at), r)}
		first := int(population.Between(r, 0, int64(n.size.primaryValidators())-1))
		if i < popularDelegations-popularDelegations/2 {
			first, s.end = popular, n.span.Until+uint64(population.Between(r, 1, 150))*population.Day
			s.end = max(s.end, at+n.shortestDelegation(at)+population.Hour)
		}
		n.expectReward(s)
		n.Network.schedule(store.PChain, at, func(at uint64) (*txs.Tx, error) {
			tx, err := n.delegateFrom(first, s, at)
			if tx == nil && err == nil {
				s.who = n.personas.Whale
				tx, err = n.delegateFrom(first, s, at)
			}
			return tx, err
		})
	}
}

// stakingAccounts returns how many accounts other than personas join validators and delegators during history.
const stakingAccounts = 40

func (n *Network) joiners() int { return n.size.primaryValidators() - n.size.genesisValidators() }

func (n *Network) joinerNode(i int) *node { return n.nodes.all[n.size.genesisValidators()+i] }

// joining returns how the i-th joiner stakes: little if it soon leaves again, or as its role demands.
func (n *Network) joining(i int) joinerStake {
	if i < joinerRoleCount {
		if j, fits := n.joiningWithRole(i); fits {
			return j
		}
	}
	r := n.rng.For("joining", n.rules.NetworkID, i)
	at := n.span.At(int(population.Between(r, 30, 960)), int(population.Between(r, 0, population.Hour)))
	s := stakingPeriod{who: n.account(i % stakingAccounts), weight: n.stake(r), start: at, end: n.endOf(at, n.shortestValidation(at), r)}
	if s.end <= n.span.Until {
		s.weight = n.usualStake(at) * uint64(population.Between(r, 1, 30))
		return joinerStake{stakingPeriod: s}
	}
	return joinerStake{stakingPeriod: s, renewal: n.usualRenewal(at, r)}
}

// stakingCapital returns the AVAX that the i-th account needs to join: its validators' stakes, and twice the average need for delegations.
func (n *Network) stakingCapital(i int) uint64 {
	need := 2 * uint64(n.size.Delegators) * 7 * n.leastDelegation(n.span.Start) / stakingAccounts
	for ; i < n.joiners(); i += stakingAccounts {
		need += n.joining(i).weight
	}
	return need / nanoAVAX
}

// expectReward counts on the reward of a stake that ends within history.
func (n *staking) expectReward(s stakingPeriod) {
	if s.end <= n.span.Until {
		n.ending++
	}
}

// endOf returns the end of a stake that begins at a time and must last so many seconds: now and then within history, if there is time for
// it.
func (n *Network) endOf(at, shortest uint64, r *rand.Rand) uint64 {
	shortest += uint64(population.Between(r, population.Hour, 3*population.Day))
	if population.Chance(r, 40) {
		return at + shortest
	}
	return max(at+shortest, n.span.Until+uint64(population.Between(r, 2, 60))*population.Day)
}

func (n *staking) validate(node *node, j joinerStake, at uint64) (*txs.Tx, error) {
	node.owner = j.who
	owners := j.who.Owner()
	stake, shares := []*txs.TransferableOutput{n.wallet.output(j.weight, owners)}, 20_000+5_000*uint32(node.id[0]%20)
	var unsigned txs.Unsigned = &txs.AddPermissionlessValidatorTx{
		Validator: txs.Validator{NodeID: node.id, End: j.end, Weight: j.weight}, SubnetID: ids.Empty, Signer: node.proof,
		StakeOuts: stake, ValidationOwner: &owners, DelegationOwner: &owners, DelegationShares: shares,
	}
	if j.renewal != nil {
		unsigned = &txs.AddAutoRenewedValidatorTx{ValidatorNodeID: node.id[:], Signer: node.proof, StakeOuts: stake,
			ValidationOwner: &owners, DelegationOwner: &owners, ValidatorAuthority: &owners,
			DelegationShares: shares, AutoCompoundRewardShares: j.renewal.shares, Period: j.renewal.period}
	}
	tx, err := n.wallet.sign(txDraft{chain: store.PChain, from: singleSigner(j.who), more: j.weight, tx: unsigned}, at)
	if tx != nil {
		node.staking = tx.ID()
	}
	return tx, err
}

// delegateFrom delegates to the first node from an index on that has room until the wished end; a delegation that outlasts history may end
// a bit sooner.
func (n *staking) delegateFrom(first int, s stakingPeriod, at uint64) (*txs.Tx, error) {
	for i := range n.size.primaryValidators() {
		index := (first + i) % n.size.primaryValidators()
		node, t := n.nodes.all[index], s
		t.end = min(t.end, node.end)
		if index == full || node.start == 0 || t.end < at+n.shortestDelegation(at) || (t.end <= n.span.Until) != (s.end <= n.span.Until) ||
			s.end <= n.span.Until && t.end < s.end {
			continue
		}
		if n.net.P.RemainingDelegation(node.id, t.end) >= t.weight {
			return n.delegate(node, t, at)
		}
	}
	return nil, nil
}

func (n *staking) delegate(node *node, s stakingPeriod, at uint64) (*txs.Tx, error) {
	owners := s.who.Owner()
	return n.wallet.sign(txDraft{chain: store.PChain, from: singleSigner(s.who), more: s.weight, tx: &txs.AddPermissionlessDelegatorTx{
		Validator: txs.Validator{NodeID: node.id, End: s.end, Weight: s.weight}, SubnetID: ids.Empty,
		StakeOuts: []*txs.TransferableOutput{n.wallet.output(s.weight, owners)}, RewardsOwner: &owners,
	}}, at)
}
