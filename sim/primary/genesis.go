package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// GenesisUTXO is an output of a P-Chain genesis; Message is free text.
type GenesisUTXO struct {
	UTXO    `serialize:"true"`
	Message []byte `serialize:"true"`
}

// PlatformGenesis is what a P-Chain begins with, in the network's own layout. Validators are staking transactions without
// inputs; whose start is past Timestamp waits for it. Chains stays empty: the ids of the primary network's own chains are
// constants here.
type PlatformGenesis struct {
	UTXOs         []*GenesisUTXO `serialize:"true"`
	Validators    []*Tx          `serialize:"true"`
	Chains        []*Tx          `serialize:"true"`
	Timestamp     uint64         `serialize:"true"`
	InitialSupply uint64         `serialize:"true"`
	Message       string         `serialize:"true"`
}

// Bytes is the genesis in the P-Chain's encoding.
func (g *PlatformGenesis) Bytes() ([]byte, error) { return PChain.marshal(g) }

// ParsePlatformGenesis reads what Bytes wrote.
func ParsePlatformGenesis(b []byte) (*PlatformGenesis, error) {
	g := &PlatformGenesis{}
	if err := PChain.unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("P-Chain genesis: %w", err)
	}
	return g, Initialize(PChain, g.Validators)
}

// Block is the P-Chain's block 0.
func (g *PlatformGenesis) Block() (*Block, error) {
	b, err := g.Bytes()
	if err != nil {
		return nil, err
	}
	return NewBlock(PChain, &GenesisBlock{Link{ParentID: hashing.ComputeHash256Array(b)}})
}

// State is what the P-Chain knows at its block 0. Potential rewards of those who stake already count as supply, one
// after the other as the transactions stand.
func (g *PlatformGenesis) State(n *Network) (PlatformState, error) {
	at := PlatformState{Time: g.Timestamp, Supply: g.InitialSupply, Fees: FeeState{Capacity: n.Fees.MaxCapacity}}
	for _, u := range g.UTXOs {
		at.UTXOs = append(at.UTXOs, &u.UTXO)
	}
	for i, tx := range g.Validators {
		s, err := NewStaker(tx, Active)
		if err != nil {
			return at, fmt.Errorf("genesis validator %d: %w", i, err)
		}
		if s.Start > g.Timestamp {
			s.Status = Pending
		} else {
			s.PotentialReward = n.Staking.Reward(s.End-s.Start, s.Weight, at.Supply)
			at.Supply += s.PotentialReward
		}
		at.Stakers = append(at.Stakers, s)
	}
	return at, nil
}

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
