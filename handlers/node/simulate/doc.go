// Package simulate implements eth_simulateV1, with which clients try calls in blocks that are then discarded. No node of the network has
// it; it follows go-ethereum's internal/ethapi and the specification at https://github.com/ethereum/execution-apis.
package simulate
