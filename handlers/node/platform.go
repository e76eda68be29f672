package node

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// platformAPI has the methods of the P-chain.
type platformAPI struct{ primaryAPI }

// SubnetArgs name a subnet; without one it is the primary network.
type SubnetArgs struct {
	SubnetID ids.ID `json:"subnetID"`
}

// TimestampReply is the chain's time.
type TimestampReply struct {
	Timestamp time.Time `json:"timestamp"`
}

// head is the last block, with what the chain knows after it.
func (a *platformAPI) head(r *http.Request) (*store.PrimaryBlock, error) {
	return a.DB.PrimaryHead(r.Context(), a.number())
}

// GetProposedHeight answers the height that a proposer would see.
func (a *platformAPI) GetProposedHeight(r *http.Request, args *NoArgs, reply *HeightReply) error {
	return a.GetHeight(r, args, reply)
}

// GetTimestamp answers the chain's time: that of its last block.
func (a *platformAPI) GetTimestamp(r *http.Request, _ *NoArgs, reply *TimestampReply) error {
	head, err := a.head(r)
	reply.Timestamp = time.Unix(head.Time, 0).UTC()
	return err
}

// GetTx answers a transaction.
func (a *platformAPI) GetTx(r *http.Request, args *TxIDArgs, reply *TxReply) error {
	if err := a.tx(r, args, reply); err != nil {
		return fmt.Errorf("couldn't get tx: %w", err)
	}
	return nil
}

// GetTxStatus answers what became of a transaction. A reward that its block's successor refused is Aborted.
func (a *platformAPI) GetTxStatus(r *http.Request, args *TxIDArgs, reply *TxStatusReply) error {
	row, err := a.DB.PrimaryTxByHash(r.Context(), a.number(), args.TxID[:])
	if errors.Is(err, store.ErrNotFound) {
		reply.Status = "Unknown"
		return nil
	}
	if err != nil {
		return err
	}
	reply.Status = "Committed"
	if row.Type != "RewardValidatorTx" {
		return nil
	}
	option, err := a.DB.PrimaryBlock(r.Context(), a.number(), row.ID.Number()+1)
	switch {
	case errors.Is(err, store.ErrNotFound):
		reply.Status = "Processing"
		return nil
	case err == nil && option.Type == "Abort":
		reply.Status = "Aborted"
	}
	return err
}

// SupplyReply is how much AVAX there is.
type SupplyReply struct {
	Supply Uint64 `json:"supply"`
	Height Uint64 `json:"height"`
}

// GetCurrentSupply answers how much AVAX there is, potential rewards included. Other subnets have no supply of their own.
func (a *platformAPI) GetCurrentSupply(r *http.Request, args *SubnetArgs, reply *SupplyReply) error {
	if args.SubnetID != ids.Empty {
		return fmt.Errorf("fetching current supply failed: %w", store.ErrNotFound)
	}
	head, err := a.head(r)
	reply.Supply, reply.Height = Uint64(head.Supply), Uint64(head.ID.Number())
	return err
}

// StakingAssetReply is the asset in which a subnet's validators stake.
type StakingAssetReply struct {
	AssetID ids.ID `json:"assetID"`
}

// GetStakingAssetID answers the asset in which validators stake.
func (a *platformAPI) GetStakingAssetID(_ *http.Request, args *SubnetArgs, reply *StakingAssetReply) error {
	reply.AssetID = a.Rules.AVAXAssetID
	return args.elastic()
}

// MinStakeReply is the least that validators and delegators must stake.
type MinStakeReply struct {
	MinValidatorStake Uint64 `json:"minValidatorStake"`
	MinDelegatorStake Uint64 `json:"minDelegatorStake"`
}

// GetMinStake answers the least that validators and delegators must stake, in nAVAX.
func (a *platformAPI) GetMinStake(_ *http.Request, args *SubnetArgs, reply *MinStakeReply) error {
	reply.MinValidatorStake, reply.MinDelegatorStake = Uint64(a.Rules.Staking.MinValidatorStake), Uint64(a.Rules.Staking.MinDelegatorStake)
	return args.elastic()
}

// elastic refuses what only the primary network has: no other subnet was ever transformed to be staked in.
func (args *SubnetArgs) elastic() error {
	if args.SubnetID == ids.Empty {
		return nil
	}
	return fmt.Errorf("failed fetching subnet transformation for %s: %w", args.SubnetID, store.ErrNotFound)
}
