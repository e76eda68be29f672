// Package node answers for a node: JSON-RPC over HTTP and WebSocket under /ext, path by path and byte by byte as the
// network's own nodes do.
//
// Every EVM chain has one go-ethereum rpc.Server, reachable at /ext/bc/{blockchain id}/rpc and /ws; the C-Chain of the
// network also by its aliases. A prefix names a network, and nothing of the other is found there: /fuji/ext/bc/C/rpc.
// Without a prefix a path speaks of the network that the node is of, and a blockchain id of its chain, wherever it is. What
// go-ethereum's server does differently from the network's nodes is put right around it (endpoint.go).
package node
