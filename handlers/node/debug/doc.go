// Package debug is the JSON-RPC of the namespace debug, as far as coreth and subnet-evm serve it and it is about the chain: traces
// (eth/tracers.API), raw bytes (internal/ethapi.DebugAPI) and whole states (eth.DebugAPI).
package debug
