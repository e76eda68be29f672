package verification

import (
	"context"
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/artifacts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var beaconCall = hexutil.Bytes{0x5c, 0x60, 0xda, 0x1b} // implementation()

// Implementation returns the contract to which a proxy delegates (EIP-1967, its beacons, EIP-1167); false for a contract that is no proxy.
func Implementation(ctx context.Context, db *store.DB, c *reader.Chain, address common.Address) (common.Address, bool, error) {
	code, _, err := Code(ctx, db, c, address)
	if err != nil {
		if errors.Is(err, ErrNoCode) {
			err = nil
		}
		return common.Address{}, false, err
	}
	if target, clone := artifacts.CloneTarget(code); clone {
		return target, true, nil
	}
	for _, slot := range []common.Hash{artifacts.ImplementationSlot, artifacts.BeaconSlot} {
		key := evm.StateKey(c.Kind, slot)
		value, err := db.Slot(ctx, c.Row.ID, address[:], key[:], store.MaxNumber)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return common.Address{}, false, err
		}
		target := common.BytesToAddress(value)
		if target == (common.Address{}) {
			continue
		}
		if slot == artifacts.BeaconSlot {
			return ofBeacon(ctx, c, target)
		}
		return target, true, nil
	}
	return common.Address{}, false, nil
}

// ofBeacon asks a beacon for the implementation.
func ofBeacon(ctx context.Context, c *reader.Chain, beacon common.Address) (common.Address, bool, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return common.Address{}, false, err
	}
	result, err := c.Call(ctx, head, &reader.Call{To: &beacon, Input: &beaconCall}, reader.Overrides{})
	if err != nil || result.Failed() || len(result.ReturnData) != 32 {
		return common.Address{}, false, err
	}
	return common.BytesToAddress(result.ReturnData), true, nil
}
