// Package miner makes the blocks of EVM chains in an open world: of what clients send, and of nothing when they ask for that. A Miner has
// the pool and the builder of one chain; all miners of a world share the lock of its writer, so that one block is built and
// committed at a time, and readers wait for none.
//
// With automine, as it is by default, a transaction is in a block of its own when Send returns. Without, it waits for Mine: a
// client's, or every interval of real time in Run. What is sent is checked by the rules of the network's pool first.
//
// A block takes the earliest time that the network's rules allow after its parent, but not one before the world's clock, and
// moves the clock there. Clients can ask for another time, base fee, gas limit or coinbase: the file then has an override
// beside the block.
package miner
