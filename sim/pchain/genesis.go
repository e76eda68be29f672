package pchain

import (
	"fmt"

	"github.com/ava-labs/avalanchego/utils/hashing"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// GenesisUTXO is an output of a P-Chain genesis; Message is free text.
type GenesisUTXO struct {
	txs.UTXO `serialize:"true"`
	Message  []byte `serialize:"true"`
}

// PChainGenesis is the P-Chain's genesis in the network's own layout. Validators holds staking transactions without inputs; those that
// start after Timestamp are pending. Chains stays empty: the ids of the primary network's own chains are constants here.
type PChainGenesis struct {
	UTXOs         []*GenesisUTXO `serialize:"true"`
	Validators    []*txs.Tx      `serialize:"true"`
	Chains        []*txs.Tx      `serialize:"true"`
	Timestamp     uint64         `serialize:"true"`
	InitialSupply uint64         `serialize:"true"`
	Message       string         `serialize:"true"`
}

// Bytes returns the genesis in the P-Chain's encoding.
func (g *PChainGenesis) Bytes() ([]byte, error) { return txs.PChain.Marshal(g) }

// ParsePChainGenesis parses the output of Bytes.
func ParsePChainGenesis(b []byte) (*PChainGenesis, error) {
	g := &PChainGenesis{}
	if err := txs.PChain.Unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("P-Chain genesis: %w", err)
	}
	return g, txs.Initialize(txs.PChain, g.Validators)
}

// Block returns the P-Chain's block 0.
func (g *PChainGenesis) Block() (*txs.Block, error) {
	b, err := g.Bytes()
	if err != nil {
		return nil, err
	}
	return txs.NewBlock(txs.PChain, &txs.GenesisBlock{Link: txs.Link{ParentID: hashing.ComputeHash256Array(b)}})
}

// State returns the P-Chain's state after its block 0. The genesis stakers' potential rewards already count as supply, added in the order
// of the transactions.
func (g *PChainGenesis) State(n *rules.Network) (Snapshot, error) {
	at := Snapshot{Time: g.Timestamp, Supply: g.InitialSupply, Fees: rules.FeeState{Capacity: n.Fees.MaxCapacity}}
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
			s.PotentialReward = n.StakingAt(s.Start).Reward(s.End-s.Start, s.Weight, at.Supply)
			at.Supply += s.PotentialReward
		}
		at.Stakers = append(at.Stakers, s)
	}
	return at, nil
}
