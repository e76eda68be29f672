// Package platform implements the P-Chain's JSON-RPC service, avalanchego's vms/platformvm.Service, with its errors. Service has one Go
// method for each RPC method and little else; State reads the chain, also for info and for the validators of a chain.
package platform
