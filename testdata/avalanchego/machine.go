package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ava-labs/avalanchego/graft/subnet-evm/consensus/dummy"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/core"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/params"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/params/extras"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/plugin/evm/customheader"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/plugin/evm/customtypes"
	_ "github.com/ava-labs/avalanchego/graft/subnet-evm/precompile/registry" // the contracts that a genesis may name
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
	"github.com/ava-labs/libevm/core/rawdb"
	"github.com/ava-labs/libevm/core/types"
	"github.com/ava-labs/libevm/core/vm"
	"github.com/ava-labs/libevm/rlp"

	"snowglobe/testdata/server"
)

func init() {
	core.RegisterExtras()
	customtypes.Register()
	params.RegisterExtras()
}

// checkMachines has the network's own EVM start every L1 from the genesis in the transaction that made its chain, and check
// and execute every block of it: fees, gas, receipts, state roots and hashes are the real machine's.
func (n *network) checkMachines(ctx context.Context) error {
	for _, tx := range n.pTxs {
		made, ok := tx.Unsigned.(*txs.CreateChainTx)
		if !ok || made.VMID != constants.SubnetEVMID {
			continue
		}
		c := &machine{Chain: server.Chain(fmt.Sprintf("%s/ext/bc/%s/rpc", n.url, tx.ID()))}
		if err := c.start(ctx, n, tx.ID(), made); err != nil {
			return fmt.Errorf("%s: %w", made.ChainName, err)
		}
		if err := c.send(ctx); err != nil {
			return fmt.Errorf("%s: %w", made.ChainName, err)
		}
		blocks, err := c.replay(ctx)
		c.chain.Stop()
		if err != nil {
			return fmt.Errorf("%s: %w", made.ChainName, err)
		}
		n.seen.executed += blocks
	}
	return nil
}

// machine is an L1 in the real EVM.
type machine struct {
	server.Chain
	network *network
	snow    *snow.Context
	chain   *core.BlockChain
}

func (m *machine) start(ctx context.Context, n *network, id ids.ID, made *txs.CreateChainTx) error {
	genesis := new(core.Genesis)
	if err := json.Unmarshal(made.GenesisData, genesis); err != nil {
		return err
	}
	var config struct {
		Upgrades extras.UpgradeConfig `json:"upgrades"`
	}
	if err := m.Call(ctx, &config, "eth_getChainConfig"); err != nil {
		return err
	}
	extra := params.GetExtra(genesis.Config)
	m.network, m.snow = n, &snow.Context{
		NetworkID: n.id, SubnetID: made.SubnetID, ChainID: id, NetworkUpgrades: upgrade.GetConfig(n.id), ValidatorState: validatorState{n: n},
	}
	extra.AvalancheContext = extras.AvalancheContext{SnowCtx: m.snow}
	extra.SetDefaults(upgrade.GetConfig(n.id))
	extra.UpgradeConfig = config.Upgrades
	if err := genesis.Verify(); err != nil {
		return err
	}
	if err := params.SetEthUpgrades(genesis.Config); err != nil {
		return err
	}
	var err error
	m.chain, err = core.NewBlockChain(rawdb.NewMemoryDatabase(), core.DefaultCacheConfig, genesis, dummy.NewFaker(), vm.Config{}, common.Hash{}, false)
	return err
}

// replay executes every block and accepts it.
func (m *machine) replay(ctx context.Context) (int, error) {
	var head hexutil.Uint64
	if err := m.Call(ctx, &head, "eth_blockNumber"); err != nil {
		return 0, err
	}
	for number := uint64(0); number <= uint64(head); number++ {
		var raw hexutil.Bytes
		if err := m.Call(ctx, &raw, "debug_getRawBlock", hexutil.EncodeUint64(number)); err != nil {
			return 0, err
		}
		block := new(types.Block)
		if err := rlp.DecodeBytes(raw, block); err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if number == 0 {
			if have, want := block.Hash(), m.chain.Genesis().Hash(); have != want {
				return 0, fmt.Errorf("genesis is %s, the machine makes %s", have, want)
			}
			continue
		}
		if err := m.checkTime(block.Header()); err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if err := m.judge(block); err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if err := m.chain.InsertBlock(block); err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		if err := m.chain.Accept(block); err != nil {
			return 0, fmt.Errorf("block %d: %w", number, err)
		}
		m.chain.DrainAcceptorQueue()
	}
	return int(head), nil
}

// checkTime has the real machine compare a header's time with the delay that its parent asks for (ACP-226), which it does before
// it executes a block.
func (m *machine) checkTime(h *types.Header) error {
	parent, config := m.chain.CurrentHeader(), params.GetExtra(m.chain.Config())
	if err := customheader.VerifyMinDelayExcess(config, parent, h); err != nil {
		return err
	}
	return customheader.VerifyTime(config, parent, h, time.Unix(int64(h.Time), 0))
}
