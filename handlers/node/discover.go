package node

import (
	"net/http"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/openrpc"
)

// Described holds the methods served at some paths; the first path is the shortest.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Describe describes every method of the node; methods at several paths appear once.
func (n *Node) Describe() []Described {
	var all []Described
	n.each(func(paths []string, c *rpc.Capabilities) {
		if c.Methods != nil && c.HTTP[len(c.HTTP)-1] == http.MethodPost {
			all = append(all, Described{paths, c.Described()})
		}
	})
	return all
}
