package main

import (
	"context"

	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
)

// rounds is the number of times that clients do everything.
const rounds = 12

// send lets the world's named accounts pay, deploy and fail, so that clients' blocks are checked too. They request no blocks without
// transactions: test clients may expect them, but the network has none.
func (c *chain) send(ctx context.Context) error {
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
		} {
			var hash common.Hash
			if err := c.Call(ctx, &hash, "eth_sendTransaction", tx); err != nil {
				return err
			}
		}
	}
	return nil
}
