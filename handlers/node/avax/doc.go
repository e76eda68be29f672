// Package avax implements the JSON-RPC service for transfers between the C-Chain and the other chains of the primary network: coreth's
// plugin/evm/atomic/vm.AvaxAPI, with its errors.
package avax
