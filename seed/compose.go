package seed

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// compose writes the script: everything that the people of a network do on P and X, and where value crosses to C.
func (r *primaryNetwork) compose() error {
	g := r.rng.For("script", r.rules.NetworkID)
	for i, l := range r.l1s {
		r.found(l, r.start+60+uint64(30*i))
	}
	r.script = append(r.script, scheduledTx{at: r.start + 600, chain: store.PChain, pass: true, do: func(uint64) ([]*primary.Tx, error) {
		if err := r.seal(); err != nil {
			return nil, err
		}
		r.unsigned = r.icmPlan.messages
		close(r.l1sReady)
		return nil, nil
	}})
	r.club(g)
	for i, l := range r.l1s {
		l.settle(r, i == 0, g)
	}
	r.stakers(g)
	r.issueAssets()
	r.hoard()
	r.alicePaysBob(g)
	r.sessions()
	r.journeys()
	r.fill(g)
	slices.SortStableFunc(r.script, func(a, b scheduledTx) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(r.atomicTxs, func(a, b atomicTx) int { return cmp.Compare(a.at, b.at) })
	return nil
}

// seal writes all that chains say to each other, once they have their ids.
func (r *primaryNetwork) seal() error {
	for _, l := range r.l1s {
		if err := l.seal(r.rules.NetworkID); err != nil {
			return err
		}
	}
	return r.icmPlan.seal()
}

// fill adds what ordinary people do, until there are as many transactions as the profile asks for.
func (r *primaryNetwork) fill(g *rand.Rand) {
	rest := r.plan.transactions - len(r.script) + 1 - r.rewards()
	accountTransfers := rest / 12
	r.accountTransfers(g, accountTransfers)
	rest -= 2 * accountTransfers
	from, to := time.Unix(int64(r.start), 0).UTC(), time.Unix(int64(r.until), 0).UTC()
	for i, chain := range []int{store.XChain, store.PChain} {
		size := rest * 3 / 5
		if i == 1 {
			size = rest - rest*3/5
		}
		left := size
		for _, m := range schedule(r.rng.For("errands", r.rules.NetworkID, chain), size, from, to) {
			n := min(m.size, left)
			left -= n
			r.add(chain, m.time, func(at uint64) ([]*primary.Tx, error) { return r.ordinary(chain, n, at) })
		}
	}
}

// rewards is how many stakers end before history does: each brings a transaction.
func (r *primaryNetwork) rewards() int {
	n := 0
	for _, tx := range r.genesis.Platform.Validators {
		if s, err := primary.NewStaker(tx, primary.Active); err == nil && s.Start <= r.until && s.End <= r.until {
			n++
		}
	}
	return n + r.endingPeriods
}

// club is the permissioned subnet: it has a chain, takes members, removes one, and passes from its founder to the
// committee, which then takes one more.
func (r *primaryNetwork) club(g *rand.Rand) {
	l := &l1{name: "Guild", vm: ids.ID{'g', 'u', 'i', 'l', 'd', 'v', 'm'}, genesis: []byte(`{"guild":true}`)}
	r.found(l, r.start+400)
	owner := singleSigner(r.people["deployer"])
	for i, node := range []int{removed, popular} {
		r.add(store.PChain, r.moment(30+10*i, 7), singleTx(func(at uint64) (*primary.Tx, error) { return r.admit(l, node, owner, at) }))
	}
	r.add(store.PChain, r.moment(450, 7), singleTx(func(at uint64) (*primary.Tx, error) {
		return r.write(txDraft{chain: store.PChain, from: owner, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
			return &primary.RemoveSubnetValidatorTx{BaseTx: base, NodeID: r.nodes[removed].id, SubnetID: l.subnet, SubnetAuth: &primary.Input{SigIndices: owner.indices}}
		}}, at)
	}))
	committee := r.committee()
	r.add(store.PChain, r.moment(650, 7), singleTx(func(at uint64) (*primary.Tx, error) {
		return r.write(txDraft{chain: store.PChain, from: owner, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
			return &primary.TransferSubnetOwnershipTx{BaseTx: base, SubnetID: l.subnet, SubnetAuth: &primary.Input{SigIndices: owner.indices}, Owner: &committee.owners}
		}}, at)
	}))
	r.add(store.PChain, r.moment(800, 7), singleTx(func(at uint64) (*primary.Tx, error) { return r.admit(l, active, committee, at) }))
}

func (r *primaryNetwork) admit(l *l1, node int, by signer, at uint64) (*primary.Tx, error) {
	m := r.nodes[node]
	end := max(at+r.rules.Staking.MinStakeDuration, r.until+15*day)
	return r.write(txDraft{chain: store.PChain, from: by, auth: [][]*primary.Key{by.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.AddSubnetValidatorTx{BaseTx: base, SubnetAuth: &primary.Input{SigIndices: by.indices},
			Validator: primary.SubnetValidator{Validator: primary.Validator{NodeID: m.id, End: end, Weight: 100}, SubnetID: l.subnet}}
	}}, at)
}

