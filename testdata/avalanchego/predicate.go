package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/graft/subnet-evm/core"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/plugin/evm/customheader"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/precompile/precompileconfig"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow/engine/snowman/block"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/vms/platformvm/api"
	"github.com/ava-labs/libevm/core/types"
)

// judge has the real machine judge the messages that a block's transactions carry, and compares its verdicts with the
// header's.
func (m *machine) judge(b *types.Block) error {
	height, err := m.network.heightFor(b.Time())
	if err != nil {
		return err
	}
	const merged = true // these chains never mined by proof of work
	rules := m.chain.Config().Rules(b.Number(), merged, b.Time())
	results, err := core.CheckBlockPredicates(rules, &precompileconfig.PredicateContext{
		SnowCtx: m.snow, ProposerVMBlockCtx: &block.Context{PChainHeight: height},
	}, b.Transactions())
	if err != nil {
		return err
	}
	want, err := results.Bytes()
	if err != nil {
		return err
	}
	if have := customheader.PredicateBytesFromExtra(b.Extra()); !bytes.Equal(have, want) {
		return fmt.Errorf("predicate results are %x, the machine makes %x", have, want)
	}
	m.network.seen.judged += len(results)
	return nil
}

// epoch is the number of seconds for which all blocks see the same validators: those after the last P-Chain block before the epoch.
const epoch = 300

func (n *network) heightFor(time uint64) (uint64, error) {
	for h := len(n.pTimes) - 1; h >= 0; h-- {
		if n.pTimes[h] < time-time%epoch {
			return uint64(h), nil
		}
	}
	return 0, fmt.Errorf("no P-Chain block is before %d", time)
}

// validatorState answers the real EVM's questions about the P-Chain from the server's.
type validatorState struct {
	validators.State
	n *network
}

func (v validatorState) GetSubnetID(ctx context.Context, chain ids.ID) (ids.ID, error) {
	if chain == constants.PlatformChainID {
		return constants.PrimaryNetworkID, nil
	}
	return v.n.p.ValidatedBy(ctx, chain)
}

func (v validatorState) GetValidatorSet(ctx context.Context, height uint64, subnet ids.ID) (map[ids.NodeID]*validators.GetValidatorOutput, error) {
	return v.n.p.GetValidatorsAt(ctx, subnet, api.Height(height))
}

func (v validatorState) GetWarpValidatorSets(ctx context.Context, height uint64) (map[ids.ID]validators.WarpSet, error) {
	return v.n.p.GetAllValidatorsAt(ctx, api.Height(height))
}
