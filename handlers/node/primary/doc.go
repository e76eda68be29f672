// Package primary holds what the P-Chain's and the X-Chain's services share: heights, blocks, transactions, addresses and pages of UTXOs,
// with avalanchego's errors and order (vms/components/avax, utils/formatting).
package primary
