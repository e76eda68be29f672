// Package reader answers questions about the history of an EVM chain: blocks, transactions, receipts and logs, the state
// after any block, calls, gas estimates, simulated blocks, access lists, traces, proofs and fee suggestions. It gives the node's JSON-RPC
// services what they encode, and it never changes the chain.
//
// Chain holds the newest block and caches of history; history never changes, so
// their entries never become invalid. Code that a client wants to run is executed on a copy of the state after a block, within Limits and in
// the same VM that builds blocks (evm.NewVM), so a call finds what a transaction would find. Chain.Publish makes a
// committed block the head and sends it to subscribers.
package reader
