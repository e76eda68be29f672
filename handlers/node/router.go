package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
)

// route is the handler of a path, and the logger of its requests, nil for the server's own.
type route struct {
	handler      http.Handler
	log          *slog.Logger
	capabilities *rpc.Capabilities
	calls        rest.Caller // reads the calls of its requests; nil for a handler that takes none
}

// router maps paths after /ext/ to the handlers of one network, like avalanchego's api/server router.
type router struct {
	network    *sim.Network // nil if the node does not serve the network's P- and X-Chain
	nodeID     string
	log        *slog.Logger
	loggers    *Loggers // nil for the server's own logger
	routes     map[string]route
	aliases    aliases
	validators *rpc.Server // of the chains that subnets validate
}

func newRouter(log *slog.Logger) *router {
	return &router{log: log, nodeID: ids.EmptyNodeID.String(), routes: map[string]route{}, aliases: aliases{endpoints: map[string]string{}}}
}

func (t *router) handle(path string, h http.Handler) {
	r := route{handler: h, capabilities: rpc.CapabilitiesOf(h)}
	r.calls, _ = h.(rest.Caller)
	if t.network != nil && t.loggers != nil {
		r.log = t.loggers.named(loggerOf(t.network, path))
	}
	t.routes[path] = r
}

// loggerOf returns the name of the logger for a path: its chain's, or main.
func loggerOf(n *sim.Network, path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "bc/"), "/")
	if id, known := n.Aliases.Lookup(name); known {
		return n.Aliases.Names(id)[0]
	}
	return "main"
}

// resolve follows aliases of endpoints and chains until it finds a route. It stops at an alias that leads back to itself.
func (t *router) resolve(path string) route {
	for range t.aliases.count() + 2 {
		if r := t.routes[path]; r.handler != nil {
			return r
		}
		if next, found := t.aliases.replace(path); found {
			path = next
			continue
		}
		next, found := replaceChain(t.network, path)
		if !found {
			break
		}
		path = next
	}
	if id, found := chainOfValidators(path); found {
		return route{handler: t.validatorsOf(id), calls: t.validators}
	}
	return route{}
}

// alias serves an endpoint at another path too, with avalanchego's errors (api/server router.AddAlias). A missing endpoint is not an error.
func (t *router) alias(ctx context.Context, endpoint, name string) error {
	t.aliases.mu.Lock()
	defer t.aliases.mu.Unlock()
	if _, taken := t.aliases.endpoints[name]; taken || t.ofChain(ctx, name) {
		return fmt.Errorf("route is either already aliased or already maps to a handle: /ext/%s", name)
	}
	t.aliases.endpoints[name] = endpoint
	if t.routes[name].handler != nil {
		return fmt.Errorf("failed to create endpoint as /ext/%s already exists", name)
	}
	return nil
}

// ofChain reports whether a path belongs to a chain under an alias, or to its validators.
func (t *router) ofChain(ctx context.Context, path string) bool {
	if _, found := replaceChain(t.network, path); found {
		return true
	}
	id, found := chainOfValidators(path)
	if !found {
		return false
	}
	_, err := t.subnetOf(ctx, id)
	return !errors.Is(err, store.ErrNotFound) // nor is it known that there is none
}

// subnetOf finds the subnet that validates a chain of the network; it does not find the primary network's chains.
func (t *router) subnetOf(ctx context.Context, id ids.ID) (ids.ID, error) {
	if t.network == nil {
		return ids.Empty, store.ErrNotFound
	}
	subnet, err := t.network.SubnetOf(ctx, id)
	if err == nil && subnet == ids.Empty {
		err = store.ErrNotFound
	}
	return subnet, err
}

// chainByID returns the chain that a path bc/{blockchainID} or a path below it names. The P-Chain has the same id everywhere.
func chainByID(path string) (ids.ID, bool) {
	path, found := strings.CutPrefix(path, "bc/")
	name, _, _ := strings.Cut(path, "/")
	id, err := parse.ID(name)
	return id, found && err == nil && id != ids.Empty
}
