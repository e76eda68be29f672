// Package xchain implements the X-Chain: its assets, and the verification of the transactions that create, mint and move them
// (avalanchego's vms/avm/txs/executor).
package xchain
