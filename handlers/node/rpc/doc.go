// Package rpc is the node's one server of JSON-RPC. A call is a value: the body of a request over HTTP, or a message over WebSocket, is read once
// (call.go), and each of its calls goes one way (server.go): may the client make it (package permit), does a rule have it fail (package fault), is its
// result remembered (remember.go), else the method is called. Its result is bytes or a writer of known size (result.go); what came of it is told to
// the journal.
//
// There are two kinds of servers, and each has a node's exact words: one with positional parameters, batches and subscriptions, as go-ethereum has it
// for an EVM chain (method.go), and one with services that are registered with gorilla/rpc and read as avalanchego's codec reads (service.go).
// Fuzz tests compare them with these, over HTTP and WebSocket. To add a method of a chain is to add one Go method to a namespace; one of a service
// takes the request, a pointer to its arguments and a pointer to its answer. A transcript under testdata/transcripts/node goes with it.
package rpc
