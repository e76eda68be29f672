package primary

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// Residents keeps the accounts on the P- and X-Chain of an open world's network active. Their actions at a time follow from the seed, the
// time and the chains' present state.
type Residents struct {
	*Network
	live    *sim.Network
	runners []runner                            // of validators of the primary network, by node
	byOwner map[ids.ShortID]*population.Account // everybody
	roles   map[ids.NodeID]bool                 // nodes in a situation that must last
}

// runner operates a node that validates the primary network.
type runner struct {
	*node
	weight uint64
}

// stays lists the roles of nodes that validate on and on. Nodes that end, are removed or run out of balance must stay so.
var stays = []string{"", nodeRoles[popular], nodeRoles[full], nodeRoles[active], nodeRoles[running],
	nodeRoles[genesisRoleCount+shortStake], nodeRoles[genesisRoleCount+restaking], nodeRoles[genesisRoleCount+autoRenewed]}

// NewResidents returns the residents of a world's network.
func NewResidents(ctx context.Context, g population.RNG, live *sim.Network, size Size, personas *population.Personas, accounts []*population.Account) (*Residents, error) {
	n := &Residents{live: live, byOwner: map[ids.ShortID]*population.Account{}, roles: map[ids.NodeID]bool{}, Network: &Network{
		rng: g, rules: live.Rules, personas: personas, accounts: accounts, size: size, wallet: &wallet{rules: live.Rules, utxos: utxoSet{}},
		assetIDs: map[string]ids.ID{},
	}}
	for _, a := range accounts {
		n.byOwner[a.Primary.Address()] = a
	}
	for i, p := range personas.Funded {
		if i < 2*fixtures.MnemonicAccounts { // clients send for them, and would find their outputs spent
			continue
		}
		n.byOwner[p.Account.Primary.Address()] = p.Account
	}
	nodes, err := live.DB.Nodes(ctx, live.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	known := map[ids.NodeID]*store.Node{}
	for i := range nodes {
		id := ids.NodeID(nodes[i].Node)
		known[id] = &nodes[i]
		n.roles[id] = !slices.Contains(stays, nodes[i].Role)
	}
	stakers, err := live.DB.Stakers(ctx, live.Chain(txs.PChain))
	for i := range stakers {
		s := &stakers[i]
		id := ids.NodeID(s.Node)
		if row := known[id]; row != nil && !s.Delegator && ids.ID(s.Subnet) == ids.Empty && s.BLS != nil {
			n.addRunner(id, row, s)
		}
	}
	return n, err
}

// addRunner adds a node's operator, once per node.
func (n *Residents) addRunner(id ids.NodeID, row *store.Node, s *store.Staker) {
	if slices.ContainsFunc(n.runners, func(r runner) bool { return r.id == id }) {
		return
	}
	owner := n.personas.Ewoq
	if o := store.ParseOutputOwners(s.Owner); len(o.Addresses) == 1 {
		if a := n.byOwner[ids.ShortID(o.Addresses[0])]; a != nil {
			owner = a
		}
	}
	n.runners = append(n.runners, runner{&node{row: *row, id: id, bls: warp.NewSecretKey([32]byte(row.Secret)), owner: owner}, uint64(s.Weight)})
}

// load loads an account's spendable outputs into the wallet.
func (n *Residents) load(ctx context.Context, who *population.Account) error {
	clear(n.wallet.utxos)
	address := who.Primary.Address()
	for _, chain := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		rows, err := n.live.DB.UnspentUTXOsOfAddress(ctx, address[:], n.live.Chain(chain))
		if err != nil {
			return err
		}
		for i := range rows {
			source := n.live.Kind(rows[i].ID.Chain())
			u, err := txs.ParseUTXO(source, rows[i].Bytes())
			if err != nil {
				return err
			}
			n.wallet.utxos.add(int(chain), int(source), u)
		}
	}
	return nil
}

// Act lets a resident act on the P-Chain or the X-Chain, or move AVAX between there and the C-Chain, at a time in Unix seconds, which must be
// the world clock's.
func (n *Residents) Act(ctx context.Context, chain txs.Chain, at uint64) error {
	r := n.rng.For("resident", n.rules.NetworkID, int(chain), at)
	if chain == txs.CChain {
		return n.live.IssueNextC(ctx, func(net *primary.Network, p *evm.BlockExecution) (*txs.Tx, error) {
			n.net, n.wallet.net = net, net
			return n.moveOnC(ctx, p, r)
		})
	}
	return n.live.IssueNext(ctx, chain, func(net *primary.Network, at uint64) (*txs.Tx, error) {
		n.net, n.wallet.net = net, net
		if chain == txs.PChain {
			if tx, err := n.stakeOrPay(ctx, r, at); tx != nil || err != nil {
				return tx, err
			}
		}
		return n.move(ctx, int(chain), r, at)
	})
}

