package anvil

import (
	"context"
	"errors"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/store"
)

// A snapshot is of the whole world, whichever chain it is taken on: all chains share their numbers.

// snapshot takes a snapshot and answers its number.
func (a *api) snapshot(ctx context.Context) (hexutil.Uint64, error) {
	s, err := a.network.World.TakeSnapshot(ctx, "")
	if err != nil {
		return 0, err
	}
	return hexutil.Uint64(s.ID), nil
}

// revert goes back to a snapshot, and says whether there was one. It is gone afterwards, as are those that were taken after it.
func (a *api) revert(ctx context.Context, id number) (bool, error) {
	if !id.IsInt64() {
		return false, nil
	}
	err := a.network.World.Revert(ctx, id.Int64(), true)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Snapshot takes a snapshot and answers its number.
func (a *evmAPI) Snapshot(ctx context.Context) (hexutil.Uint64, error) { return a.snapshot(ctx) }

// Revert goes back to a snapshot, and says whether there was one.
func (a *evmAPI) Revert(ctx context.Context, id number) (bool, error) { return a.revert(ctx, id) }

// Snapshot is evm_snapshot.
func (a *anvilAPI) Snapshot(ctx context.Context) (hexutil.Uint64, error) { return a.snapshot(ctx) }

// Revert is evm_revert.
func (a *anvilAPI) Revert(ctx context.Context, id number) (bool, error) { return a.revert(ctx, id) }

// forking is what anvil and Hardhat take with a reset: another network to fork from, which no world has.
type forking struct {
	Forking *struct {
		JSONRPCURL *string `json:"jsonRpcUrl"`
	} `json:"forking"`
}

var errForking = errors.New("a world is no fork of another network: reset takes no forking")

func (a *api) reset(ctx context.Context, options *forking) error {
	if options != nil && options.Forking != nil && options.Forking.JSONRPCURL != nil {
		return errForking
	}
	return a.network.World.Reset(ctx)
}

// Reset goes back to the freshly generated world, with all its chains.
func (a *anvilAPI) Reset(ctx context.Context, options *forking) error { return a.reset(ctx, options) }

// Reset goes back to the freshly generated world, with all its chains.
func (a *hardhatAPI) Reset(ctx context.Context, options *forking) (bool, error) {
	err := a.reset(ctx, options)
	return err == nil, err
}
