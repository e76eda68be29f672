// Package data serves the indexed Data API for EVM chains: chains, blocks, transactions, transfers, balances, NFTs and
// contracts. Each file holds one noun: the operations, the shape of the answers, and the handlers, which parse, read
// once from the world and encode.
//
// Lists are newest first by block and index, across chains by block time, and go on after a position of the world, so
// that each item comes once, also while blocks arrive. An address's balances and items are listed in the order of
// their tokens, which no new block changes.
//
// What an answer says of prices is the world's clock's; historical prices are those of the hour of a transaction that
// is older than a day.
package data