// Frequencies of actions about validators on the P-Chain, in percent.
const (
	renews    = 40 // after a validation has ended
	delegates = 25
	topsUp    = 10
)

// stakeOrPay acts on a validator. It returns nil if it is too early or no one can.
func (n *Residents) stakeOrPay(ctx context.Context, r *rand.Rand, at uint64) (*txs.Tx, error) {
	if population.Chance(r, renews) {
		if tx, err := n.renew(ctx, r, at); tx != nil || err != nil {
			return tx, err
		}
	}
	switch draw := r.IntN(100); {
	case draw < delegates:
		return n.delegateSomewhere(ctx, r, at)
	case draw < delegates+topsUp:
		return n.topUp(ctx, at)
	}
	return nil, nil
}

const longestStake = 60 // days

// periodOf draws a staking period of so many seconds or more.
func periodOf(shortest uint64, r *rand.Rand) uint64 {
	return shortest + population.Hour + uint64(population.Between(r, 0, longestStake*population.Day))
}

// renew lets a node validate again after its period ended.
func (n *Residents) renew(ctx context.Context, r *rand.Rand, at uint64) (*txs.Tx, error) {
	var over []*runner
	for i := range n.runners {
		if _, validates := n.net.P.Validator(ids.Empty, n.runners[i].id); !validates && !n.roles[n.runners[i].id] {
			over = append(over, &n.runners[i])
		}
	}
	if len(over) == 0 {
		return nil, nil
	}
	back := over[r.IntN(len(over))]
	if back.proof == nil {
		proof, err := txs.NewProofOfPossession(back.bls)
		if err != nil {
			return nil, err
		}
		back.proof = proof
	}
	end, again := at+periodOf(n.shortestValidation(at), r), n.usualRenewal(at, r)
	for _, s := range []stakingPeriod{
		{who: back.owner, weight: back.weight, end: end}, {who: back.owner, weight: n.usualStake(at), end: end}, {who: n.personas.Ewoq, weight: n.usualStake(at), end: end},
	} {
		if err := n.load(ctx, s.who); err != nil {
			return nil, err
		}
		validating := *back.node // its owner stays its operator
		if tx, err := (&staking{n.Network}).validate(&validating, joinerStake{stakingPeriod: s, renewal: again}, at); tx != nil || err != nil {
			return tx, err
		}
	}
	return nil, nil
}

// delegateSomewhere delegates to a validator that has enough room and time for it.
func (n *Residents) delegateSomewhere(ctx context.Context, r *rand.Rand, at uint64) (*txs.Tx, error) {
	s := stakingPeriod{who: n.account(int(population.Between(r, 0, stakingAccounts-1))), weight: n.usualDelegation(at, r), end: at + periodOf(n.shortestDelegation(at), r)}
	first := r.IntN(max(len(n.runners), 1))
	for i := range n.runners {
		to := n.runners[(first+i)%len(n.runners)]
		v, validates := n.net.P.Validator(ids.Empty, to.id)
		if !validates || n.roles[to.id] || v.Start > at || v.End < at+n.shortestDelegation(at) {
			continue
		}
		s.end = min(s.end, v.End)
		if n.net.P.RemainingDelegation(to.id, s.end) < s.weight {
			continue
		}
		if err := n.load(ctx, s.who); err != nil {
			return nil, err
		}
		return (&staking{n.Network}).delegate(to.node, s, at)
	}
	return nil, nil
}

const (
	lowBalance = 14 * population.Day // L1 validators whose balance lasts less than so many seconds
	topUpDays  = 45                  // get more, for so long
)

