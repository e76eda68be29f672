// Package relayer delivers the Teleporter messages that clients send from one simulated chain of a network to another, as a relayer of
// the network does (icm-services, relayer): the validators' aggregate signature, in the access list of an ordinary transaction
// of the persona "relayer" that calls receiveCrossChainMessage.
//
// A message is delivered in the call that made its block, after that block and before the call returns, in the order of sending.
// So there is no goroutine here, and the same requests in the same order make the same world. A delivery goes through the
// miner of its chain: without automine it waits in the pool like what clients send. What a delivery makes its contract send is
// delivered in the same call too, up to a bound: contracts may answer each other for ever.
//
// As a relayer of the network does, it leaves alone what names other relayers, what wants more gas than a block has, what was delivered
// already, and what goes to chains that it does not know. Warp messages that are not the messenger's are signed for
// whoever asks the aggregator, and delivered by nobody.
//
// What could not be delivered, for want of a quorum or of funds, is tried again in later calls, some of it in each, the oldest first.
// What still waits is remembered in memory only, since the index tells what was sent and delivered: Start delivers what clients sent
// while there was no relayer, or before a process ended.
package relayer
