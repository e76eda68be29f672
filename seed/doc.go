// Package seed decides which world to generate: its size (a profile), its seed and the end of its history. It creates the accounts,
// networks and chains, and advances them in the order of time: before a C-Chain makes a block, the P- and X-Chain of its network make
// theirs up to that time; an L1's chain begins once the P-Chain has created it.
//
// Package seed/evm decides what happens on an EVM chain, seed/primary what happens on P and X, including L1s and ICM messages, and
// seed/population who takes part. All of them make signed transactions and no rows: package sim executes, indexes and commits them like a
// client's. The key of each random draw names its purpose (population.RNG), so adding one thing does not change another, and nothing here
// reads the wall clock.
//
// People keep an open world alive: its accounts act in the world's time as they did in its history. Their actions depend on the seed, the
// time and the present world, so a world generated until a time and one that lived on until then are alike in shape only.
//
// Every change to a generated world's bytes raises sim.Generator and rewrites testdata/digests.txt (make golden).
package seed
