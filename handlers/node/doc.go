// Package node answers for a node: JSON-RPC over HTTP and WebSocket under /ext, path by path and byte by byte like the network's own nodes.
// It routes requests (router.go, aliases.go), does what avalanchego's api/server does around every handler (http.go), and implements the
// services about the node itself: admin, health and the validators of a chain. The packages below implement the others: eth for EVM chains,
// platform and avm for the P-Chain and the X-Chain, info. Methods that clients of a devnet expect of its EVM chains, but that no node of
// the network has, live in their own packages: anvil, trace, ots, simulate.
//
// Every EVM chain is reachable at /ext/bc/{blockchain id}/rpc and /ws; the network's C-Chain also by its aliases. A prefix selects a
// network and hides the other: /fuji/ext/bc/C/rpc. Without a prefix, a path means the network of Options.Network; a blockchain id means its
// chain on either network.
//
// To add a service, write a package below with its methods, a line where addNetwork mounts it, and a transcript.
package node
