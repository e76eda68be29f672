// Package txs holds the typed transactions, outputs and blocks of the P-Chain and the X-Chain and the atomic transactions of the C-Chain,
// following avalanchego's vms/platformvm/txs, vms/avm/txs, vms/secp256k1fx and coreth's plugin/evm/atomic.
//
// Everything marshals to the network's own bytes (linear codec, version 0), so ids are the hashes of those bytes and signatures recover to
// the owners. JSON matches the node's. Nothing here depends on state, fees or a clock.
package txs
