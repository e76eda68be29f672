// Package primary is what the services of the P-Chain and the X-Chain share: heights, blocks, transactions, addresses and
// pages of UTXOs, with the errors and the order of avalanchego (vms/components/avax, utils/formatting).
package primary
