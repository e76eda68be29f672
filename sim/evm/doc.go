// Package evm builds the blocks of the EVM chains of a world: the C-Chains, as coreth does, and the chains of L1s, as
// subnet-evm does, both under the rules since the Granite upgrade. go-ethereum executes transactions; this package adds what the
// network changes: header fields and account encoding, fees (ACP-176 on the C-Chain, the fee window of subnet-evm on an
// L1), the delay between blocks (ACP-226), burned fees, the precompiles (package precompile), warp predicates and atomic transactions.
//
// A block takes three steps.
//
//  1. Execute. Builder.Open makes a BlockExecution on the head: the header as far as it is known, the state with due
//     precompiles turned on or off, and a VM. BlockExecution.Apply verifies a signed transaction's predicates, executes it,
//     burns its fee and keeps its receipt; a recorder keeps its inner calls. BlockExecution.Atomic ends a C-Chain's block with
//     imports and exports. Dropping a BlockExecution changes nothing.
//  2. Index. BlockExecution.Seal hashes the state, finishes the header and passes the block's rows (a store.Delta) to the
//     index (package index), which adds transfers, tokens and their holders, deployments and Teleporter messages. The
//     block is then the builder's head.
//  3. Commit. The caller writes the delta to the file in one transaction and publishes the block to the reading side
//     of the chain (package reader), which makes it the head and sends it to subscribers.
//
// A header depends only on its parent, its time in milliseconds, the gas used and its proposer's wishes (Desired).
// acp176.go computes a C-Chain's fees before Helicon and gas_time.go since then, fee_window.go an L1's, and fee.go chooses; acp226.go has the delay.
// To predict the next block, ask the same functions: Header.EarliestChild returns the first millisecond at which Open accepts a block,
// ChildHeader the header of a block at a time before its execution, and GasCapacity the gas it can use, which on a C-Chain is
// less than the gas limit when blocks follow each other closely.
//
// The generator, the verifier and a client's transaction all build blocks this way, so the same transactions always give the
// same rows. State is flat: the file has a row for each account and slot that a block changed, and FlatState reads them.
// Tries exist in memory only, to hash the head's state (stateDatabase). For large tries the file stores the hashes of their
// parts at the head (trie_part.go), so that a query or a change reads only the parts it touches.
package evm
