// Package node answers for a node: JSON-RPC over HTTP and WebSocket under /ext, path by path and byte by byte as the
// network's own nodes do. It routes (router.go, aliases.go), does what avalanchego's api/server does around every handler
// (http.go), and has the services that are about the node itself: admin, health and the validators of a chain. The
// others are packages below: eth for EVM chains, platform and avm for the P-Chain and the X-Chain, info. What a node of the network
// does not have, and clients of a devnet ask its EVM chains for, is in packages of its own: anvil, trace, ots, simulate.
//
// Every EVM chain is reachable at /ext/bc/{blockchain id}/rpc and /ws; the C-Chain of the network also by its aliases. A
// prefix names a network, and nothing of the other is found there: /fuji/ext/bc/C/rpc. Without a prefix a path
// means the network of Options.Network; a blockchain id means its chain on either network.
//
// To add a service: a package below with its methods, a line where addNetwork mounts it, and a transcript.
package node
