package xchain

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// GenesisAsset is an asset in an X-Chain's genesis. AVAX keeps its id from the public network.
type GenesisAsset struct {
	ID           ids.ID `serialize:"true"`
	Name         string `serialize:"true"`
	Symbol       string `serialize:"true"`
	Denomination byte   `serialize:"true"`
}

// XChainGenesis is an X-Chain's genesis.
type XChainGenesis struct {
	ParentID  ids.ID          `serialize:"true"` // of block 0: on the public networks the last vertex
	Timestamp uint64          `serialize:"true"`
	Assets    []*GenesisAsset `serialize:"true"`
	UTXOs     []*txs.UTXO     `serialize:"true"`
}

// Bytes returns the genesis in the X-Chain's encoding.
func (g *XChainGenesis) Bytes() ([]byte, error) { return txs.XChain.Marshal(g) }

// ParseXChainGenesis parses the output of Bytes.
func ParseXChainGenesis(b []byte) (*XChainGenesis, error) {
	g := &XChainGenesis{}
	if err := txs.XChain.Unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("X-Chain genesis: %w", err)
	}
	return g, nil
}

// Block returns the X-Chain's block 0.
func (g *XChainGenesis) Block() (*txs.Block, error) {
	return txs.NewBlock(txs.XChain, &txs.XChainBlock{ParentID: g.ParentID, Time: g.Timestamp, Txs: []*txs.Tx{}})
}

// State returns the X-Chain's assets after its block 0; they have amounts only.
func (g *XChainGenesis) State() []*Asset {
	assets := make([]*Asset, len(g.Assets))
	for i, a := range g.Assets {
		assets[i] = &Asset{ID: a.ID, Name: a.Name, Symbol: a.Symbol, Denomination: a.Denomination, Fxs: []uint32{0}}
	}
	return assets
}

// networkGenesis is an X-Chain's genesis in the network's form (avm.Genesis): the transactions that created its first assets.
type networkGenesis struct {
	Txs []*networkGenesisAsset `serialize:"true"`
}

type networkGenesisAsset struct {
	Alias             string `serialize:"true"`
	txs.CreateAssetTx `serialize:"true"`
}

// CreateAssetTxs returns the transactions that created the genesis assets, each with its initial outputs. No asset's id is the hash of its
// transaction: AVAX has the id of the public network.
func (g *XChainGenesis) CreateAssetTxs(networkID uint32) []*txs.CreateAssetTx {
	all := make([]*txs.CreateAssetTx, len(g.Assets))
	for i, a := range g.Assets {
		state := &txs.InitialState{Outs: []txs.Output{}}
		for _, u := range g.UTXOs {
			if u.AssetID == a.ID {
				state.Outs = append(state.Outs, u.Out)
			}
		}
		base := txs.BaseTx{NetworkID: networkID, Outs: []*txs.TransferableOutput{}, Ins: []*txs.TransferableInput{}, Memo: []byte{}}
		all[i] = &txs.CreateAssetTx{BaseTx: base, Name: a.Name, Symbol: a.Symbol, Denomination: a.Denomination, States: []*txs.InitialState{state}}
	}
	return all
}

// NetworkBytes returns the genesis as the network's nodes read it.
func (g *XChainGenesis) NetworkBytes(networkID uint32) ([]byte, error) {
	made := &networkGenesis{}
	for _, tx := range g.CreateAssetTxs(networkID) {
		made.Txs = append(made.Txs, &networkGenesisAsset{tx.Symbol, *tx})
	}
	return txs.XChain.Marshal(made)
}
