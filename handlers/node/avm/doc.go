// Package avm is the JSON-RPC service of the X-Chain, avalanchego's vms/avm.Service and WalletService, with their errors.
package avm
