// Package rpc is the node's one JSON-RPC server. It treats a call as a value: it reads an HTTP body or a WebSocket message once (call.go)
// and sends each of its calls the same way (server.go): it checks the client's permission (package permit), applies fault rules (package
// fault), looks for a remembered result (remember.go), and otherwise calls the method. The result is bytes or a writer of known size
// (result.go); the journal records the outcome.
//
// There are two kinds of servers, and each uses a node's exact words: one with positional parameters, batches and subscriptions, like
// go-ethereum's for an EVM chain (method.go), and one with services that are registered with gorilla/rpc and read as avalanchego's codec
// reads (service.go). Fuzz tests compare ours with these, over HTTP and WebSocket. To add a method to a chain, add a Go method to a
// namespace; a service's method takes the request, a pointer to its arguments and a pointer to its reply. Add a transcript under
// testdata/transcripts/node with it.
package rpc
