// Package utxo is what the three chains of a network have in common, as avalanchego's vms/components/avax,
// vms/platformvm/utxo and chains/atomic: unspent outputs and the shared memory between chains, the form of transactions,
// who may spend an output and whether amounts balance. AtomicBackend is the part of the C-Chain.
//
// A UTXOState is a value in memory. What a transaction changed comes out as a Diff for whoever stores it, and a Journal
// reverts a block that fails half-way.
package utxo
