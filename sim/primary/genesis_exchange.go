package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// GenesisAsset is an asset that an X-Chain begins with. AVAX keeps the id that it has on the public network.
type GenesisAsset struct {
	ID           ids.ID `serialize:"true"`
	Name         string `serialize:"true"`
	Symbol       string `serialize:"true"`
	Denomination byte   `serialize:"true"`
}

// ExchangeGenesis is what an X-Chain begins with.
type ExchangeGenesis struct {
	ParentID  ids.ID          `serialize:"true"` // of block 0: on the public networks the last vertex
	Timestamp uint64          `serialize:"true"`
	Assets    []*GenesisAsset `serialize:"true"`
	UTXOs     []*UTXO         `serialize:"true"`
}

// Bytes is the genesis in the X-Chain's encoding.
func (g *ExchangeGenesis) Bytes() ([]byte, error) { return XChain.marshal(g) }

// ParseExchangeGenesis reads what Bytes wrote.
func ParseExchangeGenesis(b []byte) (*ExchangeGenesis, error) {
	g := &ExchangeGenesis{}
	if err := XChain.unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("X-Chain genesis: %w", err)
	}
	return g, nil
}

// Block is the X-Chain's block 0.
func (g *ExchangeGenesis) Block() (*Block, error) {
	return NewBlock(XChain, &ExchangeBlock{ParentID: g.ParentID, Time: g.Timestamp, Txs: []*Tx{}})
}

// State is what the X-Chain knows at its block 0: assets that hold amounts.
func (g *ExchangeGenesis) State() []*Asset {
	assets := make([]*Asset, len(g.Assets))
	for i, a := range g.Assets {
		assets[i] = &Asset{ID: a.ID, Name: a.Name, Symbol: a.Symbol, Denomination: a.Denomination, Fxs: []uint32{0}}
	}
	return assets
}
