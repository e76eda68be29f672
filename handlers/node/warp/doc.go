// Package warp implements the namespace warp, about the messages that an EVM chain sends to others: avalanchego's graft/coreth/warp.API.
package warp
