// Package data serves the indexed Data API: for EVM chains the chains, blocks, transactions, transfers, balances, NFTs
// and contracts, for the primary network the blocks, stakers and L1 validators. Each file holds one noun: the
// operations, the shape of the answers, and the handlers, which parse, read once from the world and encode.
//
// Lists are newest first by block and index, across chains by block time, and go on after a position of the world, so
// that each item comes once, also while blocks arrive. An address's balances and items are listed in the order of
// their tokens, which no new block changes.
//
// The primary network's lists of stakers are answered from rosters (roster.go), which hold a network's stakers as one
// block and one second of the clock have them. A staker begins and ends by the clock, also before the block that says
// so. The C-Chain of the primary network is seen as a chain of UTXOs: only its atomic transactions count.
//
// Exports are jobs: operation.go starts them and tells how far they are, package sim carries them out.
//
// What an answer says of prices is the world's clock's; historical prices are those of the hour of a transaction that
// is older than a day.
package data
