package sim

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/fixtures"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
	"snowglobe/sim/xchain"
)

// Network is one of a world's primary networks. It reads the P- and X-Chain, and issues transactions to them.
type Network struct {
	Name      string // mainnet or fuji
	Rules     *rules.Network
	DB        *store.DB
	Clock     *Clock
	Aliases   *Aliases  // names of the network's chains
	LocalNode LocalNode // answers the node's API
	World     *World    // the world that it belongs to
	Trouble   Trouble   // injected faults of its nodes

	index                  int
	canonicalValidatorSets *canonicalValidatorSets
	dropped                *lru.Cache[ids.ID, error] // why the P-Chain refused transactions lately

	// Guarded by World.writer:
	state *primary.Network // restored from the file when needed; nil after a failed commit
	due   uint64           // caches nextDue while state is nil; 0 if unknown
	nodes []store.Node     // never change; read along with state
}

// droppedKept bounds the refused transactions that a node remembers. Source: avalanchego vms/txs/mempool/mempool.go,
// droppedTxIDsCacheSize.
const droppedKept = 64

func openNetworks(ctx context.Context, w *World) error {
	numbers, err := w.DB.PrimaryNetworkIDs(ctx)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		networkRules, err := primary.Rules(ctx, w.DB, number)
		if err != nil {
			return err
		}
		index := rules.Index(number)
		n := &Network{
			Name: fixtures.Networks[index].Name, Rules: networkRules, DB: w.DB, Clock: w.Clock, World: w, index: index, canonicalValidatorSets: &canonicalValidatorSets{sets: lru.NewCache[validatorSetID, *warp.CanonicalValidatorSet](canonicalValidatorSetsKept)},
			dropped: lru.NewCache[ids.ID, error](droppedKept),
		}
		if err := n.chooseLocalNode(ctx); err != nil {
			return err
		}
		w.Networks = append(w.Networks, n)
	}
	return nil
}

// Chain returns the number in the file of one of the network's chains.
func (n *Network) Chain(chain txs.Chain) int { return store.PrimaryChain(n.index, int(chain)) }

// Kind returns the chain with a number in the file.
func (n *Network) Kind(number int) txs.Chain {
	for _, kind := range []txs.Chain{txs.XChain, txs.CChain} {
		if n.Chain(kind) == number {
			return kind
		}
	}
	return txs.PChain
}

// XChainGenesis returns the X-Chain's genesis in the encoding that the network's nodes read.
func (n *Network) XChainGenesis(ctx context.Context) ([]byte, error) {
	rows, err := n.DB.PrimaryNetworks(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.ID != n.Rules.NetworkID {
			continue
		}
		g, err := xchain.ParseXChainGenesis(row.XChainGenesis)
		if err != nil {
			return nil, err
		}
		return g.NetworkBytes(row.ID)
	}
	return nil, store.ErrNotFound
}

// joinNetworks gives each network the names of its chains, and each EVM chain the network that its warp precompile asks.
func joinNetworks(w *World) {
	for _, n := range w.Networks {
		n.Aliases = newAliases(n.Rules, n.Name, w.Chains)
	}
	for _, c := range w.Chains {
		if n := w.NetworkOf(c); n != nil {
			c.Upgrades = n.Rules.Upgrades
			helicon := n.Rules.ActivationTime(rules.Helicon)
			c.NetworkContext = evm.NetworkContext{
				NetworkID: n.Rules.NetworkID, ChainID: ids.ID(c.Row.BlockchainID), SubnetID: ids.ID(c.Row.SubnetID), Network: warpNetwork{n}, Helicon: &helicon,
			}
		}
	}
}

// warpNetwork answers the warp precompile's questions about the network. It has no context that ends: a block under way is not
// cut short.
type warpNetwork struct{ *Network }

// SubnetOf returns the subnet that validates a blockchain.
func (n warpNetwork) SubnetOf(blockchain ids.ID) (ids.ID, error) {
	return n.Network.SubnetOf(context.Background(), blockchain)
}

// WarpSet returns the canonical set of a subnet at the P-Chain height of the epoch of a block's time.
func (n warpNetwork) WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalValidatorSet, error) {
	ctx := context.Background()
	e, err := n.EpochAt(ctx, time)
	if err != nil {
		return nil, err
	}
	return n.CanonicalValidatorSet(ctx, subnet, e.PHeight)
}

// EpochAt returns the epoch (ACP-181) of an EVM block at a time. Epochs are numbered from the network's Granite upgrade.
func (n *Network) EpochAt(ctx context.Context, time uint64) (e txs.Epoch, err error) {
	e.Start = evm.EpochStart(time)
	after, err := n.DB.FirstPrimarySince(ctx, n.Chain(txs.PChain), int64(e.Start))
	if err != nil {
		return e, err
	}
	if after == 0 {
		return e, fmt.Errorf("P-Chain at %d: %w", time, store.ErrNotFound)
	}
	e.PHeight = after - 1
	if granite := n.Rules.ActivationTime(rules.Granite); time >= granite {
		e.Number = evm.EpochsBetween(granite, time) + 1
	}
	return e, nil
}

// Simulates reports whether a blockchain is one of the world's EVM chains.
func (n warpNetwork) Simulates(blockchain ids.ID) bool {
	return n.World.ChainByBlockchainID(blockchain) != nil
}
