package anvil

import (
	"bytes"
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/interchange"
	"snowglobe/handlers/rest"
)

// dumpState returns the chain's newest state, compressed, as anvil's --load-state and anvil_loadState read it.
func (a *api) dumpState(ctx context.Context) (hexutil.Bytes, error) {
	b, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := a.miner.Chain.Alloc(ctx, b, interchange.MostValues)
	if err != nil {
		return nil, err
	}
	head := b.Results.Executed(b.Header)
	var out bytes.Buffer
	err = interchange.WriteAnvilDump(&out, &types.Header{Number: new(big.Int).SetUint64(b.Number), ParentHash: head.ParentHash,
		Coinbase: head.Coinbase, Root: head.Root, GasLimit: head.GasLimit, Time: head.Time, BaseFee: head.BaseFee}, accounts)
	return out.Bytes(), err
}

// loadState sets the accounts of a state dump, all or none.
func (a *api) loadState(ctx context.Context, dump hexutil.Bytes) (bool, error) {
	state, err := interchange.AnvilDump(dump)
	if err != nil {
		return false, fmt.Errorf("state dump: %w", err)
	}
	loaded, err := a.miner.LoadState(ctx, state.Accounts, state.Holders)
	if err != nil {
		return false, err
	}
	for _, address := range loaded.Unlisted {
		state.Notes = append(state.Notes, interchange.Note{Line: 1, Field: "accounts." + address.Hex(), Reason: "it has more holders than are listed"})
	}
	for _, note := range state.Notes {
		rest.Mounted(ctx).Log.Info("a state dump was not loaded whole", "note", note.String())
	}
	return true, nil
}

// DumpState returns the chain's accounts in anvil's format, compressed with gzip. It leaves out the chain's history.
func (a *anvilAPI) DumpState(ctx context.Context, withHistoricalStates *bool) (hexutil.Bytes, error) {
	return a.dumpState(ctx)
}

// LoadState sets the accounts of an anvil dump, in any of its formats, on top of the newest state. It ignores the dump's blocks.
func (a *anvilAPI) LoadState(ctx context.Context, dump hexutil.Bytes) (bool, error) {
	return a.loadState(ctx, dump)
}

// DumpState does the same as anvil_dumpState.
func (a *hardhatAPI) DumpState(ctx context.Context, withHistoricalStates *bool) (hexutil.Bytes, error) {
	return a.dumpState(ctx)
}

// LoadState does the same as anvil_loadState.
func (a *hardhatAPI) LoadState(ctx context.Context, dump hexutil.Bytes) (bool, error) {
	return a.loadState(ctx, dump)
}
