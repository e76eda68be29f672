package primary

import (
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/xchain"
)

// accountsWithAVAX is the number of accounts, without personas, that have an initial balance on P and X.
const accountsWithAVAX = 400

// supplies holds the largest initial supply of AVAX, by network id.
var supplies = map[uint32]uint64{1: 455_000_000 * nanoAVAX, 5: 380_000_000 * nanoAVAX}

type genesisBuilder struct {
	*Network
	p *pchain.PChainGenesis
	x *xchain.XChainGenesis
}

// build makes the genesis. The rest of the supply goes to a treasury without a key.
func (b *genesisBuilder) build() (*primary.Genesis, error) {
	b.p = &pchain.PChainGenesis{Timestamp: b.span.Start, Message: "Snowglobe", Chains: []*txs.Tx{}}
	b.x = &xchain.XChainGenesis{ParentID: fixtures.Networks[rules.Index(b.rules.NetworkID)].Upgrades.CortinaXChainStopVertexID, Timestamp: b.span.Start,
		Assets: []*xchain.GenesisAsset{{ID: b.rules.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9}}}
	for _, p := range b.personas.Funded {
		b.grant(p.Genesis.P, p.Genesis.X, p.Account.Owner())
	}
	b.grant(200, 200, committeeSigner(b.personas).owners)
	b.grantLocked()
	b.grantOwn()
	r := b.rng.For("balances", b.rules.NetworkID)
	for i := range min(len(b.accounts), accountsWithAVAX) {
		p, x := uint64(population.Between(r, 30, 200)), uint64(population.Between(r, 30, 200))
		if i < stakingAccounts {
			p += b.stakingCapital(i)
		}
		b.grant(p, x, b.accounts[i].Owner())
	}
	if err := b.addValidators(r); err != nil {
		return nil, err
	}
	if err := b.addDelegators(r); err != nil {
		return nil, err
	}
	if err := b.sortX(); err != nil {
		return nil, err
	}
	return &primary.Genesis{PChain: b.p, XChain: b.x}, b.fillTreasury()
}

// sortX sorts an asset's outputs in the network's order.
func (b *genesisBuilder) sortX() error {
	state := &txs.InitialState{}
	for _, u := range b.x.UTXOs {
		state.Outs = append(state.Outs, u.Out)
	}
	err := txs.SortStates([]*txs.InitialState{state})
	for i, u := range b.x.UTXOs {
		u.Out = state.Outs[i]
	}
	return err
}

// grant gives amounts in AVAX on P and on X, split into several outputs when large.
func (b *genesisBuilder) grant(p, x uint64, owners txs.OutputOwners) {
	const largest = 500_000
	for ; p > 0; p -= min(p, largest) {
		b.grantP(&txs.TransferOutput{Amount: min(p, largest) * nanoAVAX, OutputOwners: owners})
	}
	for ; x > 0; x -= min(x, largest) {
		b.x.UTXOs = append(b.x.UTXOs, &txs.UTXO{
			UTXOID: txs.UTXOID{TxID: b.rules.AVAXAssetID, OutputIndex: uint32(len(b.x.UTXOs))}, AssetID: b.rules.AVAXAssetID,
			Out: &txs.TransferOutput{Amount: min(x, largest) * nanoAVAX, OutputOwners: owners},
		})
	}
}

func (b *genesisBuilder) grantP(out txs.Output) {
	b.p.UTXOs = append(b.p.UTXOs, &pchain.GenesisUTXO{Message: []byte{}, UTXO: txs.UTXO{
		UTXOID: txs.UTXOID{OutputIndex: uint32(len(b.p.UTXOs))}, AssetID: b.rules.AVAXAssetID, Out: out,
	}})
}

