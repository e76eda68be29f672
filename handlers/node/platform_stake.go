package node

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// StakeArgs ask for what some addresses stake.
type StakeArgs struct {
	Addresses      []string `json:"addresses"`
	ValidatorsOnly bool     `json:"validatorsOnly"`
	Encoding       Encoding `json:"encoding"`
}

// StakeReply is what some addresses stake.
type StakeReply struct {
	Staked   Uint64            `json:"staked"`
	Stakeds  map[ids.ID]Uint64 `json:"stakeds"`
	Outputs  []string          `json:"stakedOutputs"`
	Encoding Encoding          `json:"encoding"`
}

// maxStakeAddresses bounds getStake.
const maxStakeAddresses = 256

// GetStake answers what some addresses stake on the primary network, now or once their time begins.
func (a *platformAPI) GetStake(r *http.Request, args *StakeArgs, reply *StakeReply) error {
	if n := len(args.Addresses); n > maxStakeAddresses {
		return fmt.Errorf("%d addresses provided but this method can take at most %d", n, maxStakeAddresses)
	}
	owners, err := a.addresses(args.Addresses)
	if err != nil {
		return err
	}
	staking, err := a.stakedBy(r, owners, args.ValidatorsOnly)
	if err != nil {
		return err
	}
	reply.Stakeds, reply.Outputs, reply.Encoding = map[ids.ID]Uint64{}, []string{}, args.Encoding
	for _, out := range staking {
		held := &primary.UTXO{AssetID: out.AssetID, Out: out.Out}
		if !slices.ContainsFunc(held.Owners().Addresses, func(o ids.ShortID) bool { return slices.Contains(owners, o) }) {
			continue
		}
		raw, err := primary.OutputBytes(primary.PChain, out)
		if err != nil {
			return err
		}
		text, err := formatting.Encode(args.Encoding, raw)
		if err != nil {
			return fmt.Errorf("couldn't encode output %s as %s: %w", ids.Empty, args.Encoding, err)
		}
		reply.Outputs = append(reply.Outputs, text)
		reply.Stakeds[out.AssetID] += Uint64(held.Amount())
	}
	reply.Staked = reply.Stakeds[a.Rules.AVAXAssetID]
	return nil
}

// stakedBy are the outputs that the stakers lock whose transactions touched some addresses: who stakes first, then who
// waits to.
func (a *platformAPI) stakedBy(r *http.Request, owners []ids.ShortID, validatorsOnly bool) ([]*primary.TransferableOutput, error) {
	touched, err := a.touched(r, owners)
	if err != nil {
		return nil, err
	}
	var outs []*primary.TransferableOutput
	for _, held := range []func(*store.Staker) bool{a.holds, a.awaits} {
		rows, err := a.stakers(r, &ValidatorsArgs{}, held)
		if err != nil {
			return nil, err
		}
		for _, s := range rows {
			if !touched[s.ID] || validatorsOnly && s.Delegator {
				continue
			}
			stake, err := a.stake(r, s.ID)
			if err != nil {
				return nil, err
			}
			outs = append(outs, stake...)
		}
	}
	return outs, nil
}

// holds tells whether a stake began and was not returned: that takes a block, which may come after the stake's end.
func (a *platformAPI) holds(s *store.Staker) bool { return s.Ended == nil && !a.awaits(s) }

// awaits tells whether a stake waits to begin.
func (a *platformAPI) awaits(s *store.Staker) bool { return a.Standing(s) == store.StakerPending }

// stakesNow tells whether a stake counts.
func (a *platformAPI) stakesNow(s *store.Staker) bool { return a.Standing(s) == store.StakerActive }

func (a *platformAPI) touched(r *http.Request, owners []ids.ShortID) (map[store.Position]bool, error) {
	touched := map[store.Position]bool{}
	for _, owner := range owners {
		txs, err := a.DB.ActivityOf(r.Context(), a.number(), owner[:], store.Last(a.number()), math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, tx := range txs {
			touched[tx] = true
		}
	}
	return touched, nil
}

// stake is what a staking transaction locks.
func (a *platformAPI) stake(r *http.Request, at store.Position) ([]*primary.TransferableOutput, error) {
	row, err := a.DB.PrimaryTx(r.Context(), at)
	if err != nil {
		return nil, err
	}
	tx, err := primary.ParseTx(primary.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	s, err := primary.NewStaker(tx, primary.Active)
	if err != nil {
		return nil, err
	}
	return s.Stake(), nil
}

// TotalStakeReply is the weight of a subnet.
type TotalStakeReply struct {
	Stake  Uint64 `json:"stake"`
	Weight Uint64 `json:"weight"`
}

// GetTotalStake answers the weight of all who validate a subnet, delegations included.
func (a *platformAPI) GetTotalStake(r *http.Request, args *SubnetArgs, reply *TotalStakeReply) error {
	set, err := a.validatorsNow(r, args.SubnetID)
	for _, v := range set {
		reply.Weight += v.Weight
	}
	reply.Stake = reply.Weight
	return err
}
