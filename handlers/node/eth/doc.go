// Package eth is the JSON-RPC of one EVM chain: the namespaces eth, txpool, net and web3 as coreth and subnet-evm have them (internal/ethapi,
// eth/filters). Package rpc serves them, over HTTP and WebSocket.
//
// Each file has the methods about one noun: block.go, transaction.go, send.go, wallet.go, txpool.go, state.go, call.go, gas.go,
// log.go, filter.go, subscribe.go, chain.go, and rules.go for what only an L1 answers. Blocks, transactions and logs are asked for most, and are
// written by package marshal.
package eth
