// Package ots implements the JSON-RPC methods that the block explorer Otterscan needs besides the namespace eth, as Erigon defined them and
// anvil serves them: the namespace ots (https://docs.otterscan.io/api-docs/ots-api) and the one erigon method by which Otterscan recognises
// its node.
package ots
