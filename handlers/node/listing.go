package node

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
)

// offer is what a handler does: by which HTTP methods it is called, and which methods of JSON-RPC it has.
type offer struct{ verbs, operations []string }

// offering is a handler that says what it does. One that does not answers to GET.
type offering interface{ offers() *offer }

// offer is what a handler says of itself.
func offerOf(h http.Handler) *offer {
	if o, ok := h.(offering); ok {
		return o.offers()
	}
	return &offer{verbs: []string{http.MethodGet}}
}

var _ handlers.Lister = (*Node)(nil)

// Endpoints lists everything that the node serves, each at all of its paths.
func (n *Node) Endpoints() []handlers.Endpoint {
	paths := map[*offer][]string{}
	var order []*offer
	add := func(network, path string, o *offer) {
		if paths[o] == nil {
			order = append(order, o)
		}
		if _, named := chainByID(path); named || network == n.options.Network {
			paths[o] = append(paths[o], "/ext/"+path)
		}
		paths[o] = append(paths[o], "/"+network+"/ext/"+path)
	}
	for _, network := range networks {
		for _, path := range slices.Sorted(maps.Keys(n.routes[network])) {
			add(network, path, n.routes[network][path].offer)
		}
		add(network, "bc/{blockchainId}/validators", validatorsOffer)
	}
	var all []handlers.Endpoint
	for _, o := range order {
		operations := append([]string{}, o.operations...)
		all = append(all, handlers.Endpoint{Interface: "node", Methods: o.verbs, Paths: paths[o], Operations: operations})
	}
	return all
}

// validatorsOffer is the same for every chain that a subnet validates.
var validatorsOffer = &offer{[]string{http.MethodPost}, []string{"validators.getCurrentValidators"}}

// methodsOf are the names by which the methods of services are called. What can only be subscribed to is not among them.
func methodsOf(all []service) map[string]bool {
	names := map[string]bool{"rpc_modules": true}
	for _, s := range all {
		methods := reflect.TypeOf(s.methods)
		for i := range methods.NumMethod() {
			if m := methods.Method(i); m.Type.NumOut() == 0 || m.Type.Out(0) != reflect.TypeFor[*rpc.Subscription]() {
				names[s.namespace+"_"+lowerFirst(m.Name)] = true
			}
		}
	}
	return names
}

// offers are those of the services that share a path.
func (s *serviceHandler) offers() *offer { return s.offer }

// operations are the methods of a service that the server took: those with a request, arguments and an answer.
func (s *serviceHandler) operations(service Service) []string {
	var names []string
	methods := reflect.TypeOf(service.Methods)
	for i := range methods.NumMethod() {
		name := service.Name + "." + methods.Method(i).Name
		if s.server.HasMethod(name) {
			names = append(names, service.Name+"."+lowerFirst(strings.TrimPrefix(name, service.Name+".")))
		}
	}
	return names
}

func (e *endpoint) offers() *offer { return e.offer }

// socket is the other way to a chain's methods.
type socket struct {
	http.Handler
	offer *offer
}

func (s *socket) offers() *offer { return s.offer }

func (b byMethod) offers() *offer { return b.offer }
