// Package data holds what the families of Data API operations share: the base with the world and its caches, parameters, paging, JSON
// encoding, token names and prices. The operations are in its subfolders, one per OpenAPI tag: evm, primary, staking, icm and export. Each
// has its own handler type, caches, and Register function. A file holds one noun: its operations, the shape of its responses, and its
// handlers, which parse, read the world once and encode.
//
// Lists are newest first, by block and index, and across chains by block time. A page continues after a position of the world, so each item
// appears exactly once even while blocks arrive. An address's balances and items are listed in token order, which new blocks do not change.
//
// Current prices are those at the world's clock; historical prices are those of the hour of a transaction that is more than a day old.
//
// To add an endpoint over existing rows, write the operation and its handler in the file of its noun, and add its list of operations to the
// family's register.go.
package data
