// Package info implements the node's service /ext/info, avalanchego's api/info: the node's identity, software and peers, and the fees and
// upgrades of its network. A public server lacks NodeService, which describes one particular node.
package info
