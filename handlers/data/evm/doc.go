// Package evm serves the Data API's operations about EVM chains: chains, blocks, transactions, transfers, balances, NFTs and
// contracts.
package evm
