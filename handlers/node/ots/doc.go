// Package ots is the JSON-RPC that the block explorer Otterscan needs beside the namespace eth, as Erigon defined it and anvil serves it:
// the namespace ots (https://docs.otterscan.io/api-docs/ots-api) and the one method of erigon by which it recognises its node.
package ots
