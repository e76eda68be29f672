// Package openrpc describes methods of JSON-RPC as an OpenRPC document (https://spec.open-rpc.org). Types come from the methods by reflection.
// Names of parameters and descriptions, which reflection does not have, come from names.json, which a test generates from the sources:
//
//	go test ./handlers/openrpc -update
package openrpc
