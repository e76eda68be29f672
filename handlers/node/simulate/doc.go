// Package simulate implements methods with which clients try calls and transactions in blocks that are then discarded, and which no node of the
// network has: eth_simulateV1 of go-ethereum's internal/ethapi and the specification at https://github.com/ethereum/execution-apis, eth_callMany
// of Erigon, and eth_callBundle of Flashbots (https://docs.flashbots.net/flashbots-auction/advanced/rpc-endpoint).
package simulate
