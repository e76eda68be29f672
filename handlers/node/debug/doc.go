// Package debug implements the chain-related part of the debug namespace that coreth and subnet-evm serve: traces (eth/tracers.API), raw
// bytes (internal/ethapi.DebugAPI) and whole states (eth.DebugAPI).
package debug
