// Package consensus has the services of a node about its chains as consensus sees them: the ProposerVM, which puts a block of its
// own around each block, and the index of what was accepted, by avalanchego's indexer.
package consensus
