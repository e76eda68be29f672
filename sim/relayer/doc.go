// Package relayer delivers the Teleporter messages that clients send from one simulated chain of a network to another, as a relayer of the
// network does (icm-services, relayer). It puts the validators' aggregate signature into the access list of an ordinary transaction of the
// persona "relayer" that calls receiveCrossChainMessage.
//
// The call that made a message's block also delivers the message, after that block and before it returns, in the order of sending. So there
// is no goroutine here, and the same requests in the same order make the same world. A delivery goes through the miner of its chain:
// without automine it waits in the pool like a client's transaction. If a delivery makes a contract send another message, the same call
// delivers that too, up to a limit: contracts may answer each other for ever.
//
// Like a relayer of the network, it skips messages that name other relayers, want more gas than a block has, were delivered already, or go
// to unknown chains. The aggregator signs warp messages of other contracts for anyone who asks, but nobody delivers them.
//
// A message that lacks a quorum or funds waits, and later calls try to deliver it again, a few messages in each, the oldest first. Waiting messages
// stay in memory only, since the index shows which ones clients sent and the relayer delivered: Start delivers what clients sent while there was no
// relayer, or before a process ended.
package relayer
