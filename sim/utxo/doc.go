// Package utxo holds the parts that a network's three chains share, following avalanchego's vms/components/avax, vms/platformvm/utxo and
// chains/atomic: unspent outputs and the shared memory between chains, the form of transactions, the authorization to spend an output and
// the balance of amounts. AtomicBackend is the C-Chain's part.
//
// A UTXOState is a value in memory. A transaction's changes come out as a Diff for the caller to store, and a Journal reverts a block that
// fails half-way.
package utxo
