package xchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Asset is an asset of the X-Chain.
type Asset struct {
	ID           ids.ID
	Name         string
	Symbol       string
	Denomination byte
	Fxs          []uint32 // the feature extensions it supports
}

// Chain is the state of the X-Chain.
type Chain struct {
	utxo.UTXOState
	Strict  bool // recover every signature, even those that this process made
	journal *utxo.Journal
	assets  map[ids.ID]*Asset
}

// Diff holds the changes of one X-Chain transaction.
type Diff struct {
	utxo.Diff
	Asset *Asset // the asset it created
}

var errBlockType = errors.New("unexpected block type")

// New makes an X-Chain from the state of a genesis or of a stored chain.
func New(n *rules.Network, shared *utxo.SharedMemory, assets []*Asset, utxos []*txs.UTXO) *Chain {
	journal := &utxo.Journal{}
	x := &Chain{UTXOState: utxo.NewUTXOState(n, txs.XChain, shared, journal, utxos), journal: journal, assets: make(map[ids.ID]*Asset, len(assets))}
	for _, a := range assets {
		x.assets[a.ID] = a
	}
	return x
}

// Asset finds an asset.
func (x *Chain) Asset(assetID ids.ID) (*Asset, bool) {
	a, found := x.assets[assetID]
	return a, found
}

// BuildBlock makes the next block.
func (x *Chain) BuildBlock(time uint64, transactions []*txs.Tx) (*txs.Block, error) {
	return txs.NewBlock(txs.XChain, &txs.XChainBlock{ParentID: x.Tip(), Height: x.Height() + 1, Time: time, Txs: transactions})
}

// Check returns the reason why a transaction cannot be in a block of this time.
func (x *Chain) Check(tx *txs.Tx, time uint64) error {
	_, _, err := x.verify(tx, time)
	return err
}

// Accept verifies a block and applies it, returning one Diff for each transaction. On an error nothing changes.
func (x *Chain) Accept(b *txs.Block) ([]*Diff, error) {
	x.journal.Begin()
	diffs, err := x.accept(b)
	if err != nil {
		x.journal.Revert()
		return nil, fmt.Errorf("block %d of X: %w", b.Height(), err)
	}
	return diffs, nil
}

func (x *Chain) accept(b *txs.Block) ([]*Diff, error) {
	if _, ok := b.Body.(*txs.XChainBlock); !ok {
		return nil, errBlockType
	}
	if err := x.VerifyParent(b); err != nil {
		return nil, err
	}
	x.SetLastAccepted(b)
	diffs := make([]*Diff, len(b.Txs()))
	for i, tx := range b.Txs() {
		diff, err := x.apply(tx)
		if err != nil {
			return nil, fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
		diffs[i] = diff
	}
	return diffs, nil
}

// apply verifies a transaction at the chain's time and executes it.
func (x *Chain) apply(tx *txs.Tx) (*Diff, error) {
	spent, burned, err := x.verify(tx, x.Time())
	if err != nil {
		return nil, err
	}
	diff := &Diff{Diff: utxo.Diff{TxID: tx.ID(), Burned: burned}}
	x.SetDiff(&diff.Diff)
	x.MoveUTXOs(tx, spent)
	if op, ok := tx.Unsigned.(*txs.OperationTx); ok {
		if err := x.consumeOperations(op); err != nil {
			return nil, err
		}
	}
	if create, ok := tx.Unsigned.(*txs.CreateAssetTx); ok {
		diff.Asset = NewAsset(tx.ID(), create)
		utxo.Put(x.journal, x.assets, tx.ID(), diff.Asset)
	}
	return diff, nil
}

func (x *Chain) consumeOperations(tx *txs.OperationTx) error {
	for _, op := range tx.Ops {
		for _, from := range op.UTXOIDs {
			u, err := x.UTXO(from.InputID())
			if errors.Is(err, utxo.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			x.DeleteUTXO(u)
		}
	}
	return nil
}

func NewAsset(assetID ids.ID, tx *txs.CreateAssetTx) *Asset {
	a := &Asset{ID: assetID, Name: tx.Name, Symbol: tx.Symbol, Denomination: tx.Denomination}
	for _, state := range tx.States {
		a.Fxs = append(a.Fxs, state.FxIndex)
	}
	return a
}
