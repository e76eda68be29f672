package xchain

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// GenesisAsset is an asset that an X-Chain begins with. AVAX keeps the id that it has on the public network.
type GenesisAsset struct {
	ID           ids.ID `serialize:"true"`
	Name         string `serialize:"true"`
	Symbol       string `serialize:"true"`
	Denomination byte   `serialize:"true"`
}

// XChainGenesis is what an X-Chain begins with.
type XChainGenesis struct {
	ParentID  ids.ID          `serialize:"true"` // of block 0: on the public networks the last vertex
	Timestamp uint64          `serialize:"true"`
	Assets    []*GenesisAsset `serialize:"true"`
	UTXOs     []*txs.UTXO     `serialize:"true"`
}

// Bytes is the genesis in the X-Chain's encoding.
func (g *XChainGenesis) Bytes() ([]byte, error) { return txs.XChain.Marshal(g) }

// ParseXChainGenesis reads what Bytes wrote.
func ParseXChainGenesis(b []byte) (*XChainGenesis, error) {
	g := &XChainGenesis{}
	if err := txs.XChain.Unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("X-Chain genesis: %w", err)
	}
	return g, nil
}

// Block is the X-Chain's block 0.
func (g *XChainGenesis) Block() (*txs.Block, error) {
	return txs.NewBlock(txs.XChain, &txs.XChainBlock{ParentID: g.ParentID, Time: g.Timestamp, Txs: []*txs.Tx{}})
}

// State is the assets of the X-Chain after its block 0; they have amounts only.
func (g *XChainGenesis) State() []*Asset {
	assets := make([]*Asset, len(g.Assets))
	for i, a := range g.Assets {
		assets[i] = &Asset{ID: a.ID, Name: a.Name, Symbol: a.Symbol, Denomination: a.Denomination, Fxs: []uint32{0}}
	}
	return assets
}
