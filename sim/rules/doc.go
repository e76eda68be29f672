// Package rules holds the parameters of a network and the formulas that use them: its ids and fees, the limits and rewards of staking
// (avalanchego's genesis and vms/platformvm/reward), the dynamic fee of the P-Chain (ACP-103; vms/platformvm/txs/fee and
// vms/components/gas) and the continuous fee of L1 validators (ACP-77; vms/platformvm/validators/fee).
package rules
