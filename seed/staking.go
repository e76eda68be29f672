package seed

import (
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// The places of the nodes with a role among a network's machines.
const (
	popular   = iota // 25 delegations and more
	full             // no room for another delegation
	expiring         // ends within the hour after history
	lowUptime        // below what a reward asks for
	completed        // finished and rewarded
	refused          // finished without a reward
	pending          // begins after history
	removed          // was removed from the guild
	active           // nothing special
	finished         // of the persona staker, finished and rewarded
	running          // of the persona staker, validating
	roleCount
)

// stations are the roles by which /sim/world names nodes.
var nodeRoles = [roleCount]string{"popular", "full", "expiring", "low-uptime", "completed", "refused", "pending", "removed", "active",
	"staker-finished", "staker-running"}

// members is how many validators the permissioned subnet ever has.
const members = 3

// popularity is how many delegations the popular node has at the end of history.
const popularity = 26

// primaryValidators is how many nodes validate the primary network sooner or later.
func (r *primaryNetwork) primaryValidators() int { return r.plan.validators - members }

// stint is a validator's or delegator's time and weight.
type stakingPeriod struct {
	who        *account
	weight     uint64
	start, end uint64
}

// unit is a usual stake, in nAVAX.
func (r *primaryNetwork) unit() uint64 { return max(r.rules.Staking.MinValidatorStake, 50*nanoAVAX) }

// settleGenesis decides who validates from the beginning.
func (r *primaryNetwork) settleGenesis(g *rand.Rand) error {
	for i := range r.genesisValidators() {
		m := r.nodes[i]
		s := r.role(i, g)
		if i < roleCount {
			m.row.Role = nodeRoles[i]
		}
		tx, err := primary.NewTx(primary.PChain, r.genesisValidator(m, s, i))
		if err != nil {
			return err
		}
		r.genesis.Platform.Validators = append(r.genesis.Platform.Validators, tx)
		if s.start <= r.start {
			m.start, m.end = s.start, s.end
		}
	}
	return r.settleDelegators(g)
}

// genesisValidators is how many validators a network begins with; the others join.
func (r *primaryNetwork) genesisValidators() int { return max(roleCount, r.primaryValidators()*6/10) }

// role decides how long and how heavy the n-th validator stakes, and how well it runs.
func (r *primaryNetwork) role(n int, g *rand.Rand) stakingPeriod {
	m := r.nodes[n]
	s := stakingPeriod{who: m.owner, weight: r.unit() * uint64(between(g, 2, 30)), start: r.start - uint64(between(g, 20, 90))*day - uint64(between(g, 0, day)),
		end: r.until + uint64(between(g, 20, 150))*day + uint64(between(g, 0, day))}
	switch n {
	case popular:
		s.weight, s.end = 25*r.unit(), r.until+160*day
	case full:
		s.weight, s.end = r.unit(), r.until+120*day
	case expiring:
		s.end = r.until + 35*60
	case lowUptime:
		m.row.Uptime, m.row.Connected = 613_000, false
	case completed:
		s.end = r.moment(420, 0)
	case refused:
		m.row.Uptime, s.end = 455_000, r.moment(550, 0)
	case removed:
		s.end = r.until + 100*day
	case pending:
		s.start, s.end = r.until+2*day, r.until+62*day
	case active:
		s.end = r.until + 140*day
	case finished:
		s.who, s.end = r.people["staker"], r.moment(610, 0)
	case running:
		s.who, s.end = r.people["staker"], r.until+90*day
	default:
		if chance(g, 25) {
			s.end = r.moment(int(between(g, 100, 950)), int(between(g, 0, hour)))
		}
	}
	m.owner = s.who
	return s
}

// genesisValidator is a validator that was there before history. Those that wait, and a few old hands, joined before
// nodes had BLS keys.
func (r *primaryNetwork) genesisValidator(m *node, s stakingPeriod, n int) primary.Unsigned {
	owners := primary.Owner(s.who.primary.Address())
	v := primary.Validator{NodeID: m.id, Start: s.start, End: s.end, Weight: s.weight}
	stake := []*primary.TransferableOutput{r.pay(s.weight, owners)}
	base := *r.blank(store.PChain)
	shares := uint32(20_000 + 10_000*(n*7%11))
	if n == pending || n >= roleCount && n%9 == 0 {
		return &primary.AddValidatorTx{BaseTx: base, Validator: v, StakeOuts: stake, RewardsOwner: &owners, Shares: shares}
	}
	return &primary.AddPermissionlessValidatorTx{BaseTx: base, Validator: v, Signer: m.proof, StakeOuts: stake,
		ValidationOwner: &owners, DelegationOwner: &owners, DelegationShares: shares}
}

// settleDelegators decides who delegates from the beginning: two finished delegations of the persona, one that waits, and
// a third of all others.
func (r *primaryNetwork) settleDelegators(g *rand.Rand) error {
	persona := r.people["delegator"]
	periods := []struct {
		node int
		stakingPeriod
	}{
		{completed, stakingPeriod{persona, r.some(g), r.start - 15*day, r.moment(300, 0)}},
		{active, stakingPeriod{persona, r.some(g), r.start - 15*day, r.moment(700, 0)}},
		{active, stakingPeriod{r.other(5), r.some(g), r.until + 3*day, r.until + 40*day}},
	}
	for i := range r.genesisDelegators() - len(periods) {
		node := popular
		if i >= popularity/2 {
			node = int(between(g, active, int64(r.genesisValidators())-1))
		}
		m := r.nodes[node]
		end := m.end - min(uint64(between(g, 0, 6*day)), m.end/2)
		if m.end < r.until {
			end = m.end
		}
		periods = append(periods, struct {
			node int
			stakingPeriod
		}{node, stakingPeriod{r.other(i), r.some(g), r.start - 15*day, end}})
	}
	for _, s := range periods {
		m, owners := r.nodes[s.node], primary.Owner(s.who.primary.Address())
		tx, err := primary.NewTx(primary.PChain, &primary.AddDelegatorTx{
			BaseTx: *r.blank(store.PChain), Validator: primary.Validator{NodeID: m.id, Start: s.start, End: s.end, Weight: s.weight},
			StakeOuts: []*primary.TransferableOutput{r.pay(s.weight, owners)}, RewardsOwner: &owners,
		})
		if err != nil {
			return err
		}
		r.genesis.Platform.Validators = append(r.genesis.Platform.Validators, tx)
	}
	return nil
}

func (r *primaryNetwork) genesisDelegators() int { return max(3+popularity/2, r.plan.delegators/3) }

// some is a usual delegation.
func (r *primaryNetwork) some(g *rand.Rand) uint64 {
	return max(r.rules.Staking.MinDelegatorStake, 2*nanoAVAX) * uint64(between(g, 1, 12))
}

// stakers puts everyone who joins during history into the script.
func (r *primaryNetwork) stakers(g *rand.Rand) {
	for i := r.genesisValidators(); i < r.primaryValidators(); i++ {
		m, at := r.nodes[i], r.moment(int(between(g, 30, 900)), int(between(g, 0, hour)))
		s := stakingPeriod{who: r.other(int(between(g, 0, 40))), weight: r.unit() * uint64(between(g, 1, 3)), end: r.term(g, at)}
		r.expect(s)
		r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) {
			tx, err := r.join(m, s, at)
			if tx == nil && err == nil { // the whale steps in for who cannot pay
				s.who = r.people["whale"]
				tx, err = r.join(m, s, at)
			}
			return tx, err
		}))
	}
	whale := r.people["whale"]
	r.add(store.PChain, r.moment(200, 11), singleTx(func(at uint64) (*primary.Tx, error) {
		m := r.nodes[full]
		return r.delegate(m, stakingPeriod{who: whale, weight: r.net.P.Room(m.id, m.end), end: m.end}, at)
	}))
	for i := range r.plan.delegators - r.genesisDelegators() - 1 {
		who := r.other(int(between(g, 0, 60)))
		if i < 3 {
			who = r.people["delegator"]
		}
		s, at := stakingPeriod{who: who, weight: r.some(g)}, r.moment(int(between(g, 20, 950)), int(between(g, 0, hour)))
		s.end = r.term(g, at)
		first := int(between(g, 0, int64(r.primaryValidators())-1))
		if i < popularity-popularity/2 {
			first, s.end = popular, r.until+uint64(between(g, 1, 150))*day
			s.end = max(s.end, at+r.rules.Staking.MinStakeDuration+hour)
		}
		r.expect(s)
		r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) { return r.delegateSomewhere(first, s, at) }))
	}
}

