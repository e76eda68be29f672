package node

import (
	"net/http"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/openrpc"
)

// Described are the methods that are served at some paths, the first of them the shortest way to name it.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Describe tells about every method of the node, those that are at several paths once.
func (n *Node) Describe() []Described {
	var all []Described
	n.each(func(paths []string, c *rpc.Capabilities) {
		if c.Methods != nil && c.HTTP[len(c.HTTP)-1] == http.MethodPost {
			all = append(all, Described{paths, c.Methods()})
		}
	})
	return all
}
