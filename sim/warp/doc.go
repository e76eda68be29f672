// Package warp holds cross-chain messages: their bytes, the BLS keys that sign them, the canonical validator set whose bits
// a signature names, aggregation and verification. It is pure: bytes and a validator set in, bytes or an error out.
package warp
