// Package primary holds the primary network's UTXO chains: the typed transactions, outputs and blocks of the P-Chain and
// the X-Chain, the C-Chain's atomic transactions, and the rules by which they change a chain's state.
//
// Everything marshals to the network's own bytes (linear codec, version 0), so that ids are the hashes of those bytes and
// signatures recover to the owners. Nothing here reads a clock or a file: a State is a value in memory, Apply verifies a
// transaction against it, and what changed comes out as a Diff for whoever stores it.
package txs
