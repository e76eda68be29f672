package platform

import (
	"errors"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
)

// SubnetReply describes a subnet and its owners.
type SubnetReply struct {
	IsPermissioned           bool           `json:"isPermissioned"`
	ControlKeys              []string       `json:"controlKeys"`
	Threshold                jsonrpc.Uint32 `json:"threshold"`
	Locktime                 jsonrpc.Uint64 `json:"locktime"`
	SubnetTransformationTxID ids.ID         `json:"subnetTransformationTxID"`
	ConversionID             ids.ID         `json:"conversionID"`
	ManagerChainID           ids.ID         `json:"managerChainID"`
	ManagerAddress           jsonrpc.Hex    `json:"managerAddress"`
}

// SubnetsArgs names subnets; none means all.
type SubnetsArgs struct {
	IDs []ids.ID `json:"ids"`
}

// SubnetsReply lists subnets.
type SubnetsReply struct {
	Subnets []SubnetSummary `json:"subnets"`
}

// SubnetSummary is a subnet with its owners.
type SubnetSummary struct {
	ID          ids.ID         `json:"id"`
	ControlKeys []string       `json:"controlKeys"`
	Threshold   jsonrpc.Uint32 `json:"threshold"`
}

var errPrimaryNetwork = errors.New("the primary network isn't a subnet")

// primaryNetwork is the primary network's entry in lists.
var primaryNetwork = SubnetSummary{ids.Empty, []string{}, 0}

// GetSubnet returns a subnet with its owners.
func (a *Service) GetSubnet(r *http.Request, args *SubnetArgs, reply *SubnetReply) error {
	if args.SubnetID == ids.Empty {
		return errPrimaryNetwork
	}
	row, err := a.state.Subnet(r.Context(), args.SubnetID)
	if err != nil {
		return err
	}
	owner := a.owner(row.State.Owner)
	*reply = SubnetReply{IsPermissioned: true, ControlKeys: owner.Addresses, Threshold: owner.Threshold, Locktime: owner.Locktime}
	if row.State.Conversion != nil {
		reply.IsPermissioned, reply.ManagerAddress = false, append(jsonrpc.Hex{}, row.State.ManagerAddress...) // "0x" when empty, not null
		reply.ConversionID, reply.ManagerChainID = ids.ID(row.State.Conversion), ids.ID(row.State.ManagerChain)
	}
	return nil
}

// GetSubnets lists subnets, the primary network last. It leaves out unknown ids.
func (a *Service) GetSubnets(r *http.Request, args *SubnetsArgs, reply *SubnetsReply) error {
	if len(args.IDs) > 0 {
		return a.subnets(r, args.IDs, reply)
	}
	rows, err := a.Network.DB.Subnets(r.Context(), a.StoreChain())
	for i := range rows {
		reply.Subnets = append(reply.Subnets, a.summary(&rows[i]))
	}
	reply.Subnets = append(reply.Subnets, primaryNetwork)
	return err
}

func (a *Service) subnets(r *http.Request, wanted []ids.ID, reply *SubnetsReply) error {
	seen := map[ids.ID]bool{}
	for _, id := range wanted {
		if seen[id] {
			continue
		}
		seen[id] = true
		if id == ids.Empty {
			reply.Subnets = append(reply.Subnets, primaryNetwork)
			continue
		}
		row, err := a.state.Subnet(r.Context(), id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		reply.Subnets = append(reply.Subnets, a.summary(row))
	}
	return nil
}

func (a *Service) summary(row *store.SubnetView) SubnetSummary {
	owner := a.owner(row.State.Owner)
	return SubnetSummary{ids.ID(row.Hash), owner.Addresses, owner.Threshold}
}