// hoard gives the hoarder many small outputs.
func (r *primaryNetwork) hoard() {
	to, whale := primary.Owner(r.people["hoarder"].primary.Address()), singleSigner(r.people["whale"])
	const payments, size = 4, 270
	for i := range payments {
		r.add(store.XChain, r.moment(50+200*i, 21), singleTx(func(at uint64) (*primary.Tx, error) {
			d := txDraft{chain: store.XChain, from: whale, build: plain}
			for n := range size {
				d.outs = append(d.outs, r.pay(uint64(1_000_000+1_000*n+i), to))
			}
			return r.write(d, at)
		}))
	}
}

// allowances are what alice sends bob, again and again.
func (r *primaryNetwork) alicePaysBob(g *rand.Rand) {
	alice, bob := singleSigner(r.people["alice"]), primary.Owner(r.people["bob"].primary.Address())
	for _, chain := range []int{store.PChain, store.XChain} {
		for range max(5, r.plan.transactions/50) {
			amount := uint64(between(g, 1, 900)) * nanoAVAX / 100
			r.add(chain, r.moment(int(between(g, 10, 990)), int(between(g, 0, 500))), singleTx(func(at uint64) (*primary.Tx, error) {
				return r.write(txDraft{chain: chain, from: alice, build: plain, outs: []*primary.TransferableOutput{r.pay(amount, bob)}}, at)
			}))
		}
	}
}

// sessions are the committee's payments, and what locked receives for later.
func (r *primaryNetwork) sessions() {
	committee, whale := r.committee(), singleSigner(r.people["whale"])
	locked := r.people["locked"].primary.Address()
	for _, chain := range []int{store.PChain, store.XChain} {
		for i := range 2 {
			r.add(chain, r.moment(250+300*i, 33), singleTx(func(at uint64) (*primary.Tx, error) {
				return r.write(txDraft{chain: chain, from: committee, build: plain,
					outs: []*primary.TransferableOutput{r.pay(uint64(40+i)*nanoAVAX, primary.Owner(r.people["bob"].primary.Address()))}}, at)
			}))
		}
		r.add(chain, r.moment(333, 33), singleTx(func(at uint64) (*primary.Tx, error) {
			return r.write(txDraft{chain: chain, from: whale, build: plain,
				outs: []*primary.TransferableOutput{r.pay(75*nanoAVAX, primary.NewOwners(r.until+45*day, 1, locked))}}, at)
		}))
	}
}

// ordinary is what people do every day, in n transactions of as many people.
func (r *primaryNetwork) ordinary(chain, n int, at uint64) ([]*primary.Tx, error) {
	g := r.rng.For("ordinary", r.rules.NetworkID, chain, at, n)
	var txs []*primary.Tx
	used := map[*account]bool{}
	for tries := 0; len(txs) < n && tries < 200; tries++ {
		who := r.somebody(g)
		if tries > 100 {
			who = r.people["whale"]
		}
		if used[who] {
			continue
		}
		tx, err := r.routine(chain, who, g, at)
		if err != nil {
			return nil, err
		}
		if tx != nil {
			used[who] = true
			txs = append(txs, tx)
		}
	}
	return txs, nil
}

// somebody is a payer: often alice, mostly one of the nameless.
func (r *primaryNetwork) somebody(g *rand.Rand) *account {
	switch n := g.IntN(20); {
	case n < 3:
		return r.people["alice"]
	case n == 3:
		return r.people["bob"]
	case n == 4:
		return r.people[[]string{"ewoq", "collector", "clumsy", "whale", "deployer"}[g.IntN(5)]]
	}
	return r.other(skewed(g, min(len(r.accounts), landed)))
}

// routine is one payment, on X sometimes of another asset.
func (r *primaryNetwork) routine(chain int, who *account, g *rand.Rand, at uint64) (*primary.Tx, error) {
	if chain == store.XChain && chance(g, 20) {
		if tx, err := r.trade(who, g, at); tx != nil || err != nil {
			return tx, err
		}
	}
	d := txDraft{chain: chain, from: singleSigner(who), build: plain}
	for range between(g, 1, 3) {
		to := r.other(skewed(g, len(r.accounts)))
		if chance(g, 15) {
			to = r.people[[]string{"alice", "bob", "bob", "spammed"}[g.IntN(4)]]
		}
		d.outs = append(d.outs, r.pay(uint64(between(g, 1, 4_000))*nanoAVAX/100, primary.Owner(to.primary.Address())))
	}
	return r.write(d, at)
}
