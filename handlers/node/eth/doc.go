// Package eth implements the JSON-RPC of one EVM chain: the namespaces eth, txpool, net and web3 of coreth and subnet-evm (internal/ethapi,
// eth/filters). Package rpc serves them, over HTTP and WebSocket.
//
// Each file holds the methods about one noun: block.go, transaction.go, send.go, wallet.go, txpool.go, state.go, call.go, gas.go, log.go,
// filter.go, subscribe.go, chain.go, and rules.go for the methods that only an L1 has; account.go, conditional.go, config.go and unlocked.go hold
// methods of newer clients. Clients ask for blocks, transactions and logs most
// often, so package marshal writes these without reflection.
package eth
