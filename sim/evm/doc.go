// Package evm builds the blocks of the EVM chains of a world: the C-Chains, as coreth does, and the chains of L1s, as
// subnet-evm does, both under the rules since the Granite upgrade. go-ethereum executes transactions; this package adds what the
// network changes: header fields and account encoding, fees (ACP-176 on the C-Chain, the fee window of subnet-evm on an
// L1), the delay between blocks (ACP-226), burned fees, the precompiles (package precompile), warp predicates and atomic transactions.
//
// A block is made in three steps.
//
//  1. Execute. Builder.Open makes a Pending block on the head: the header as far as it is known, the state with the
//     precompiles that are due turned on or off, a VM. Pending.Apply verifies the predicates of a signed transaction,
//     executes it, burns its fee and keeps its receipt; a recorder keeps the calls inside it. Pending.Atomic ends the
//     block of a C-Chain with imports and exports. Dropping a Pending block changes nothing.
//  2. Index. Pending.Seal hashes the state, finishes the header and passes the rows of the block (a store.Delta) to the
//     index (package index), which adds transfers, tokens and their holders, deployments and Teleporter messages. The
//     block is the head of the builder from then on.
//  3. Commit. The caller writes the delta to the file in one transaction and publishes the block to the reading side
//     of the chain (package reader), which makes it its head and sends it to subscribers.
//
// A header follows from its parent, its time in milliseconds, the gas that was used and what its proposer desires (Desired), and
// from nothing else: fee_state.go has the arithmetic of a C-Chain's fees, fee.go that of an L1's and the choice between them,
// delay.go that of the delay. Whoever wants to know what comes next asks the same functions: Header.EarliestChild is the first
// millisecond at which Open accepts a block, ChildHeader the header of a block at a time before its execution, GasCapacity the gas that it can use,
// which on a C-Chain is less than its gas limit when blocks follow each other closely.
//
// The generator, the verification of a file and a transaction from a client all build blocks this way, so the same
// transactions always give the same rows. State is flat: the file has a row for each account and slot that a block
// changed, FlatState reads them, and tries exist in memory only, to hash the state of the head (buildState). Of large tries the file
// has the hashes of their parts at the head (trie_part.go), so that only those parts are read in which something is asked for or changes.
package evm
