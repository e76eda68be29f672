// Package trace is the JSON-RPC of the namespace trace, which a node of the network does not have: the traces of transactions as
// OpenEthereum defined them and as Erigon and anvil serve them, https://openethereum.github.io/JSONRPC-trace-module. They are
// those of the tracer flatCallTracer of the namespace debug, with OpenEthereum's names for errors.
package trace
