package primary

import (
	"fmt"

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
