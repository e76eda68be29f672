package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// Asset is something that the X-chain's outputs hold.
type Asset struct {
	ID           ids.ID
	Name         string
	Symbol       string
	Denomination byte
	Fxs          []uint32 // the feature extensions it may be used with
}

// Exchange is the state of the X-chain.
type Exchange struct {
	State
	Strict bool // recover every signature, even those that this process made
	assets map[ids.ID]*Asset
}

// NewExchange begins at a genesis, or where a stored chain stands.
func NewExchange(n *Network, shared *SharedMemory, assets []*Asset, utxos []*UTXO) *Exchange {
	x := &Exchange{State: newState(n, XChain, shared, utxos), assets: make(map[ids.ID]*Asset, len(assets))}
	for _, a := range assets {
		x.assets[a.ID] = a
	}
	return x
}

// Asset finds an asset.
func (x *Exchange) Asset(assetID ids.ID) (*Asset, bool) {
	a, found := x.assets[assetID]
	return a, found
}

// Build makes the next block.
func (x *Exchange) Build(time uint64, txs []*Tx) (*Block, error) {
	return NewBlock(XChain, &ExchangeBlock{ParentID: x.tip, Height: x.height + 1, Time: time, Txs: txs})
}

// Check says why a transaction could not be in a block of this time.
func (x *Exchange) Check(tx *Tx, time uint64) error {
	now := x.time
	defer func() { x.time = now }()
	x.time = time
	_, _, err := x.verify(tx)
	return err
}

// Accept verifies a block and applies it, giving one Diff for each transaction. On an error nothing has changed.
func (x *Exchange) Accept(b *Block) ([]*Diff, error) {
	x.begin()
	diffs, err := x.accept(b)
	if err != nil {
		x.revert()
		return nil, fmt.Errorf("block %d of X: %w", b.Height(), err)
	}
	return diffs, nil
}

func (x *Exchange) accept(b *Block) ([]*Diff, error) {
	if _, ok := b.Body.(*ExchangeBlock); !ok {
		return nil, errBlockType
	}
	if err := x.links(b); err != nil {
		return nil, err
	}
	x.link(b)
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

// apply verifies a transaction at the chain's time and carries it out.
func (x *Exchange) apply(tx *Tx) (*Diff, error) {
	spent, burned, err := x.verify(tx)
	if err != nil {
		return nil, err
	}
	diff := x.start(tx.ID())
	diff.Burned = burned
	x.settle(tx, spent)
	if op, ok := tx.Unsigned.(*OperationTx); ok {
		x.consumeOperations(op)
	}
	if create, ok := tx.Unsigned.(*CreateAssetTx); ok {
		diff.Asset = newAsset(tx.ID(), create)
		put(&x.journal, x.assets, tx.ID(), diff.Asset)
	}
	return diff, nil
}

func (x *Exchange) consumeOperations(tx *OperationTx) {
	for _, op := range tx.Ops {
		for _, from := range op.UTXOIDs {
			if u, found := x.UTXO(from.InputID()); found {
				x.spend(u)
			}
		}
	}
}

func newAsset(assetID ids.ID, tx *CreateAssetTx) *Asset {
	a := &Asset{ID: assetID, Name: tx.Name, Symbol: tx.Symbol, Denomination: tx.Denomination}
	for _, state := range tx.States {
		a.Fxs = append(a.Fxs, state.FxIndex)
	}
	return a
}
