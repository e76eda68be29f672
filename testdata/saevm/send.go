package main

import (
	"context"
	"fmt"

	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"

	"snowglobe/testdata/server"
)

// use lets the world's named accounts pay each other with new funds, deploy, fail and ask for far too much gas, and moves the clock between them.
// What a revert removes leaves no trace.
func use(ctx context.Context, s *server.Server, c server.Chain) error {
	if err := send(ctx, c, 8); err != nil {
		return err
	}
	for _, move := range []string{`{"advance":"3s"}`, `{"advance":"1h"}`} {
		if err := s.MoveClock(ctx, move); err != nil {
			return err
		}
		if err := send(ctx, c, 6); err != nil {
			return err
		}
	}
	var snapshot hexutil.Uint64
	var reverted bool
	if err := c.Call(ctx, &snapshot, "evm_snapshot"); err != nil {
		return err
	}
	if err := send(ctx, c, 3); err != nil {
		return err
	}
	if err := c.Call(ctx, &reverted, "evm_revert", snapshot); err != nil || !reverted {
		return fmt.Errorf("revert: %t, %w", reverted, err)
	}
	return send(ctx, c, 5)
}

func send(ctx context.Context, c server.Chain, rounds int) error {
	var accounts []common.Address
	if err := c.Call(ctx, &accounts, "eth_accounts"); err != nil {
		return err
	}
	for round := range rounds {
		from, to := accounts[round%4], accounts[(round+1)%4]
		for _, tx := range []map[string]any{
			{"from": from, "to": to, "value": hexutil.Uint64(round + 1)},
			{"from": from, "data": "0x6001600055600a60146000396000f3", "gas": hexutil.Uint64(200_000)}, // writes a slot
			{"from": from, "data": "0xfe", "gas": hexutil.Uint64(100_000)},                             // fails
			{"from": from, "to": to, "gas": hexutil.Uint64(9_000_000)},                                 // half of it is charged
			{"from": from, "data": "0x5b600056", "gas": hexutil.Uint64(4_000_000)},                     // all of it is used
		} {
			var hash common.Hash
			if err := c.Call(ctx, &hash, "eth_sendTransaction", tx); err != nil {
				return err
			}
		}
	}
	return nil
}
