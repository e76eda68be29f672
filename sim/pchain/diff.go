package pchain

import (
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Diff holds the changes that one transaction, or the passing of time between blocks, made to the P-Chain: the new values, ready to be
// stored.
type Diff struct {
	utxo.Diff
	Rewards      []*txs.UTXO // outputs of Created that pay a reward
	Stakers      []*Staker
	Subnets      []*Subnet
	Blockchains  []*Blockchain
	L1Validators []*L1Validator
}
