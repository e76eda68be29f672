// Package reader answers questions about the history of an EVM chain: blocks, transactions, receipts and logs, the state after any block,
// calls, gas estimates, simulated blocks, access lists, traces, proofs and fee suggestions. It gives the node's JSON-RPC services values to
// encode, and it never changes the chain.
//
// Chain holds the newest block and caches of history; history never changes, so their entries stay valid. Code from a client runs on a copy
// of the state after a block, within Limits and in the same VM that builds blocks (evm.NewVM), so a call sees what a transaction would see.
// Chain.Publish makes a committed block the head and sends it to subscribers.
package reader
