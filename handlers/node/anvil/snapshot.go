package anvil

import (
	"context"
	"errors"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

// A snapshot covers the whole world, whichever chain it is taken on; all chains share the numbers.

// snapshot takes a snapshot and returns its number.
func (a *api) snapshot(ctx context.Context) (hexutil.Uint64, error) {
	s, err := a.network.World.TakeSnapshot(ctx, "")
	if err != nil {
		return 0, err
	}
	return hexutil.Uint64(s.ID), nil
}

// revert reverts to a snapshot and reports whether it existed. It deletes that snapshot and all later ones.
func (a *api) revert(ctx context.Context, id number) (bool, error) {
	err := store.ErrNotFound
	if id.IsInt64() {
		err = a.network.World.Revert(ctx, id.Int64(), true)
	}
	if errors.Is(err, store.ErrNotFound) {
		rest.Mounted(ctx).Log.Warn("a revert did nothing: there is no such snapshot", "snapshot", hexutil.EncodeBig(&id.Int))
		return false, nil
	}
	return err == nil, err
}

// Snapshot takes a snapshot and returns its number.
func (a *evmAPI) Snapshot(ctx context.Context) (hexutil.Uint64, error) { return a.snapshot(ctx) }

// Revert reverts to a snapshot and reports whether it existed.
func (a *evmAPI) Revert(ctx context.Context, id number) (bool, error) { return a.revert(ctx, id) }

// Snapshot does the same as evm_snapshot.
func (a *anvilAPI) Snapshot(ctx context.Context) (hexutil.Uint64, error) { return a.snapshot(ctx) }

// Revert does the same as evm_revert.
func (a *anvilAPI) Revert(ctx context.Context, id number) (bool, error) { return a.revert(ctx, id) }

// forking is the reset parameter of anvil and Hardhat that names a network to fork; no world has one.
type forking struct {
	Forking *struct {
		JSONRPCURL *string `json:"jsonRpcUrl"`
	} `json:"forking"`
}

var errForking = errors.New("a world cannot fork another network: call reset without forking")

func (a *api) reset(ctx context.Context, options *forking) error {
	if options != nil && options.Forking != nil && options.Forking.JSONRPCURL != nil {
		return errForking
	}
	return a.network.World.Reset(ctx)
}

// Reset reverts to the freshly generated world, on all its chains.
func (a *anvilAPI) Reset(ctx context.Context, options *forking) error { return a.reset(ctx, options) }

// Reset reverts to the freshly generated world, on all its chains.
func (a *hardhatAPI) Reset(ctx context.Context, options *forking) (bool, error) {
	return done(a.reset(ctx, options))
}
