// Package data serves the indexed Data API: for EVM chains the chains, blocks, transactions, transfers, balances, NFTs
// and contracts, for the primary network the blocks, transactions, outputs, stakers and L1 validators. Each file holds
// one noun: the operations, the shape of the answers, and the handlers, which parse, read once from the world and encode.
//
// Lists are newest first by block and index, across chains by block time, and go on after a position of the world, so
// that each item comes once, also while blocks arrive. An address's balances and items are listed in the order of
// their tokens, which no new block changes.
//
// The primary network's lists of stakers are answered from rosters (roster.go), which hold a network's stakers as one
// block and one second of the clock have them. A staker begins and ends by the clock, also before the block that says
// so; a stake is staked until the block that returns it. The C-Chain of the primary network is seen as a chain of UTXOs:
// only its atomic transactions count.
//
// A chain's outputs are those that it made and can spend, as its node lists them; what another chain exported to it and
// it did not import is in its balances, as atomic memory. Each output is emitted by one transaction: a stake by the one
// that staked it, also when it is returned, a reward by the RewardValidatorTx. So what a transaction of the P-Chain
// consumed is what it emitted, burned and put into balances of L1 validators.
//
// What rosters and purses (purse.go) hold is listed off a shelf (shelf.go), on which every item has a place that never
// changes: a page goes on after it, wherever it stands by then.
//
// Exports are jobs: operation.go starts them and tells how far they are, package sim carries them out.
//
// What an answer says of prices is the world's clock's; historical prices are those of the hour of a transaction that
// is older than a day.
package data
