package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// verifyPrimary makes every network again in a separate world in memory, and compares each table with the file's.
func verifyPrimary(ctx context.Context, w *sim.World, found Findings) (err error) {
	again, err := store.Create(store.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, again.Close()) }()
	batch, err := again.Begin()
	if err != nil {
		return err
	}
	if err := batch.End(replay(ctx, w, batch, found)); err != nil {
		return err
	}
	return w.DB.SamePrimary(ctx, again)
}

func replay(ctx context.Context, w *sim.World, batch *store.Batch, found Findings) error {
	rows, err := w.DB.PrimaryNetworks(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	sink := func(delta *store.PrimaryDelta) error {
		found["primary_tx"].Add(int64(len(delta.Transactions)))
		found["utxo"].Add(int64(len(delta.UTXOs)))
		mu.Lock()
		defer mu.Unlock()
		return batch.AddPrimaryBlock(delta)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, row := range rows {
		group.Go(func() error {
			if err := verifyNetwork(ctx, w, row, sink); err != nil {
				return fmt.Errorf("network %d: %w", row.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func verifyNetwork(ctx context.Context, w *sim.World, row store.PrimaryNetwork, sink func(*store.PrimaryDelta) error) error {
	cChain, err := cChainRow(w, row.ID)
	if err != nil {
		return err
	}
	if err := verifyNodes(ctx, w, row.ID); err != nil {
		return err
	}
	genesis, err := primary.ParseGenesis(row)
	if err != nil {
		return err
	}
	if err := genesis.VerifyProofs(); err != nil {
		return err
	}
	n, err := primary.Replay(ctx, w.DB, row, cChain, true, sink)
	if err != nil {
		return err
	}
	return verifyL1Chains(ctx, w, n)
}

func cChainRow(w *sim.World, networkID uint32) (int, error) {
	for _, n := range w.Networks {
		if n.Rules.NetworkID == networkID {
			if c := w.ChainByBlockchainID(n.Rules.CChainID); c != nil {
				return c.Row.ID, nil
			}
		}
	}
	return 0, errNoCChain
}

var errNoCChain = errors.New("there is no C-Chain")

// verifyNodes checks that each node's id matches its certificate.
func verifyNodes(ctx context.Context, w *sim.World, networkID uint32) error {
	nodes, err := w.DB.Nodes(ctx, networkID)
	if err != nil {
		return err
	}
	for i := range nodes {
		if id := txs.NodeIDOf(nodes[i].Certificate); !bytes.Equal(id[:], nodes[i].Node) {
			return fmt.Errorf("node %x: its certificate's id is %s", nodes[i].Node, id)
		}
	}
	return verifyKeys(ctx, w, networkID, nodes)
}

// verifyKeys checks that the validators of the generated history use the keys of their nodes. Clients may give a node another.
func verifyKeys(ctx context.Context, w *sim.World, networkID uint32, nodes []store.Node) error {
	keys := map[string][]byte{}
	for i := range nodes {
		key := warp.NewSecretKey([32]byte(nodes[i].Secret)).PublicKey().Compressed()
		keys[string(nodes[i].Node)] = key[:]
	}
	chain := store.PrimaryChain(rules.Index(networkID), store.PChain)
	stakers, err := w.DB.Stakers(ctx, chain)
	if err != nil {
		return err
	}
	for _, s := range stakers {
		if s.ID.Number() > 0 && s.Start >= w.Meta.Until {
			continue
		}
		if key, known := keys[string(s.Node)]; known && s.BLS != nil && !bytes.Equal(s.BLS, key) {
			return fmt.Errorf("validator %x: its key differs from its node's", s.Tx)
		}
	}
	return nil
}

// verifyL1Chains checks that the P-Chain made each L1's chain and subnet, with the stored genesis.
func verifyL1Chains(ctx context.Context, w *sim.World, n *primary.Network) error {
	for _, c := range w.Chains {
		if c.Row.Network != n.Name() || c.Kind == evm.KindC {
			continue
		}
		row, err := w.DB.PrimaryTxByHash(ctx, n.Chain(txs.PChain), c.Row.BlockchainID)
		if err != nil {
			return fmt.Errorf("chain %d: the P-Chain does not know it: %w", c.Row.EVMID, err)
		}
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			return err
		}
		made, ok := tx.Unsigned.(*txs.CreateChainTx)
		if !ok || !bytes.Equal(made.SubnetID[:], c.Row.SubnetID) || !bytes.Equal(made.GenesisData, c.Row.Genesis) {
			return fmt.Errorf("chain %d: it differs from what transaction %s created", c.Row.EVMID, tx.ID())
		}
	}
	return nil
}
