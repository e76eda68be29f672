// Package txs holds the typed transactions, outputs and blocks of the P-Chain and the X-Chain and the atomic transactions
// of the C-Chain, as avalanchego's vms/platformvm/txs, vms/avm/txs, vms/secp256k1fx and coreth's plugin/evm/atomic do.
//
// Everything marshals to the network's own bytes (linear codec, version 0), so that ids are the hashes of those bytes and
// signatures recover to the owners. JSON is that of the node. Nothing here depends on a state, a fee or a clock.
package txs
