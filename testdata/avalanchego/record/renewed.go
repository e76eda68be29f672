package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/fx"
	"github.com/ava-labs/avalanchego/vms/platformvm/signer"
	"github.com/ava-labs/avalanchego/vms/platformvm/stakeable"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	pblock "github.com/ava-labs/avalanchego/vms/platformvm/block"
)

// Nodes of auto-renewed validators.
const (
	steadyNode   = 4 // restakes a part, has delegators
	pairNode     = 5 // restakes everything, its authority is two keys
	returnedNode = 6 // left after a cycle and came back
	largestNode  = 7 // reaches the greatest stake
	offlineNode  = 8 // lost its second cycle
)

// renew has validators renew themselves for 45 days: some restake, one leaves and returns, one fails its uptime, one grows to the limit.
func (p *pchain) renew() error {
	at := p.start + 60
	p.vm.Clk.Set(time.Unix(at, 0))
	large := p.addRenewed(largestNode, 2_999_970*units.Avax, 16*day, 1_000_000)
	large.Ins, large.Outs = []*avax.TransferableInput{p.special(5)}, []*avax.TransferableOutput{p.output(30*units.Avax - fee)}
	large.Ins[0].In.(*secp256k1fx.TransferInput).Amt = 3 * units.MegaAvax
	p.spent-- // addRenewed took a plain output, too
	pair := p.addRenewed(pairNode, 2000*units.Avax, 10*day, 1_000_000)
	pair.ValidatorAuthority = ptr(p.two())
	all := []txs.UnsignedTx{
		p.addRenewed(steadyNode, 4000*units.Avax, 16*day, 300_000), pair, p.addRenewed(returnedNode, 2000*units.Avax, 5*day, 0), large,
		p.addRenewed(offlineNode, 3000*units.Avax, 6*day, 500_000),
	}
	made, err := p.accept(at, all...)
	if err != nil {
		return err
	}
	for _, tx := range made {
		u := tx.Unsigned.(*txs.AddAutoRenewedValidatorTx)
		p.renewed[u.NodeID()[19]] = tx.ID()
	}
	p.earlier = p.renewed[returnedNode]
	at += 60
	_, err = p.accept(at, p.delegator(steadyNode, 1000*units.Avax, 14*day), p.delegator(largestNode, 30*units.Avax, 14*day),
		p.configure(returnedNode, 0, 0), p.configure(pairNode, 11*day, 400_000))
	if err != nil {
		return err
	}
	if err := p.reward(p.start + 20*day); err != nil {
		return err
	}
	at = p.start + 20*day
	p.vm.Clk.Set(time.Unix(at-60, 0))
	made, err = p.accept(at, p.addRenewed(returnedNode, 2500*units.Avax, 14*day, 100_000))
	if err != nil {
		return err
	}
	p.renewed[returnedNode] = made[0].ID()
	return p.reward(now - day)
}

func (p *pchain) addRenewed(node byte, weight uint64, period uint64, shares uint32) *txs.AddAutoRenewedValidatorTx {
	id := nodeID(node)
	return &txs.AddAutoRenewedValidatorTx{
		BaseTx: p.base(weight), ValidatorNodeID: id[:], Signer: p.proof(node), StakeOuts: []*avax.TransferableOutput{p.output(weight)},
		ValidatorRewardsOwner: ptr(p.owner), DelegatorRewardsOwner: ptr(p.owner), ValidatorAuthority: ptr(p.owner),
		DelegationShares: 20_000, AutoCompoundRewardShares: shares, Period: period,
	}
}

func (p *pchain) configure(node byte, period uint64, shares uint32) *txs.SetAutoRenewedValidatorConfigTx {
	indices := []uint32{0}
	if node == pairNode {
		indices = []uint32{0, 1}
	}
	return &txs.SetAutoRenewedValidatorConfigTx{
		BaseTx: p.base(0), TxID: p.renewed[node], Auth: &secp256k1fx.Input{SigIndices: indices}, Period: period, AutoCompoundRewardShares: shares,
	}
}

// reward ends every stake and cycle whose time comes until then. The second cycle of one validator is lost.
func (p *pchain) reward(until int64) error {
	for {
		stakers, err := p.state.GetCurrentStakerIterator()
		if err != nil {
			return err
		}
		if !stakers.Next() {
			stakers.Release()
			return nil
		}
		next := stakers.Value()
		stakers.Release()
		if next.EndTime.Unix() > until {
			return nil
		}
		added, _, err := p.state.GetTx(next.TxID)
		if err != nil {
			return err
		}
		tx := &txs.Tx{Unsigned: &txs.RewardValidatorTx{TxID: next.TxID}}
		if _, renews := added.Unsigned.(*txs.AddAutoRenewedValidatorTx); renews {
			tx.Unsigned = &txs.RewardAutoRenewedValidatorTx{TxID: next.TxID, Timestamp: uint64(next.EndTime.Unix())}
		}
		if err := tx.Initialize(txs.Codec); err != nil {
			return err
		}
		lost := next.TxID == p.renewed[offlineNode] && next.StartTime.Unix() > p.start+day
		if err := p.propose(tx, next.EndTime, lost); err != nil {
			return fmt.Errorf("%T of %s: %w", tx.Unsigned, next.NodeID, err)
		}
	}
}

