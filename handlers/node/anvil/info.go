package anvil

import (
	"context"
	"encoding/binary"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim"
)

// anvilVersion is that of the anvil whose methods these are.
const anvilVersion = "anvil/v1.7.1"

// ClientVersion is web3_clientVersion. Test clients take a node for one that they may control when it begins like anvil's; the version
// of the node that is imitated follows.
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
	BaseFee  *hexutil.Big   `json:"baseFee"` // of the next block, as the two below
	ChainID  uint64         `json:"chainId"`
	GasLimit hexutil.Uint64 `json:"gasLimit"`
	GasPrice *hexutil.Big   `json:"gasPrice"`
}

// forkConfig has nothing: a world is no fork of another.
type forkConfig struct {
	URL          *string `json:"forkUrl"`
	BlockNumber  *uint64 `json:"forkBlockNumber"`
	RetryBackoff *uint64 `json:"forkRetryBackoff"`
}

// NodeInfo tells how the chain is set up.
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
	ForkedNetwork     *struct{}      `json:"forkedNetwork"` // a world is no fork of another
	Snapshots         map[string]any `json:"snapshots"`
}

// metadata tells who answers. The instance is the chain itself, until it is reset: the same in every world that begins with the same first
// block.
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
	told := &metadata{
		ClientVersion: a.version, ChainID: chain.Genesis.ChainID, InstanceID: crypto.Keccak256Hash([]byte("instance"), first.Hash[:]),
		LatestBlockNumber: head.Number, LatestBlockHash: head.Hash, Snapshots: map[string]any{},
	}
	if a.network == nil {
		return told, nil
	}
	return told, a.addHistory(ctx, told)
}

// addHistory tells of the snapshots, by number with what was the newest block, and makes another instance of a chain for each reset.
func (a *api) addHistory(ctx context.Context, told *metadata) error {
	db := a.network.World.DB
	counts, err := db.UndoCounts(ctx)
	if err != nil {
		return err
	}
	if counts.Resets > 0 {
		told.InstanceID = crypto.Keccak256Hash(told.InstanceID[:], binary.BigEndian.AppendUint64(nil, uint64(counts.Resets)))
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
		if c := memory.Chains[told.ChainID]; c != nil {
			told.Snapshots[hexutil.EncodeUint64(uint64(all[i].ID))] = []any{c.Height, c.Hash}
		}
	}
	return nil
}

// Metadata tells who answers.
func (a *anvilAPI) Metadata(ctx context.Context) (*metadata, error) { return a.metadata(ctx) }

// Metadata tells who answers.
func (a *hardhatAPI) Metadata(ctx context.Context) (*metadata, error) { return a.metadata(ctx) }
