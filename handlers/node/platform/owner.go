package platform

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
)

// Owner is a control group in the form of the P-Chain's service.
type Owner struct {
	Locktime  jsonrpc.Uint64 `json:"locktime"`
	Threshold jsonrpc.Uint32 `json:"threshold"`
	Addresses []string       `json:"addresses"`
}

// owner converts a row's control group.
func (a *Service) owner(raw []byte) *Owner {
	o := store.ParseOutputOwners(raw)
	owner := &Owner{jsonrpc.Uint64(o.Locktime), jsonrpc.Uint32(o.Threshold), make([]string, len(o.Addresses))}
	for i, address := range o.Addresses {
		owner.Addresses[i] = a.FormatAddress(ids.ShortID(address))
	}
	return owner
}

// ownerOrNone converts a control group that may be missing.
func (a *Service) ownerOrNone(raw []byte) *Owner {
	if raw == nil {
		return nil
	}
	return a.owner(raw)
}