// expect counts on the reward of a stake that ends within history.
func (r *primaryNetwork) expect(s stakingPeriod) {
	if s.end <= r.until {
		r.endingPeriods++
	}
}

// term is when a stake that begins now ends: before the end of history now and then, if there is time for it.
func (r *primaryNetwork) term(g *rand.Rand, at uint64) uint64 {
	shortest := r.rules.Staking.MinStakeDuration + uint64(between(g, hour, 3*day))
	if chance(g, 40) {
		return at + shortest
	}
	return max(at+shortest, r.until+uint64(between(g, 2, 60))*day)
}

func (r *primaryNetwork) join(m *node, s stakingPeriod, at uint64) (*primary.Tx, error) {
	m.owner = s.who
	owners := primary.Owner(s.who.primary.Address())
	return r.write(txDraft{chain: store.PChain, from: singleSigner(s.who), more: s.weight, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.AddPermissionlessValidatorTx{
			BaseTx: base, Validator: primary.Validator{NodeID: m.id, End: s.end, Weight: s.weight}, SubnetID: ids.Empty, Signer: m.proof,
			StakeOuts: []*primary.TransferableOutput{r.pay(s.weight, owners)}, ValidationOwner: &owners, DelegationOwner: &owners,
			DelegationShares: 20_000 + 5_000*uint32(m.id[0]%20),
		}
	}}, at)
}

// delegateSomewhere delegates to the first node from a place on that can take it until the end wished; what is to outlast
// history may end a bit sooner.
func (r *primaryNetwork) delegateSomewhere(first int, s stakingPeriod, at uint64) (*primary.Tx, error) {
	for i := range r.primaryValidators() {
		n := (first + i) % r.primaryValidators()
		m, t := r.nodes[n], s
		t.end = min(t.end, m.end)
		if n == full || m.start == 0 || t.end < at+r.rules.Staking.MinStakeDuration || (t.end <= r.until) != (s.end <= r.until) || s.end <= r.until && t.end < s.end {
			continue
		}
		if r.net.P.Room(m.id, t.end) >= t.weight {
			return r.delegate(m, t, at)
		}
	}
	return nil, nil
}

func (r *primaryNetwork) delegate(m *node, s stakingPeriod, at uint64) (*primary.Tx, error) {
	owners := primary.Owner(s.who.primary.Address())
	return r.write(txDraft{chain: store.PChain, from: singleSigner(s.who), more: s.weight, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.AddPermissionlessDelegatorTx{
			BaseTx: base, Validator: primary.Validator{NodeID: m.id, End: s.end, Weight: s.weight}, SubnetID: ids.Empty,
			StakeOuts: []*primary.TransferableOutput{r.pay(s.weight, owners)}, RewardsOwner: &owners,
		}
	}}, at)
}
