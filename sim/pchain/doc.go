// Package pchain implements the P-Chain. Its parts follow avalanchego's vms/platformvm: State (state), the L1 validators with their
// continuous fee (ACP-77), txExecutor (txs/executor) with one method for each type of transaction, blockExecutor (block/executor), rewarder
// for stakers whose staking period is over (executor/proposal_tx_executor), and Chain, which builds blocks and accepts them.
//
// A block changes everything or nothing; each of its transactions yields a Diff with its changes.
package pchain
