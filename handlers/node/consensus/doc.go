// Package consensus implements the node's services about its chains as consensus sees them: the ProposerVM, which wraps each block in its
// own, and avalanchego's index of accepted containers (package indexer).
package consensus
