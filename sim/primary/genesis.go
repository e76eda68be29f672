package primary

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/xchain"
)

// recordPChainGenesis records the P-Chain's genesis: its outputs, and its staking transactions as transactions of block 0.
func (n *Network) recordPChainGenesis(g *pchain.PChainGenesis, at pchain.Snapshot) (*store.PrimaryDelta, error) {
	b, err := g.Block()
	if err != nil {
		return nil, err
	}
	n.P.SetTip(b.ID(), 0, g.Timestamp)
	r := n.record(txs.PChain, 0)
	r.stake(ids.Empty, metric.Stake{})
	for i, tx := range g.Validators {
		if err := r.pChainTx(i, tx, &pchain.Diff{Stakers: at.Stakers[i : i+1]}); err != nil {
			return nil, err
		}
	}
	return r.genesisBlock(b, at.UTXOs, g.Timestamp)
}

// recordXChainGenesis records the X-Chain's genesis: its outputs, and the transactions that created its assets as transactions of block 0.
// Their ids are the assets' ids and not the hashes of their bytes, which differ from the public network's along with the outputs.
func (n *Network) recordXChainGenesis(g *xchain.XChainGenesis) (*store.PrimaryDelta, error) {
	b, err := g.Block()
	if err != nil {
		return nil, err
	}
	n.X.SetTip(b.ID(), 0, g.Timestamp)
	r := n.record(txs.XChain, 0)
	assets := g.State()
	for i, unsigned := range g.CreateAssetTxs(n.Rules.NetworkID) {
		tx, err := txs.NewTx(txs.XChain, unsigned)
		if err != nil {
			return nil, err
		}
		asset := assets[i]
		r.asset(asset, r.at(i))
		r.delta.Transactions = append(r.delta.Transactions, store.PrimaryTx{
			ID: r.at(i), Hash: bytes.Clone(asset.ID[:]), Type: tx.TypeName(), Bytes: tx.Bytes()})
		r.concern(r.at(i), [][]byte{asset.ID[:]})
		r.touch(r.at(i), slices.DeleteFunc(slices.Clone(g.UTXOs), func(u *txs.UTXO) bool { return u.AssetID != asset.ID }))
	}
	return r.genesisBlock(b, g.UTXOs, g.Timestamp)
}

// genesisBlock records a block 0, which has no proposer.
func (r *record) genesisBlock(b *txs.Block, utxos []*txs.UTXO, time uint64) (*store.PrimaryDelta, error) {
	if err := r.create(utxos, r.chain, nil); err != nil {
		return nil, err
	}
	id, parent := b.ID(), b.Parent()
	row := &store.PrimaryBlock{
		ID: r.at(0), Hash: id[:], Parent: bytes.Clone(parent[:]), Time: int64(time), Type: "Genesis", Size: len(b.Bytes()), Head: b.Bytes(),
	}
	r.finish(row, tip{outer: ids.ID(id), time: time})
	return r.delta, nil
}

// VerifyProofs checks the proofs of possession in a genesis; those in blocks are checked with their blocks.
func (g *Genesis) VerifyProofs() error {
	for i, tx := range g.PChain.Validators {
		u, ok := tx.Unsigned.(*txs.AddPermissionlessValidatorTx)
		if !ok {
			continue
		}
		proof, ok := u.Signer.(*txs.ProofOfPossession)
		if !ok {
			continue
		}
		if err := proof.Verify(); err != nil {
			return fmt.Errorf("genesis validator %d: %w", i, err)
		}
	}
	return nil
}

// Name returns mainnet or fuji.
func (n *Network) Name() string { return n.Rules.Name }
