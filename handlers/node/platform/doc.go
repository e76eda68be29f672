// Package platform is the JSON-RPC service of the P-Chain, avalanchego's vms/platformvm.Service, with its errors. Service has
// one Go method for each RPC method and little else; what it reads of the chain is in State, which info and the
// validators of a chain ask too.
package platform
