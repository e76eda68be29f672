// Package anvil implements the JSON-RPC methods with which test clients control an EVM chain, under the names and with the parameters of
// Foundry's anvil and Hardhat's network: the namespaces evm, anvil, hardhat and tenderly. Where the two disagree about a method, the evm
// name follows Hardhat and the anvil name follows anvil.
package anvil
