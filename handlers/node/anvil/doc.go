// Package anvil is the JSON-RPC by which test clients control an EVM chain, under the names and with the parameters that Foundry's
// anvil and Hardhat's network have for it: the namespaces evm, anvil, hardhat and tenderly. Where the two mean something different by the
// same name, the evm name has Hardhat's meaning and the anvil name has anvil's.
package anvil
