// Package webhook decides which webhooks get a message about an event, and promises the messages in the commit of the event.
//
// A webhook about an EVM chain gets each transaction that involves one of its addresses: as sender, recipient or created contract, by
// emitting a log, or as sender or recipient of a token, or of value in an inner call. A webhook about a primary network gets the events
// that a [Filter] names: changes of the balances of addresses, or of the validators of a node or a subnet.
//
// Each block reads the webhooks from the world's file anew, in its own transaction: nothing in memory can differ from it.
package webhook
