// Package webhook decides which webhooks are told of what happens, and promises them messages in the commit in which it happens.
//
// Of an EVM chain a webhook is told of each transaction in which one of its addresses took part: as sender, recipient or created
// contract, by emitting a log, as sender or recipient of a token, or of value by a call within. Of a primary network it is told of
// what a [Filter] names: what changes the balances of addresses, or what happens to the validators of a node or a subnet.
//
// The file of the world is asked anew for each block, in its own transaction: nothing is kept in memory that could differ from it.
package webhook
