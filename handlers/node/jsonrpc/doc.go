// Package jsonrpc is what the node's services share that speak JSON-RPC by gorilla/rpc, as avalanchego's own services do
// (utils/json.NewCodec): the handler of services that share a path, numbers as strings, and the name under which a
// request is logged and counted.
//
// A method of a service takes the request, a pointer to its arguments and a pointer to its answer, and is called by its
// name with a lower-case first letter: GetHeight of the service platform is platform.getHeight. Methods of another shape
// are helpers and not served. To add an RPC method is to add one Go method with its arguments and answer, and a
// transcript under testdata/transcripts/node.
package jsonrpc
