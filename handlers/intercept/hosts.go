package intercept

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"snowglobe/fixtures"
)

// hostName is a DNS name with at least two labels (RFC 1123).
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$`)

// allowedName is what --allow-host takes: a name, of one label too, or all names below one.
var allowedName = regexp.MustCompile(`^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

// ParseHost reads the value of --as-host: HOST=data, metrics, node, etherscan, compilers or chain:ID.
func ParseHost(text string) (fixtures.Host, error) {
	name, service, found := strings.Cut(text, "=")
	h := fixtures.Host{Name: normal(name), Service: fixtures.Service(service), Network: fixtures.MainnetName}
	if !found || len(h.Name) > 253 || !hostName.MatchString(h.Name) {
		return h, fmt.Errorf("%q is not of the form HOST=data, metrics, node, etherscan, compilers or chain:ID, with a host name such as rpc.example.com, in ASCII (xn--…)", text)
	}
	if id, chain := strings.CutPrefix(service, "chain:"); chain {
		h.Service, h.Chain = fixtures.ChainService, id
	}
	switch h.Service {
	case fixtures.ChainService, fixtures.DataService, fixtures.MetricsService, fixtures.NodeService, fixtures.ScanService, fixtures.CompilerService:
		return h, nil
	}
	return h, fmt.Errorf("%q is not one of data, metrics, node, etherscan, compilers, chain:ID", service)
}

// ParseAllowed reads a value of --allow-host: a name, *.example.com for all names below one, or an address.
func ParseAllowed(text string) (string, error) {
	name := normal(text)
	if _, err := netip.ParseAddr(name); err == nil {
		return name, nil
	}
	if !allowedName.MatchString(name) {
		return "", fmt.Errorf("%q is not a host name in ASCII (xn--…), *.example.com or an address, without a port", text)
	}
	return name, nil
}

// normal returns a host name in lower case without the root's dot, or an address as Go writes it, without brackets.
func normal(host string) string {
	name := strings.Trim(strings.TrimSuffix(strings.ToLower(host), "."), "[]")
	if a, err := netip.ParseAddr(name); err == nil {
		return a.Unmap().String()
	}
	return name
}

// split returns the name and the port of a host, with a default port.
func split(host, port string) (name, given string) {
	if name, given, err := net.SplitHostPort(host); err == nil {
		return normal(name), given
	}
	return normal(host), port
}

// loopback reports whether a name or address means this machine. To connect to the unspecified address is to connect to loopback.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (a.Unmap().IsLoopback() || a.Unmap().IsUnspecified())
}

// allowed reports whether --allow-host lets a host pass.
func allowed(patterns []string, host string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, wild := strings.CutPrefix(p, "*")
		return p == host || wild && strings.HasSuffix(host, below)
	})
}

// Chain is an EVM chain of the world, for hosts and paths that name one.
type Chain struct {
	ID           string // EVM chain id
	BlockchainID string
	Name         string
	Network      string
	Primary      bool // the C-Chain
}

// slug is the chain's name in URLs of the explorer.
func (c *Chain) slug() string {
	if c.Primary {
		return "c-chain"
	}
	return strings.ReplaceAll(strings.ToLower(c.Name), " ", "-")
}

// chain finds a chain by its name in a URL or one of its ids; on a network if the name is that of both.
func chainNamed(chains []Chain, name, network string) *Chain {
	i := slices.IndexFunc(chains, func(c Chain) bool {
		return c.ID == name || c.BlockchainID == name || c.slug() == name && (c.Network == network || !c.Primary)
	})
	if i < 0 {
		return nil
	}
	return &chains[i]
}

// target is where a request for a host of the table goes in this server.
type target struct {
	path     string
	redirect bool // the browser must go there
}

// resolve maps a path of a host to a path of this server.
func resolve(h *fixtures.Host, chains []Chain, r *http.Request) target {
	path := r.URL.Path
	switch h.Service {
	case fixtures.ChainService:
		c := chainNamed(chains, h.Chain, h.Network)
		if c == nil || strings.HasPrefix(path, "/ext/") {
			return target{path: path}
		}
		return target{path: endpoint(c, r)}
	case fixtures.CoreService:
		if path == "/watchlist/tokens" {
			path = "/sim/watchlist"
		}
	case fixtures.CompilerService:
		if path == "/bin/list.txt" {
			path = "/sim/compilers/list.txt"
		}
	case fixtures.ExplorerService:
		return explorer(chains, h.Network, r)
	}
	return target{path: path}
}

// endpoint returns the path of a chain's JSON-RPC. Providers serve WebSocket at the path of HTTP or at one that ends with ws.
func endpoint(c *Chain, r *http.Request) string {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || strings.HasSuffix(r.URL.Path, "/ws") {
		return "/ext/bc/" + c.BlockchainID + "/ws"
	}
	return "/ext/bc/" + c.BlockchainID + "/rpc"
}

// explorer maps a path of the public explorer: subnets.avax.network/{chain}/tx/{hash}, and the JSON-RPC that it serves for L1s.
func explorer(chains []Chain, network string, r *http.Request) target {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if last := parts[len(parts)-1]; len(parts) > 1 && (last == "rpc" || last == "ws") {
		if c := chainNamed(chains, parts[0], network); c != nil {
			return target{path: endpoint(c, r)}
		}
	}
	rest := ""
	if len(parts) > 1 {
		rest = "/" + strings.Join(parts[1:], "/")
	}
	switch parts[0] {
	case "p-chain", "x-chain":
		return target{"/" + parts[0][:1] + "/" + network + rest, true}
	case "validators":
		if rest != "" {
			rest = "/node" + rest
		}
		return target{"/p/" + network + rest, true}
	case "subnets":
		if rest != "" {
			rest = "/subnet" + rest
		}
		return target{"/p/" + network + rest, true}
	}
	if c := chainNamed(chains, parts[0], network); c != nil && parts[0] != "" {
		return target{"/sim/explorer/" + c.ID + rest, true}
	}
	return target{path: r.URL.Path}
}

var errNoChain = errors.New("--as-host")

// checkChains returns an error for a host whose chain the world does not have.
func checkChains(hosts []fixtures.Host, chains []Chain) error {
	for _, h := range hosts {
		if h.Service == fixtures.ChainService && chainNamed(chains, h.Chain, h.Network) == nil {
			var known []string
			for _, c := range chains {
				known = append(known, c.ID)
			}
			return fmt.Errorf("%w: %s=chain:%s: the world has no such chain, only %s", errNoChain, h.Name, h.Chain, strings.Join(known, ", "))
		}
	}
	return nil
}
