// Package evm serves the Data API's operations on EVM chains: chains, blocks, transactions, transfers, balances, NFTs and contracts.
package evm
