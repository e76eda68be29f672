// Package avm implements the JSON-RPC services of the X-Chain, avalanchego's vms/avm.Service and WalletService, with their errors.
package avm