// grantLocked gives AVAX that is locked for a time, part of it stakeable.
func (b *genesisBuilder) grantLocked() {
	locked := b.personas.Locked
	b.grant(0, 40, locked.Owner())
	b.grant(90, 0, locked.Owner())
	for _, days := range []uint64{30, 180, 700} {
		until := b.span.Until + days*population.Day
		b.grant(100+days, 50+days, txs.NewOutputOwners(until, 1, locked.Primary.Address()))
		b.grantP(&txs.StakeableLockOut{Locktime: until,
			Output: &txs.TransferOutput{Amount: (250 + days) * nanoAVAX, OutputOwners: locked.Owner()}})
	}
}

func (b *genesisBuilder) addValidators(r *rand.Rand) error {
	for i := range b.size.genesisValidators() {
		node := b.nodes.all[i]
		s := b.genesisPeriod(i, r)
		if i < genesisRoleCount && (i != uptimeKept || node.row.Uptime == heldUptime) {
			node.row.Role = nodeRoles[i]
			node.row.Connected = node.row.Connected || i == lowUptime // reachable, but slow to respond
		}
		tx, err := txs.NewTx(txs.PChain, b.validator(node, s, i))
		if err != nil {
			return err
		}
		b.p.Validators = append(b.p.Validators, tx)
		if s.start <= b.span.Start {
			node.start, node.end = s.start, s.end
		}
	}
	return nil
}

// genesisPeriod returns the i-th validator's staking period, weight and quality.
func (b *genesisBuilder) genesisPeriod(i int, r *rand.Rand) stakingPeriod {
	node := b.nodes.all[i]
	s := stakingPeriod{who: node.owner, weight: b.stake(r), start: b.span.Start - uint64(population.Between(r, 20, 90))*population.Day - uint64(population.Between(r, 0, population.Day)),
		end: b.span.Until + uint64(population.Between(r, 20, 150))*population.Day + uint64(population.Between(r, 0, population.Day))}
	switch i {
	case popular:
		s.weight, s.end = 25*b.usualStake(s.start), b.span.Until+160*population.Day
	case full:
		s.weight, s.end = b.usualStake(s.start), b.span.Until+120*population.Day
	case expiring:
		s.end = b.span.Until + 35*60
	case lowUptime:
		node.row.Uptime, node.row.Connected = 613_000, false
	case completed:
		s.weight, s.end = 8*b.usualStake(s.start), b.span.At(420, 0)
	case refused:
		s.weight, s.end, node.row.Uptime = 3*b.usualStake(s.start), b.span.At(550, 0), 455_000
	case removed:
		s.end = b.span.Until + 100*population.Day
	case pending:
		s.start, s.end = b.span.Until+2*population.Day, b.span.Until+62*population.Day
	case active:
		s.end = b.span.Until + 140*population.Day
	case finished:
		s.who, s.weight, s.end = b.personas.Staker, 5*b.usualStake(s.start), b.span.At(610, 0)
	case running:
		s.who, s.end = b.personas.Staker, b.span.Until+90*population.Day
	case uptimeKept:
		if early, fits := b.beforeHelicon(s.start); fits {
			s.weight, s.start, s.end, node.row.Uptime = 4*b.usualStake(early), early, b.keptUntil(), heldUptime
		}
	default:
		if population.Chance(r, 25) {
			s.end = b.span.At(int(population.Between(r, 100, 950)), int(population.Between(r, 0, population.Hour)))
		}
	}
	node.owner = s.who
	return s
}

// validator returns a genesis validator. The pending one, and a few others, joined before nodes had BLS keys.
func (b *genesisBuilder) validator(n *node, s stakingPeriod, i int) txs.Unsigned {
	owners := s.who.Owner()
	v := txs.Validator{NodeID: n.id, Start: s.start, End: s.end, Weight: s.weight}
	stake := []*txs.TransferableOutput{b.wallet.output(s.weight, owners)}
	base := *b.wallet.emptyBase(store.PChain)
	shares := uint32(20_000 + 10_000*(i*7%11))
	if i == pending || i >= genesisRoleCount && i%9 == 0 {
		return &txs.AddValidatorTx{BaseTx: base, Validator: v, StakeOuts: stake, RewardsOwner: &owners, Shares: shares}
	}
	return &txs.AddPermissionlessValidatorTx{BaseTx: base, Validator: v, Signer: n.proof, StakeOuts: stake,
		ValidationOwner: &owners, DelegationOwner: &owners, DelegationShares: shares}
}

