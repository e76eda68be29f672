// Package jsonrpc has the types that arguments and answers of the node's services share, which are avalanchego's own: numbers as strings, bytes in
// hexadecimal. Package rpc serves the services.
package jsonrpc
