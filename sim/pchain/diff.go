package pchain

import (
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Diff is what one transaction, or the passing of time between blocks, changed of the P-Chain. It carries the new
// values, ready to be stored.
type Diff struct {
	utxo.Diff
	Rewards      []*txs.UTXO // those of Created that pay a reward
	Stakers      []*Staker
	Subnets      []*Subnet
	Blockchains  []*Blockchain
	L1Validators []*L1Validator
}