type delegation struct {
	node int
	stakingPeriod
}

// addDelegators chooses the genesis delegations: two finished ones of the persona, a pending one, and a third of all others.
func (b *genesisBuilder) addDelegators(r *rand.Rand) error {
	persona, start := b.personas.Delegator, b.span.Start-15*population.Day
	all := []delegation{
		{completed, stakingPeriod{persona, b.usualDelegation(start, r), start, b.span.At(300, 0)}},
		{active, stakingPeriod{persona, b.usualDelegation(start, r), start, b.span.At(700, 0)}},
		{active, stakingPeriod{b.account(5), b.usualDelegation(b.span.Until, r), b.span.Until + 3*population.Day, b.span.Until + 40*population.Day}},
	}
	for i := range b.size.genesisDelegators() - len(all) {
		index := popular
		if i >= popularDelegations/2 {
			index = int(population.Between(r, active, int64(b.size.genesisValidators())-1))
		}
		node := b.nodes.all[index]
		end := node.end - min(uint64(population.Between(r, 0, 6*population.Day)), node.end/2)
		if node.end < b.span.Until {
			end = node.end
		}
		all = append(all, delegation{index, stakingPeriod{b.account(i), b.usualDelegation(start, r), start, end}})
	}
	made := map[ids.ID]bool{}
	for _, d := range all {
		tx, err := b.delegator(d)
		// Genesis transactions spend nothing, so two equal delegations would be one transaction, whose outputs come twice.
		for ; err == nil && made[tx.ID()]; tx, err = b.delegator(d) {
			d.end--
		}
		if err != nil {
			return err
		}
		made[tx.ID()] = true
		b.p.Validators = append(b.p.Validators, tx)
	}
	return nil
}

func (b *genesisBuilder) delegator(d delegation) (*txs.Tx, error) {
	owners := d.who.Owner()
	return txs.NewTx(txs.PChain, &txs.AddDelegatorTx{
		BaseTx: *b.wallet.emptyBase(store.PChain), Validator: txs.Validator{NodeID: b.nodes.all[d.node].id, Start: d.start, End: d.end, Weight: d.weight},
		StakeOuts: []*txs.TransferableOutput{b.wallet.output(d.weight, owners)}, RewardsOwner: &owners,
	})
}

// fillTreasury sets the supply, and gives the rest to an address without a key. The supply is the real network's, or less if too little of
// that would be staked: a validator weighs at most three million AVAX, so a small world's few could not stake the usual share.
func (b *genesisBuilder) fillTreasury() error {
	owned, outlasting := b.onC, uint64(0)
	for _, u := range b.p.UTXOs {
		owned += u.Amount()
	}
	for _, u := range b.x.UTXOs {
		owned += u.Amount()
	}
	for _, tx := range b.p.Validators {
		s, err := pchain.NewStaker(tx, pchain.Active)
		if err != nil {
			return err
		}
		owned += s.Weight
		if s.Start <= b.span.Start && s.End > b.span.Until {
			outlasting += s.Weight
		}
	}
	for i := range b.joiners() {
		if s := b.joining(i); s.end > b.span.Until {
			outlasting += s.weight
		}
	}
	b.p.InitialSupply = max(min(supplies[b.rules.NetworkID], outlasting*100/stakedPercent), owned+owned/50)
	b.grantP(&txs.TransferOutput{Amount: b.p.InitialSupply - owned, OutputOwners: txs.NewOwner(ids.ShortID(evm.Treasury(uint64(b.rules.NetworkID))))})
	return nil
}
