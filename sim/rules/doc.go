// Package rules is what a network demands of those who use it: its ids and fees, the limits and rewards of staking
// (avalanchego's genesis and vms/platformvm/reward), the dynamic fee of the P-Chain (ACP-103; vms/platformvm/txs/fee and
// vms/components/gas) and the continuous fee of L1 validators (ACP-77; vms/platformvm/validators/fee).
package rules
