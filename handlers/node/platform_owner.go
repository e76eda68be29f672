package node

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// Owner is a control group as the P-Chain's services write it.
type Owner struct {
	Locktime  Uint64   `json:"locktime"`
	Threshold Uint32   `json:"threshold"`
	Addresses []string `json:"addresses"`
}

// owner writes the control group of a row.
func (a *platformAPI) owner(raw []byte) *Owner {
	o := store.ParseOwners(raw)
	owner := &Owner{Uint64(o.Locktime), Uint32(o.Threshold), make([]string, len(o.Addresses))}
	for i, address := range o.Addresses {
		owner.Addresses[i] = a.FormatAddress(ids.ShortID(address))
	}
	return owner
}

// ownerOrNone is owner for what may have none.
func (a *platformAPI) ownerOrNone(raw []byte) *Owner {
	if raw == nil {
		return nil
	}
	return a.owner(raw)
}
