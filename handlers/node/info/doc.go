// Package info is the node's service /ext/info, avalanchego's api/info: who the node is, what it runs, its peers, and the
// fees and upgrades of its network. A public server has no NodeService, which says what is about one particular node.
package info