// propose takes a proposal, and that its stake earns its reward or does not.
func (p *pchain) propose(tx *txs.Tx, at time.Time, lost bool) error {
	p.vm.Clk.Set(at)
	last, err := p.state.GetStatelessBlock(p.state.GetLastAccepted())
	if err != nil {
		return err
	}
	proposal, err := pblock.NewBanffProposalBlock(at, last.ID(), last.Height()+1, tx, nil)
	if err != nil {
		return err
	}
	if err := p.take(proposal); err != nil {
		return err
	}
	var option pblock.Block
	if lost {
		option, err = pblock.NewBanffAbortBlock(at, proposal.ID(), last.Height()+2)
	} else {
		option, err = pblock.NewBanffCommitBlock(at, proposal.ID(), last.Height()+2)
	}
	if err != nil {
		return err
	}
	return p.take(option)
}

// shortest is how long a validator must validate at least, in seconds.
func (p *pchain) shortest() uint64 {
	return uint64(p.internal.HeliconMinStakeDuration / time.Second)
}

// buildRenewed makes one of the transactions that are new, or that have other bounds, since Helicon.
func (p *pchain) buildRenewed() txs.UnsignedTx {
	switch p.random.IntN(9) {
	case 0, 1, 2:
		return p.addRenewed(3, 2500*units.Avax, p.shortest()+uint64(p.random.IntN(360))*day, uint32(p.random.IntN(5))*250_000)
	case 3, 4, 5:
		node := []byte{steadyNode, pairNode, returnedNode, largestNode}[p.random.IntN(4)]
		return p.configure(node, []uint64{0, p.shortest(), 20 * day, 365 * day}[p.random.IntN(4)], uint32(p.random.IntN(5))*250_000)
	case 6:
		return p.validator(3, 2500*units.Avax, int64(p.shortest())+int64(p.random.IntN(20))*day-60)
	case 7:
		return p.delegator([]byte{1, pairNode, returnedNode}[p.random.IntN(3)], 30*units.Avax, 14*day-60)
	}
	return p.build()
}

// restakes changes the stake to an amount, at the expense of the change.
func restakes(p *pchain, u *txs.AddAutoRenewedValidatorTx, amount uint64) {
	stakes(p, &txs.Validator{}, &u.StakeOuts, &u.BaseTx.BaseTx, amount)
}

