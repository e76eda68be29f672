package main

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
)

// rounds is the number of times that clients do everything.
const rounds = 12

// send lets the world's named accounts pay, deploy and fail, so that clients' blocks are checked too, and the first one call the contracts that a
// genesis may name: those that it does not name are nobody. They request no blocks without transactions: test clients may expect them, but the
// network has none. A chain whose precompiles change later goes on after the last change.
func (m *machine) send(ctx context.Context) error {
	var config struct {
		Upgrades struct {
			PrecompileUpgrades []map[string]struct{ BlockTimestamp uint64 }
		}
	}
	if err := m.Call(ctx, &config, "eth_getChainConfig"); err != nil {
		return err
	}
	if err := m.act(ctx); err != nil {
		return err
	}
	var head struct{ Timestamp hexutil.Uint64 }
	if err := m.Call(ctx, &head, "eth_getBlockByNumber", "latest", false); err != nil {
		return err
	}
	for _, upgrade := range config.Upgrades.PrecompileUpgrades {
		for _, c := range upgrade {
			if c.BlockTimestamp <= uint64(head.Timestamp) {
				continue
			}
			for _, at := range []uint64{c.BlockTimestamp - 300, c.BlockTimestamp} {
				var mined any
				if err := m.Call(ctx, &mined, "evm_setNextBlockTimestamp", at); err != nil {
					return err
				}
				if err := m.act(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (m *machine) act(ctx context.Context) error {
	var all, accounts []common.Address
	if err := m.Call(ctx, &all, "eth_accounts"); err != nil {
		return err
	}
	for _, a := range all { // an L1 with a genesis of its own may give some nothing, or not let them send
		var gas hexutil.Uint64
		if len(accounts) < 4 && m.Call(ctx, &gas, "eth_estimateGas", map[string]any{"from": a, "to": a, "value": "0x100", "gasPrice": "0xba43b7400"}) == nil {
			accounts = append(accounts, a)
		}
	}
	somebody := common.LeftPadBytes([]byte{0x5e}, 32)
	call := func(contract byte, selector uint32, words ...[]byte) map[string]any {
		data := binary.BigEndian.AppendUint32(nil, selector)
		return map[string]any{"from": accounts[0], "to": common.Address{0: 2, 19: contract}, "data": hexutil.Bytes(append(data, bytes.Join(words, nil)...)), "gas": hexutil.Uint64(300_000)}
	}
	calls := []map[string]any{
		call(0, 0x0aaf7043, somebody),           // setEnabled(address)
		call(1, 0x4f5aaaba, somebody, somebody), // mintNativeCoin(address,uint256)
		call(2, 0x0aaf7043, somebody),           // setEnabled(address)
		call(2, 0x8c6bfb3b, somebody),           // setNone(address)
		call(3, 0x8f10b586, make([]byte, 8*32)), // setFeeConfig with fees that are none
		call(3, 0x704b6c02, somebody),           // setAdmin(address)
	}
	for round := range rounds {
		from, to := accounts[round%len(accounts)], accounts[(round+1)%len(accounts)]
		txs := []map[string]any{
			{"from": from, "to": to, "value": hexutil.Uint64(round + 1)},
			{"from": from, "data": "0x6001600055600a60146000396000f3", "gas": hexutil.Uint64(200_000)}, // writes a slot
			{"from": from, "data": "0xfe", "gas": hexutil.Uint64(100_000)},                             // fails
		}
		if round < len(calls) {
			txs = append(txs, calls[round])
		}
		for _, tx := range txs {
			var hash common.Hash
			if err := m.Call(ctx, &hash, "eth_sendTransaction", tx); err != nil {
				return err
			}
		}
	}
	return nil
}
