package primary

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"snowglobe/seed/population"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// txBuilder makes a transaction when it is due. It returns nil if that has become impossible.
type txBuilder func(at uint64) (*txs.Tx, error)

// scheduledBlock is a block of P or X at a time, with the transaction that build returns then. If it returns none, something everyday
// happens instead.
type scheduledBlock struct {
	at       uint64
	chain    int
	build    txBuilder
	everyday int  // so many everyday transactions, without build
	optional bool // nothing happens instead
}

func (n *Network) schedule(chain int, at uint64, build txBuilder) {
	n.script = append(n.script, scheduledBlock{at: at, chain: chain, build: build})
}

func (n *Network) scheduled(b scheduledBlock) ([]*txs.Tx, error) {
	var all []*txs.Tx
	if b.build == nil {
		var err error
		if all, err = n.everydayTxs(b.chain, b.everyday, b.at); err != nil {
			return nil, err
		}
	} else if tx, err := b.build(b.at); tx != nil || err != nil {
		return []*txs.Tx{tx}, err
	}
	if len(all) > 0 || b.optional {
		return all, nil
	}
	return n.everydayTxs(b.chain, 1, b.at)
}

// plan schedules everything that happens on P and X, and the value that moves to C.
func (n *Network) plan() {
	r := n.rng.For("script", n.rules.NetworkID)
	for i, l := range n.l1s {
		l.scheduleCreation(n.span.Start + 60 + uint64(30*i))
	}
	n.script = append(n.script, scheduledBlock{at: n.span.Start + 600, chain: store.PChain, optional: true, build: n.l1sCreated})
	(&permissionedSubnet{Network: n}).schedule()
	for i, l := range n.l1s {
		l.schedule(i == 0, r)
	}
	(&staking{n}).schedule(r)
	n.scheduleOwn()
	(&assets{n}).schedule()
	p := &payments{n}
	p.scheduleHoarder()
	p.scheduleAliceToBob(r)
	p.scheduleMultisig()
	(&transfers{n}).schedulePersonas()
	n.fill(r)
	slices.SortStableFunc(n.script, func(a, b scheduledBlock) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(n.atomicTxs, func(a, b atomicTx) int { return cmp.Compare(a.at, b.at) })
}

// l1sCreated writes all messages between chains, once the chains have their ids.
func (n *Network) l1sCreated(uint64) (*txs.Tx, error) {
	for _, l := range n.l1s {
		if err := l.writeMessages(); err != nil {
			return nil, err
		}
	}
	if err := n.ICM.writeMessages(); err != nil {
		return nil, err
	}
	close(n.l1sReady)
	return nil, nil
}

// fill adds everyday transactions, until there are as many as the profile asks for.
func (n *Network) fill(r *rand.Rand) {
	rest := n.size.Transactions - len(n.script) + 1 - n.rewards()
	moves := rest / 12
	(&transfers{n}).scheduleAccounts(r, moves)
	rest -= 2 * moves
	for i, chain := range []int{store.XChain, store.PChain} {
		size := rest * 3 / 5
		if i == 1 {
			size = rest - rest*3/5
		}
		left := size
		for _, b := range population.PlanBlocks(n.rng.For("everyday-blocks", n.rules.NetworkID, chain), size, size/population.TxsPerBlock, n.span) {
			count := min(b.Size, left)
			left -= count
			n.script = append(n.script, scheduledBlock{at: b.Time, chain: chain, everyday: count})
		}
	}
}

// rewards counts the stakers that end within history: each brings a RewardValidatorTx.
func (n *Network) rewards() int {
	count := 0
	for _, tx := range n.genesis.PChain.Validators {
		if s, err := pchain.NewStaker(tx, pchain.Active); err == nil && s.Start <= n.span.Until && s.End <= n.span.Until {
			count++
		}
	}
	return count + n.ending
}

// everydayTxs returns payments by as many senders.
func (n *Network) everydayTxs(chain, count int, at uint64) ([]*txs.Tx, error) {
	r := n.rng.For("everyday", n.rules.NetworkID, chain, at, count)
	p := &payments{n}
	var txs []*txs.Tx
	used := map[*population.Account]bool{}
	for tries := 0; len(txs) < count && tries < 200; tries++ {
		from := p.randomSender(r)
		if tries > 100 {
			from = n.personas.Whale
		}
		if used[from] {
			continue
		}
		tx, err := p.everyday(chain, from, r, at)
		if err != nil {
			return nil, err
		}
		if tx != nil {
			used[from] = true
			txs = append(txs, tx)
		}
	}
	return txs, nil
}
