// Package simulate is the JSON-RPC by which clients try calls in blocks that nobody keeps: eth_simulateV1, which a node of the network
// does not have, as go-ethereum's internal/ethapi and the specification at https://github.com/ethereum/execution-apis have it.
package simulate
