// Package warp holds cross-chain messages (ICM, formerly Avalanche Warp Messaging; avalanchego's vms/platformvm/warp and
// its package message): their bytes, the BLS keys that sign them, the canonical validator set whose bits
// a signature names, aggregation and verification. It is pure: bytes and a validator set in, bytes or an error out.
package warp
