// Package primary serves the Data API's operations on the primary network's chains: blocks, transactions, UTXOs, balances, assets, subnets
// and blockchains. It treats the C-Chain as a chain of UTXOs with atomic transactions only.
//
// A chain's outputs are the ones it created and can spend, as its node lists them. Outputs that another chain exported to it and that it
// has not imported count in its balances as atomic memory. Exactly one transaction emits each output: the staking transaction emits a
// stake, even a returned one, and the RewardValidatorTx emits the reward. So a P-Chain transaction consumes exactly what it emits, burns
// and adds to the balances of L1 validators.
package primary
