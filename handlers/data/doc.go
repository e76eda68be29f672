// Package data holds what the families of the Data API's operations share: the base with the world and its caches, parameters,
// paging, written JSON, the names and prices of tokens. The operations themselves are in its subfolders, by tag of the
// OpenAPI document: evm, primary, staking, icm and export. Each has its own type of handlers with its own caches, and a
// Register function; a file holds one noun: the operations, the shape of the answers, and the handlers, which parse, read once
// from the world and encode.
//
// Lists are newest first by block and index, across chains by block time, and go on after a position of the world, so
// that each item comes once, also while blocks arrive. An address's balances and items are listed in the order of
// their tokens, which no new block changes.
//
// What an answer says of prices is the world's clock's; historical prices are those of the hour of a transaction that
// is older than a day.
//
// To add an endpoint over existing rows: write the operation and its handler in the file of its noun, and name its list of
// operations in the family's register.go.
package data
