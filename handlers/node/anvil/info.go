package anvil

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim"
)

// anvilVersion is the version of anvil that these methods follow.
const anvilVersion = "anvil/v1.7.1"

// ClientVersion returns the node's version behind a version of anvil: test clients assume that they may control a node whose version
// begins like anvil's.
func ClientVersion(node string) string { return anvilVersion + " (avalanchego/" + node + ")" }

// nodeInfo is alloy's rpc_types::anvil::NodeInfo.
type nodeInfo struct {
	BlockNumber      hexutil.Uint64 `json:"currentBlockNumber"`
	BlockTimestamp   uint64         `json:"currentBlockTimestamp"`
	BlockHash        common.Hash    `json:"currentBlockHash"`
	HardFork         string         `json:"hardFork"`
	TransactionOrder string         `json:"transactionOrder"`
	Environment      environment    `json:"environment"`
	ForkConfig       forkConfig     `json:"forkConfig"`
}

type environment struct {
	BaseFee  *hexutil.Big   `json:"baseFee"` // of the next block, like the two below
	ChainID  uint64         `json:"chainId"`
	GasLimit hexutil.Uint64 `json:"gasLimit"`
	GasPrice *hexutil.Big   `json:"gasPrice"`
}

// forkConfig is empty: a world never forks another.
type forkConfig struct {
	URL          *string `json:"forkUrl"`
	BlockNumber  *uint64 `json:"forkBlockNumber"`
	RetryBackoff *uint64 `json:"forkRetryBackoff"`
}

// NodeInfo describes the chain's settings.
func (a *anvilAPI) NodeInfo(ctx context.Context) (*nodeInfo, error) {
	chain := a.miner.Chain
	head, err := chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	next, err := a.miner.NextBlock(ctx)
	if err != nil {
		return nil, err
	}
	fee, tip, err := a.miner.Prices(ctx)
	if err != nil {
		return nil, err
	}
	return &nodeInfo{
		BlockNumber: hexutil.Uint64(head.Number), BlockTimestamp: head.Header.Time, BlockHash: head.Hash, HardFork: "Cancun", TransactionOrder: "fees",
		Environment: environment{(*hexutil.Big)(fee), chain.Genesis.ChainID, hexutil.Uint64(next.GasLimit), (*hexutil.Big)(tip.Add(tip, fee))},
	}, nil
}

// metadata is alloy's rpc_types::anvil::Metadata.
type metadata struct {
	ClientVersion     string         `json:"clientVersion"`
	ChainID           uint64         `json:"chainId"`
	InstanceID        common.Hash    `json:"instanceId"`
	LatestBlockNumber uint64         `json:"latestBlockNumber"`
	LatestBlockHash   common.Hash    `json:"latestBlockHash"`
	ForkedNetwork     *struct{}      `json:"forkedNetwork"` // always null: a world never forks another
	Snapshots         map[string]any `json:"snapshots"`
}

// metadata describes the chain. Until a reset, the instance id is derived from the chain itself and is the same in every world with the
// same first block.
func (a *api) metadata(ctx context.Context) (*metadata, error) {
	chain := a.miner.Chain
	head, err := chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	first, err := chain.Block(ctx, 0)
	if err != nil {
		return nil, err
	}
	info := &metadata{
		ClientVersion: a.version, ChainID: chain.Genesis.ChainID, InstanceID: crypto.Keccak256Hash([]byte("instance"), first.Hash[:]),
		LatestBlockNumber: head.Number, LatestBlockHash: head.Hash, Snapshots: map[string]any{},
	}
	if a.network == nil {
		return info, nil
	}
	return info, a.addHistory(ctx, info)
}

// addHistory adds the snapshots, by number with their newest block, and changes the instance id with each reset.
func (a *api) addHistory(ctx context.Context, info *metadata) error {
	db := a.network.World.DB
	counts, err := db.UndoCounts(ctx)
	if err != nil {
		return err
	}
	if counts.Resets > 0 {
		info.InstanceID = crypto.Keccak256Hash(info.InstanceID[:], binary.BigEndian.AppendUint64(nil, uint64(counts.Resets)))
	}
	all, err := db.Snapshots(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		memory, err := sim.MemoryOf(&all[i])
		if err != nil {
			return err
		}
		if c := memory.Chains[info.ChainID]; c != nil {
			info.Snapshots[hexutil.EncodeUint64(uint64(all[i].ID))] = []any{c.Height, c.Hash}
		}
	}
	return nil
}

// Metadata describes the chain.
func (a *anvilAPI) Metadata(ctx context.Context) (*metadata, error) { return a.metadata(ctx) }

// Metadata describes the chain.
func (a *hardhatAPI) Metadata(ctx context.Context) (*metadata, error) { return a.metadata(ctx) }

// GetGenesisTime returns the first block's time in Unix seconds.
func (a *anvilAPI) GetGenesisTime(ctx context.Context) (uint64, error) {
	first, err := a.miner.Chain.Block(ctx, 0)
	if err != nil {
		return 0, err
	}
	return first.Header.Time, nil
}

// SetChainId accepts the chain's own id. No other is possible: the generated transactions are signed for it.
func (a *anvilAPI) SetChainId(id number) error {
	if own := a.miner.Chain.Genesis.ChainID; !id.IsUint64() || id.Uint64() != own {
		return unsupported(fmt.Sprintf("the chain id is %d for good, because the chain's transactions are signed for it; a world file gives an L1 the id of your choice", own))
	}
	return a.wish(func() {})
}

// SetLoggingEnabled turns the log of requests to this chain on or off. Warnings and errors stay on.
func (a *anvilAPI) SetLoggingEnabled(on bool) { a.setLogging(on) }

// SetLoggingEnabled does the same as anvil_setLoggingEnabled.
func (a *hardhatAPI) SetLoggingEnabled(on bool) bool {
	a.setLogging(on)
	return true
}

func (a *api) setLogging(on bool) {
	if a.log != nil {
		a.log(on)
	}
}
