// Package node answers for a node: JSON-RPC over HTTP and WebSocket under /ext, path by path and byte by byte as the
// network's own nodes do.
//
// Every EVM chain has one go-ethereum rpc.Server, reachable at /ext/bc/{blockchain id}/rpc and /ws; the C-Chain of the
// network also by its aliases. A prefix names the other network: /fuji/ext/bc/C/rpc. What go-ethereum's server does
// differently from the network's nodes is put right around it (endpoint.go).
package node
