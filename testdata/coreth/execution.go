package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"

	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/graft/coreth/consensus/dummy"
	"github.com/ava-labs/avalanchego/graft/coreth/core"
	"github.com/ava-labs/avalanchego/graft/coreth/core/extstate"
	"github.com/ava-labs/avalanchego/graft/coreth/params/extras"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/atomic"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/customtypes"
	"github.com/ava-labs/avalanchego/graft/coreth/precompile/contracts/warp"
	_ "github.com/ava-labs/avalanchego/graft/coreth/precompile/registry" // the warp precompile
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/libevm/core/state"
	"github.com/ava-labs/libevm/core/types"
)

// start makes coreth's own chain from the genesis that the server gives out.
func (c *chain) start(ctx context.Context, server string, network uint32) error {
	config := genesis.GetConfig(network)
	raw, avax, err := genesis.FromConfig(config)
	if err != nil {
		return err
	}
	made, err := genesis.VMGenesis(raw, constants.EVMID)
	if err != nil {
		return err
	}
	var answer struct {
		GenesisData json.RawMessage `json:"genesisData"`
	}
	if err := get(ctx, fmt.Sprintf("%s/v1/networks/%s/blockchains/%s", server, constants.NetworkName(network), made.ID()), &answer); err != nil {
		return err
	}
	start := new(core.Genesis)
	if err := json.Unmarshal(answer.GenesisData, start); err != nil {
		return err
	}
	c.snow = &snow.Context{NetworkID: network, SubnetID: constants.PrimaryNetworkID, ChainID: made.ID(), CChainID: made.ID(), AVAXAssetID: avax}
	c.extra.AvalancheContext = extras.AvalancheContext{SnowCtx: c.snow}
	c.extra.PrecompileUpgrades = []extras.PrecompileUpgrade{{Config: warp.NewDefaultConfig(c.extra.DurangoBlockTimestamp)}}
	c.config.ChainID = start.Config.ChainID
	start.Config = c.config
	engine := dummy.NewFakerWithCallbacks(dummy.ConsensusCallbacks{OnExtraStateChange: c.moveValue})
	if c.node, err = newNode(start, engine); err != nil {
		return err
	}
	c.machine = c.node.BlockChain()
	return nil
}

// moveValue executes a block's atomic transactions, as coreth's virtual machine does.
func (c *chain) moveValue(b *types.Block, _ *types.Header, states *state.StateDB) (contribution, gas *big.Int, err error) {
	txs, err := atomic.ExtractAtomicTxs(customtypes.BlockExtData(b), true, atomic.Codec)
	if err != nil || len(txs) == 0 {
		return nil, nil, err
	}
	contribution, gas = new(big.Int), new(big.Int)
	for _, tx := range txs {
		if err := tx.UnsignedAtomicTx.EVMStateTransfer(c.snow, extstate.New(states)); err != nil {
			return nil, nil, err
		}
		more, used, err := tx.BlockFeeContribution(true, c.snow.AVAXAssetID, b.BaseFee())
		if err != nil {
			return nil, nil, err
		}
		contribution.Add(contribution, more)
		gas.Add(gas, used)
	}
	return contribution, gas, nil
}

// execute inserts and accepts a block: gas, receipts, state root and hash are the real machine's.
func (c *chain) execute(b *types.Block) error {
	if b.NumberU64() == 0 {
		if have, want := b.Hash(), c.machine.Genesis().Hash(); have != want {
			return fmt.Errorf("genesis is %s, coreth makes %s", have, want)
		}
		return nil
	}
	if err := c.machine.InsertBlock(b); err != nil {
		return err
	}
	if err := c.machine.Accept(b); err != nil {
		return err
	}
	c.machine.DrainAcceptorQueue()
	return nil
}

func get(ctx context.Context, url string, result any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(result)
}
