// Package miner makes the blocks of EVM chains in an open world, from clients' transactions or empty on request. A Miner has the pool and
// the builder of one chain; all miners of a world share its writer's lock, so that only one block is built and committed at a time, and
// readers never wait.
//
// With automine, the default, a transaction is in a block of its own when Send returns. Without it, a transaction waits for Mine, called by
// a client or by Run after every interval of real time. The rules of the network's pool apply first. If several senders wait for the lock at
// once, their blocks go into the file in one database transaction; no client sees a difference.
//
// A block gets the earliest time that the network's rules allow after its parent, but not one before the world's clock, and moves the clock
// there. Clients can ask for another time, base fee, gas limit or coinbase: the file then stores an override beside the block.
package miner
