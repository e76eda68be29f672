// Package primary serves the Data API's operations about the primary network's chains: blocks, transactions, UTXOs, balances,
// assets, subnets and blockchains. The C-Chain is seen as a chain of UTXOs here: only its atomic transactions count.
//
// A chain's outputs are those that it made and can spend, as its node lists them; what another chain exported to it and
// it did not import is in its balances, as atomic memory. Each output is emitted by one transaction: a stake by the one
// that staked it, also when it is returned, a reward by the RewardValidatorTx. So what a transaction of the P-Chain
// consumed is what it emitted, burned and put into balances of L1 validators.
package primary