var renewedFaults = []pFault{
	in(func(_ *pchain, u *txs.AddAutoRenewedValidatorTx) { u.StakeOuts = nil }),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.DelegationShares = []uint32{19_999, 20_000, 1_000_000, 1_000_001, 0}[p.random.IntN(5)]
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.AutoCompoundRewardShares = []uint32{1, 1_000_000, 1_000_001, math.MaxUint32}[p.random.IntN(4)]
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) { u.Period = p.periods()[p.random.IntN(9)] }),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.ValidatorNodeID = [][]byte{nil, make([]byte, 19), make([]byte, 20), make([]byte, 21), {19: 1}, {19: steadyNode}, {19: offlineNode}, {19: 10}}[p.random.IntN(8)]
	}),
	in(func(_ *pchain, u *txs.AddAutoRenewedValidatorTx) { u.Signer = &signer.Empty{} }),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		proof := p.proof(3)
		proof.ProofOfPossession = p.proof(9).ProofOfPossession
		u.Signer = proof
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		proof := p.proof(3)
		proof.ProofOfPossession[3] ^= 1
		u.Signer = proof
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) { u.Signer = p.proof(steadyNode) }), // the key of another
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		owner := [][]ids.ShortID{nil, {p.keys[0].Address(), p.keys[0].Address()}}[p.random.IntN(2)]
		*[]*fx.Owner{&u.ValidatorRewardsOwner, &u.DelegatorRewardsOwner, &u.ValidatorAuthority}[p.random.IntN(3)] = &secp256k1fx.OutputOwners{Threshold: 1, Addrs: owner}
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) { u.ValidatorAuthority = &secp256k1fx.OutputOwners{} }),
	in(func(_ *pchain, u *txs.AddAutoRenewedValidatorTx) {
		for _, out := range u.StakeOuts {
			out.Asset.ID = ids.ID{0xa1}
		}
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.StakeOuts = []*avax.TransferableOutput{p.output(2), p.output(math.MaxUint64 - uint64(p.random.IntN(3)))}
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.StakeOuts = []*avax.TransferableOutput{p.output(1500 * units.Avax), p.output(1000 * units.Avax)}
		if p.random.IntN(2) == 0 {
			slices.Reverse(u.StakeOuts)
		}
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.StakeOuts = append(u.StakeOuts, &avax.TransferableOutput{Asset: avax.Asset{ID: ids.ID{0xff}}, Out: p.output(1).Out})
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		for _, out := range u.StakeOuts {
			out.Out = &stakeable.LockOut{Locktime: now + 40*day, TransferableOut: pAmount(out)}
		}
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		restakes(p, u, p.internal.MinValidatorStake-uint64(p.random.IntN(2)))
	}),
	in(func(p *pchain, u *txs.AddAutoRenewedValidatorTx) {
		u.StakeOuts = []*avax.TransferableOutput{p.output(p.internal.MaxValidatorStake + uint64(p.random.IntN(2)))}
	}),
	in(func(p *pchain, u *txs.SetAutoRenewedValidatorConfigTx) {
		u.TxID = []ids.ID{{}, {0x77}, p.l1, p.chain, p.renewed[offlineNode], p.earlier}[p.random.IntN(6)]
	}),
	in(func(p *pchain, u *txs.SetAutoRenewedValidatorConfigTx) {
		u.AutoCompoundRewardShares = []uint32{1, 1_000_000, 1_000_001, math.MaxUint32}[p.random.IntN(4)]
	}),
	in(func(p *pchain, u *txs.SetAutoRenewedValidatorConfigTx) { u.Period = p.periods()[p.random.IntN(9)] }),
	in(func(p *pchain, u *txs.SetAutoRenewedValidatorConfigTx) {
		u.Auth = &secp256k1fx.Input{SigIndices: [][]uint32{{0}, {1}, {0, 1}, {1, 0}, {}}[p.random.IntN(5)]}
	}),
	in(func(p *pchain, u *txs.AddPermissionlessValidatorTx) {
		u.End = now + p.periods()[p.random.IntN(8)]
	}),
	in(func(p *pchain, u *txs.AddPermissionlessDelegatorTx) {
		u.End = now + uint64(p.internal.MinStakeDuration/time.Second) - uint64(p.random.IntN(2))
	}),
	in(func(p *pchain, u *txs.AddPermissionlessDelegatorTx) { // to the end of a cycle, and longer
		node := []byte{steadyNode, pairNode, returnedNode}[p.random.IntN(3)]
		if v, err := p.state.GetCurrentValidator(constants.PrimaryNetworkID, nodeID(node)); err == nil { // there is none before Helicon
			u.Validator.NodeID, u.End = nodeID(node), uint64(v.EndTime.Unix())+uint64(p.random.IntN(2))
		}
	}),
}

// periods are at the bounds of how long a cycle may last, in seconds.
func (p *pchain) periods() []uint64 {
	longest := uint64(p.internal.MaxStakeDuration / time.Second)
	return []uint64{p.shortest() - 1, p.shortest(), p.shortest() + 1, 14*day - 1, longest, longest + 1, 1, 0, math.MaxUint64}
}

// renewedChain is a chain with the network and the activation that it has, and what there is after its blocks.
type renewedChain struct {
	Network    uint32 `json:"network"`
	Activation int64  `json:"activation"` // of Helicon
	*judgedChain
	Supply  uint64              `json:"supply"`
	Stakers []staker            `json:"stakers"` // of the primary network, in the order in which they end
	Rewards map[string][]string `json:"rewards"` // UTXOs by the transaction whose they are
}

// staker is someone who stakes now.
type staker struct {
	TxID      ids.ID     `json:"txID"`
	NodeID    ids.NodeID `json:"nodeID"`
	Start     int64      `json:"start"`
	End       int64      `json:"end"`
	Weight    uint64     `json:"weight"`
	Potential uint64     `json:"potentialReward"`
	Delegatee uint64     `json:"delegateeReward"` // this and what follows only of validators

	AccruedValidation uint64 `json:"accruedValidationRewards"`
	AccruedDelegatee  uint64 `json:"accruedDelegateeRewards"`
	Shares            uint32 `json:"autoCompoundRewardShares"`
	NextPeriod        uint64 `json:"nextPeriod"`
}

