// Package eth is the JSON-RPC of one EVM chain, over HTTP and WebSocket: the namespaces eth, txpool, net and web3 as
// coreth and subnet-evm have them (internal/ethapi, eth/filters), served by go-ethereum's rpc.Server.
//
// Each file has the methods about one noun: block.go, transaction.go, send.go, wallet.go, txpool.go, state.go, call.go, gas.go,
// log.go, filter.go, subscribe.go, chain.go, and rules.go for what only an L1 answers. What go-ethereum's server does
// differently from the network's nodes is put right around it (endpoint.go). It serves only the subscriptions of a WebSocket
// (websocket.go): other messages are served like requests over HTTP, because it bounds neither how many a connection has
// under way nor what a client leaves unread. Blocks, transactions and logs are asked for most, and are written
// by package marshal.
package eth