// topUp pays for the L1 validator that will run out of balance first, if that is soon.
func (n *Residents) topUp(ctx context.Context, at uint64) (*txs.Tx, error) {
	chain := n.live.Chain(txs.PChain)
	all, err := n.live.DB.L1Validators(ctx, chain, n.net.P.Height())
	if err != nil {
		return nil, err
	}
	_, accrued := n.net.P.ValidatorFees()
	price := uint64(n.rules.ValidatorFees.MinPrice)
	var first *store.L1ValidatorView
	for i := range all {
		v := &all[i]
		if left := v.Balance(store.Amount(accrued)); v.Weight > 0 && left > 0 && left < lowBalance*price && !n.roles[ids.NodeID(v.Node)] &&
			(first == nil || v.EndAccumulatedFee < first.EndAccumulatedFee) {
			first = v
		}
	}
	if first == nil {
		return nil, nil
	}
	if err := n.load(ctx, n.personas.Ewoq); err != nil {
		return nil, err
	}
	amount := topUpDays * population.Day * price
	return n.wallet.sign(txDraft{chain: store.PChain, from: singleSigner(n.personas.Ewoq), more: amount,
		tx: &txs.IncreaseL1ValidatorBalanceTx{ValidationID: ids.ID(first.Validation), Balance: amount}}, at)
}

const (
	exports = 12 // percent of actions move AVAX to another chain,
	imports = 60 // and so many percent of those with some on the way import it
)

// move moves value: within the chain, to another one, or from there.
func (n *Residents) move(ctx context.Context, chain int, r *rand.Rand, at uint64) (*txs.Tx, error) {
	for tries := range 4 {
		from := n.sender(r)
		if tries == 3 {
			from = n.personas.Ewoq
		}
		if err := n.load(ctx, from); err != nil {
			return nil, err
		}
		tx, err := n.moveFrom(from, chain, r, at)
		if tx != nil || err != nil {
			return tx, err
		}
	}
	return nil, nil
}

func (n *Residents) moveFrom(from *population.Account, chain int, r *rand.Rand, at uint64) (*txs.Tx, error) {
	others, signer := otherChains(chain, r), singleSigner(from)
	draw := r.IntN(100)
	for _, other := range others {
		if draw < imports && len(n.wallet.utxos[n.wallet.avax(chain, other, signer)]) > 0 {
			return n.wallet.importTx(chain, other, signer, at)
		}
	}
	if draw >= 100-exports {
		return n.wallet.exportTx(chain, others[0], signer, signer.owners, n.usualTransfer(r), at)
	}
	return (&payments{n.Network}).everyday(chain, from, r, at)
}

// sender returns an account that is not a persona, because clients use the accounts of the mnemonic.
func (n *Residents) sender(r *rand.Rand) *population.Account {
	return n.account(population.Skewed(r, min(len(n.accounts), accountsWithAVAX)))
}

// moveOnC imports AVAX that is on the way to the C-Chain, or exports AVAX from there.
func (n *Residents) moveOnC(ctx context.Context, p *evm.BlockExecution, r *rand.Rand) (*txs.Tx, error) {
	moves := &transfers{n.Network}
	for _, from := range otherChains(store.CChain, r) {
		who := n.importer(from, r)
		if who == nil || !population.Chance(r, imports) {
			continue
		}
		if err := n.load(ctx, who); err != nil {
			return nil, err
		}
		if tx, err := moves.importToC(p, &crossChainTransfer{who: who, from: from}); tx != nil || err != nil {
			return tx, err
		}
	}
	for tries := range 4 {
		who := n.sender(r)
		if tries == 3 {
			who = n.personas.Ewoq
		}
		to := otherChains(store.CChain, r)[0]
		if tx, err := moves.exportFromC(p, &crossChainTransfer{who: who, to: to, amount: n.usualTransfer(r)}); tx != nil || err != nil {
			return tx, err
		}
	}
	return nil, nil
}

// importer returns an account with AVAX on the way from a chain to the C-Chain, or nil. The traveller's must stay there.
func (n *Residents) importer(from int, r *rand.Rand) *population.Account {
	var who []*population.Account
	for _, u := range n.net.Exported(codecOf(from), txs.CChain) {
		owners := u.Owners()
		if a := n.byOwner[owners.Addresses[0]]; len(owners.Addresses) == 1 && a != nil && a != n.personas.Traveller {
			who = append(who, a)
		}
	}
	if len(who) == 0 {
		return nil
	}
	return who[r.IntN(len(who))]
}

// otherChains returns the chains to and from which AVAX moves, in a drawn order.
func otherChains(chain int, r *rand.Rand) []int {
	all := slices.DeleteFunc([]int{store.PChain, store.XChain, store.CChain}, func(other int) bool { return other == chain })
	if r.IntN(2) == 1 {
		slices.Reverse(all)
	}
	return all
}

// usualTransfer returns the amount of a transfer to another chain, in nAVAX.
func (n *Residents) usualTransfer(r *rand.Rand) uint64 {
	return uint64(population.Between(r, 5, 50)) * nanoAVAX / 10
}
