// Package openrpc describes methods of JSON-RPC as an OpenRPC document (https://spec.open-rpc.org). Types come from the methods
// themselves, by reflection; the names of parameters and what a method is for, which reflection does not know, from names.json,
// which a test makes of the sources:
//
//	go test ./handlers/openrpc -update
package openrpc
