// Package seed decides which world is made: its size (a profile), its seed and the end of its history. It makes the accounts,
// networks and chains, and advances them in the order of time: before a C-Chain makes a block, the P- and X-Chain of its network
// make theirs up to that time; the chain of an L1 begins once the P-Chain has created it.
//
// What happens on an EVM chain is decided in seed/evm, what happens on P and X, L1s and ICM messages in seed/primary, and who is
// there in seed/population. All of them make signed transactions and no rows: package sim executes, indexes and commits them like
// those of a client. Randomness is keyed by what it is for (population.RNG), so that adding one thing does not change another,
// and nothing here reads the wall clock.
//
// People let an open world live on: its accounts act in the world's time as they did in its history. What they do depends on the seed, the
// time and the world as it is, so a world that was generated until a time and one that lived on until then are alike in shape only.
//
// Whatever changes the bytes of a generated world raises sim.Generator and rewrites testdata/digests.txt (make golden).
package seed
