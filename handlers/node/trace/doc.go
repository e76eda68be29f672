// Package trace implements the namespace trace, which no node of the network has: transaction traces as OpenEthereum defined them
// (https://openethereum.github.io/JSONRPC-trace-module) and as Erigon, reth and anvil serve them. The calls are the results of flatCallTracer, a
// tracer of the namespace debug, with OpenEthereum's names for errors.
package trace
