// Package jsonrpc defines the types that arguments and replies of the node's services share, which are avalanchego's own: numbers as
// strings, bytes in hexadecimal. Package rpc serves the services.
package jsonrpc
