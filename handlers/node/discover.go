package node

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/rest"
)

// Described are the methods that are served at some paths, the first of them the shortest way to name it.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Describe tells about every method of the node, those that are at several paths once.
func (n *Node) Describe() []Described {
	var all []Described
	n.each(func(paths []string, c *jsonrpc.Capabilities) {
		if c.Methods != nil && c.HTTP[len(c.HTTP)-1] == http.MethodPost {
			all = append(all, Described{paths, c.Methods()})
		}
	})
	return all
}

// discover is the method by which OpenRPC has a server tell of itself (https://spec.open-rpc.org/#service-discovery-method).
// No avalanchego has it: it is beside the methods that are listed.
const discover = "rpc.discover"

// discoverBytes is the longest request that is looked at.
const discoverBytes = 1 << 10

// discovers answers a request for the document about what is served at its path, and says whether it was one.
func (n *Node) discovers(w http.ResponseWriter, r *http.Request, served route) bool {
	if n.options.Discover == nil || served.capabilities == nil || served.capabilities.Methods == nil ||
		r.Method != http.MethodPost || r.ContentLength <= 0 || r.ContentLength > discoverBytes {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), failing{err}), r.Body}
	var call struct {
		ID     json.RawMessage
		Method string
	}
	if !bytes.Contains(body, []byte(discover)) || json.Unmarshal(body, &call) != nil || call.Method != discover {
		return false
	}
	rest.KeepRequest(r.Context(), body)
	jsonrpc.NameRequest(r.Context(), discover)
	if call.ID == nil {
		call.ID = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": n.options.Discover(r, served.capabilities.Methods())}) // a client that has left needs no answer
	return true
}

// failing is what comes after the bytes of a body that could be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}
