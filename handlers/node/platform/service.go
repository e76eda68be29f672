package platform

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Service implements the P-Chain's methods, one Go method for each: avalanchego's vms/platformvm.Service.
type Service struct {
	primary.Service
	state   State
	current cache.Derived[query.StakerVersion, []byte] // the response that lists all validators of the primary network
}

func New(network *sim.Network, indexes *query.StakerIndexes) *Service {
	return &Service{Service: primary.New(network, txs.PChain), state: NewState(network, indexes)}
}

// SubnetArgs names a subnet; none means the primary network.
type SubnetArgs struct {
	SubnetID ids.ID `json:"subnetID"`
}

// TimestampReply is the chain's time.
type TimestampReply struct {
	Timestamp time.Time `json:"timestamp"`
}

// GetProposedHeight returns the height that a proposer would see.
func (a *Service) GetProposedHeight(r *http.Request, args *jsonrpc.NoArgs, reply *primary.HeightReply) error {
	return a.GetHeight(r, args, reply)
}

// GetTimestamp returns the chain's time: its last block's.
func (a *Service) GetTimestamp(r *http.Request, _ *jsonrpc.NoArgs, reply *TimestampReply) error {
	head, err := a.state.Head(r.Context())
	reply.Timestamp = time.Unix(head.Time, 0).UTC()
	return err
}

// GetTx returns a transaction.
func (a *Service) GetTx(r *http.Request, args *primary.TxIDArgs, reply *primary.TxReply) error {
	tx, err := a.Tx(r.Context(), args)
	if err != nil {
		return fmt.Errorf("couldn't get tx: %w", err)
	}
	*reply = tx
	return nil
}

// TxStatusReply is a transaction's status, with the reason if it was rejected.
type TxStatusReply struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// GetTxStatus returns a transaction's status. A reward that was not paid is Aborted.
func (a *Service) GetTxStatus(r *http.Request, args *primary.TxIDArgs, reply *TxStatusReply) error {
	row, err := a.Network.DB.PrimaryTxByHash(r.Context(), a.StoreChain(), args.TxID[:])
	if errors.Is(err, store.ErrNotFound) {
		reply.Status = "Unknown"
		if reason := a.Network.DropReason(args.TxID); reason != nil {
			reply.Status, reply.Reason = "Dropped", reason.Error()
		}
		return nil
	}
	if err != nil {
		return err
	}
	reply.Status = "Committed"
	if !query.Rewards(row.Type) {
		return nil
	}
	option, err := a.Network.DB.PrimaryBlock(r.Context(), a.StoreChain(), row.ID.Number()+1)
	switch {
	case errors.Is(err, store.ErrNotFound):
		reply.Status = "Processing"
		return nil
	case err == nil && option.Type == "Abort":
		reply.Status = "Aborted"
	}
	return err
}

// SupplyReply is the supply of AVAX.
type SupplyReply struct {
	Supply jsonrpc.Uint64 `json:"supply"`
	Height jsonrpc.Uint64 `json:"height"`
}

// GetCurrentSupply returns the supply of AVAX, including potential rewards. Other subnets have no supply of their own.
func (a *Service) GetCurrentSupply(r *http.Request, args *SubnetArgs, reply *SupplyReply) error {
	if args.SubnetID != ids.Empty {
		return fmt.Errorf("fetching current supply failed: %w", store.ErrNotFound)
	}
	head, err := a.state.Head(r.Context())
	reply.Supply, reply.Height = jsonrpc.Uint64(head.Supply), jsonrpc.Uint64(head.ID.Number())
	return err
}

// StakingAssetReply is the asset that a subnet's validators stake.
type StakingAssetReply struct {
	AssetID ids.ID `json:"assetID"`
}

// GetStakingAssetID returns the asset that validators stake.
func (a *Service) GetStakingAssetID(_ *http.Request, args *SubnetArgs, reply *StakingAssetReply) error {
	reply.AssetID = a.Network.Rules.AVAXAssetID
	return args.requirePrimaryNetwork()
}

// MinStakeReply holds the minimum stakes of validators and delegators.
type MinStakeReply struct {
	MinValidatorStake jsonrpc.Uint64 `json:"minValidatorStake"`
	MinDelegatorStake jsonrpc.Uint64 `json:"minDelegatorStake"`
}

// GetMinStake returns the minimum stakes of validators and delegators, in nAVAX.
func (a *Service) GetMinStake(_ *http.Request, args *SubnetArgs, reply *MinStakeReply) error {
	rules := a.Network.Rules.StakingAt(uint64(a.Network.Clock.Unix()))
	reply.MinValidatorStake, reply.MinDelegatorStake = jsonrpc.Uint64(rules.MinValidatorStake), jsonrpc.Uint64(rules.MinDelegatorStake)
	return args.requirePrimaryNetwork()
}

// requirePrimaryNetwork rejects requests about other subnets for data that only the primary network has: no other subnet was ever
// transformed for staking.
func (args *SubnetArgs) requirePrimaryNetwork() error {
	if args.SubnetID == ids.Empty {
		return nil
	}
	return fmt.Errorf("failed fetching subnet transformation for %s: %w", args.SubnetID, store.ErrNotFound)
}
