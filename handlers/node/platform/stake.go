package platform

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/txs"
)

// StakeArgs asks for addresses' stake.
type StakeArgs struct {
	Addresses      []string         `json:"addresses"`
	ValidatorsOnly bool             `json:"validatorsOnly"`
	Encoding       jsonrpc.Encoding `json:"encoding"`
}

// StakeReply is addresses' stake.
type StakeReply struct {
	Staked   jsonrpc.Uint64            `json:"staked"`
	Stakeds  map[ids.ID]jsonrpc.Uint64 `json:"stakeds"`
	Outputs  []string                  `json:"stakedOutputs"`
	Encoding jsonrpc.Encoding          `json:"encoding"`
}

// maxStakeAddresses bounds getStake: avalanchego's vms/platformvm.maxGetStakeAddrs.
const maxStakeAddresses = 256

// GetStake returns addresses' stake on the primary network, including stake whose period has not begun.
func (a *Service) GetStake(r *http.Request, args *StakeArgs, reply *StakeReply) error {
	if n := len(args.Addresses); n > maxStakeAddresses {
		return fmt.Errorf("%d addresses provided but this method can take at most %d", n, maxStakeAddresses)
	}
	owners, err := a.Addresses(args.Addresses)
	if err != nil {
		return err
	}
	staking, err := a.state.stakedBy(r.Context(), owners, args.ValidatorsOnly)
	if err != nil {
		return err
	}
	reply.Stakeds, reply.Outputs, reply.Encoding = map[ids.ID]jsonrpc.Uint64{}, []string{}, args.Encoding
	for _, out := range staking {
		held := &txs.UTXO{AssetID: out.AssetID, Out: out.Out}
		if !slices.ContainsFunc(held.Owners().Addresses, func(o ids.ShortID) bool { return slices.Contains(owners, o) }) {
			continue
		}
		raw, err := txs.OutputBytes(txs.PChain, out)
		if err != nil {
			return err
		}
		text, err := formatting.Encode(args.Encoding, raw)
		if err != nil {
			return fmt.Errorf("couldn't encode output %s as %s: %w", ids.Empty, args.Encoding, err)
		}
		reply.Outputs = append(reply.Outputs, text)
		reply.Stakeds[out.AssetID] += jsonrpc.Uint64(held.Amount())
	}
	reply.Staked = reply.Stakeds[a.Network.Rules.AVAXAssetID]
	return nil
}

// TotalStakeReply is a subnet's weight.
type TotalStakeReply struct {
	Stake  jsonrpc.Uint64 `json:"stake"`
	Weight jsonrpc.Uint64 `json:"weight"`
}

// GetTotalStake returns the weight of all validators of a subnet, including delegations.
func (a *Service) GetTotalStake(r *http.Request, args *SubnetArgs, reply *TotalStakeReply) error {
	set, err := a.state.ValidatorsNow(r.Context(), args.SubnetID)
	reply.Weight, reply.Stake = set.Weight(), set.Weight()
	return err
}