// recordRenewed writes P-Chains of both networks after and before Helicon, with transactions of all types with no, one or two mistakes.
func recordRenewed(w io.Writer) error {
	var all []*renewedChain
	for _, of := range []struct {
		network    uint32
		activation int64
	}{{constants.MainnetID, now - 50*day}, {constants.FujiID, now - 50*day}, {constants.MainnetID, now + 1}} {
		c, err := renewedOf(of.network, of.activation)
		if err != nil {
			return fmt.Errorf("network %d: %w", of.network, err)
		}
		all = append(all, c)
	}
	return pack(w, all)
}

func renewedOf(network uint32, activation int64) (*renewedChain, error) {
	p, err := newPChain(network, time.Unix(activation, 0))
	if err != nil {
		return nil, err
	}
	c := &renewedChain{Network: network, Activation: activation, Rewards: map[string][]string{}}
	if c.judgedChain, err = p.record(); err != nil {
		return nil, err
	}
	if err := c.remember(p); err != nil {
		return nil, err
	}
	for i := range 60 {
		if err := c.add(p, p.buildRenewed(), i >= 40); err != nil {
			return nil, err
		}
	}
	for _, u := range []txs.UnsignedTx{
		&txs.RewardAutoRenewedValidatorTx{TxID: ids.ID{1}, Timestamp: now}, &txs.RewardAutoRenewedValidatorTx{}, &txs.RewardValidatorTx{TxID: ids.ID{1}},
	} {
		if err := c.add(p, u, false); err != nil {
			return nil, err
		}
	}
	if err := c.addSizes(p); err != nil {
		return nil, err
	}
	for i, first := range append(slices.Clone(renewedFaults), pFaults...) {
		times := 14
		if i >= len(renewedFaults) {
			times = 4
		}
		for nth := range times {
			u := p.buildRenewed()
			for !first(p, u) {
				u = p.buildRenewed()
			}
			if nth%7 > 3 {
				for !renewedFaults[p.random.IntN(len(renewedFaults))](p, u) {
				}
			}
			if err := c.add(p, u, nth%7 == 6); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// addSizes adds transactions of just what fitted before Helicon, and larger ones.
func (c *renewedChain) addSizes(p *pchain) error {
	const before = 256 * units.KiB
	for _, size := range []int{before, before + 1, 2 * before, 1 << 20} {
		u := p.createChain(p.permissioned)
		tx, err := p.signed(u, false)
		if err != nil {
			return err
		}
		u.GenesisData = make([]byte, size-len(tx.Bytes())+len(u.GenesisData))
		if err := c.add(p, u, false); err != nil {
			return err
		}
	}
	return nil
}

// remember notes the state after the blocks.
func (c *renewedChain) remember(p *pchain) (err error) {
	if c.Supply, err = p.state.GetCurrentSupply(constants.PrimaryNetworkID); err != nil {
		return err
	}
	all, err := p.state.GetCurrentStakerIterator()
	if err != nil {
		return err
	}
	defer all.Release()
	for all.Next() {
		s := all.Value()
		if s.SubnetID != constants.PrimaryNetworkID {
			continue
		}
		one := staker{
			TxID: s.TxID, NodeID: s.NodeID, Start: s.StartTime.Unix(), End: s.EndTime.Unix(), Weight: s.Weight, Potential: s.PotentialReward,
		}
		if s.Priority.IsCurrentValidator() {
			more, err := p.state.GetStakingInfo(s.SubnetID, s.NodeID)
			if err != nil {
				return err
			}
			one.Delegatee, one.AccruedValidation, one.AccruedDelegatee = more.DelegateeReward, more.AccruedValidationRewards, more.AccruedDelegateeRewards
			one.Shares, one.NextPeriod = more.AutoCompoundRewardShares, more.NextPeriod
		}
		c.Stakers = append(c.Stakers, one)
	}
	return c.rememberRewards(p)
}

func (c *renewedChain) rememberRewards(p *pchain) error {
	for _, text := range p.blocks {
		raw, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		b, err := pblock.Parse(pblock.Codec, raw)
		if err != nil {
			return err
		}
		for _, tx := range b.Txs() {
			id := tx.ID() // of the end of a cycle
			if over, ok := tx.Unsigned.(*txs.RewardValidatorTx); ok {
				id = over.TxID
			}
			rewards, err := p.state.GetRewardUTXOs(id)
			if err != nil {
				return err
			}
			if len(rewards) == 0 {
				continue
			}
			c.Rewards[id.String()] = nil
			for _, u := range rewards {
				raw, err := txs.Codec.Marshal(txs.CodecVersion, u)
				if err != nil {
					return err
				}
				c.Rewards[id.String()] = append(c.Rewards[id.String()], hex.EncodeToString(raw))
			}
		}
	}
	return nil
}
