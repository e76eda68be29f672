package etherscan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/verification"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Options configures the API.
type Options struct {
	World  *sim.World
	Node   http.Handler // answers the module proxy
	Permit *permit.Rule // decides who may verify contracts

	Contracts *verification.Service

	// Network returns the network of a request whose path names none.
	Network func(*http.Request) string

	// Indexed returns the world that the lagging index of a chain shows, until the caller calls done; nil if the index does not lag.
	Indexed func(ctx context.Context, c *reader.Chain) (w *sim.World, done func(), err error)
}

// API is the handler of all paths.
type API struct{ options Options }

var (
	_ rest.Lister  = (*API)(nil)
	_ rest.Located = (*API)(nil)
)

// New makes the handler.
func New(o Options) *API { return &API{o} }

// Prefixes lists the paths at and below which the handler answers.
var Prefixes = []string{"/api", "/v2/api", "/mainnet/api", "/fuji/api", routescan}

// routescan begins the paths of Routescan: /v2/network/mainnet/evm/43114/etherscan/api, with or without the last element.
const routescan = "/v2/network"

// maxBody bounds a form, as the node bounds a call. The compiler's standard JSON input has all sources of a project, usually less than a megabyte.
const maxBody = 5 << 20

// action answers an action of a module.
type action struct {
	class  permit.Class
	handle func(*request) (any, error)
}

// with turns a handler for something that requests name into one that reads it first.
func with[T any](read func(*request) (T, error), handle func(*request, T) (any, error)) func(*request) (any, error) {
	return func(r *request) (any, error) {
		named, err := read(r)
		if err != nil {
			return nil, err
		}
		return handle(r, named)
	}
}

// actions lists everything by "module.action", in lower case.
var actions = joined(accountActions, transferActions, transactionActions, blockActions, logActions, statsActions, tokenActions, gasActions, contractActions, verifyActions, proxyActions)

func joined(all ...map[string]action) map[string]action {
	joined := map[string]action{}
	for _, some := range all {
		for name, a := range some {
			joined[strings.ToLower(name)] = a
		}
	}
	return joined
}

// request is a request with its parameters and the world that answers it.
type request struct {
	*http.Request
	api    *API
	values parameters
	name   string // module.action, as actions lists it; empty for an unknown one
	world  *sim.World
	chain  *reader.Chain
}

func (r *request) db() *store.DB { return r.world.DB }

// head returns the number of the chain's newest block.
func (r *request) head() (*reader.Block, error) { return r.chain.Head(r.Context()) }

// parsed is what Locate and ServeHTTP both need of a request.
type parsed struct {
	values parameters
	err    error
}

type parsedKey struct{}

// parse reads the parameters of the query and, in a POST, of the body. It returns the request that has them already, for the next who asks.
func parse(r *http.Request) (*http.Request, *parsed) {
	if p, done := r.Context().Value(parsedKey{}).(*parsed); done {
		return r, p
	}
	p := &parsed{}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.err = refusal("Error! The query string is malformed")
	}
	p.values = parameters{}
	p.values.add(query)
	if r.Method == http.MethodPost && p.err == nil {
		p.err = p.readBody(r)
	}
	return r.WithContext(context.WithValue(r.Context(), parsedKey{}, p)), p
}

var errBody = refusal("Error! The body is larger than 5 MiB or could not be read to its end")

// readBody reads a form. A body of another type has no parameters.
func (p *parsed) readBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return errBody
	}
	rest.Mounted(r.Context()).KeepBody(body)
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = "application/x-www-form-urlencoded"
	}
	switch kind {
	case "multipart/form-data":
		again := &http.Request{Method: http.MethodPost, Header: r.Header, Body: io.NopCloser(bytes.NewReader(body))}
		if params["boundary"] == "" || again.ParseMultipartForm(maxBody) != nil {
			return refusal("Error! The form is malformed")
		}
		defer func() { _ = again.MultipartForm.RemoveAll() }()
		p.values.add(again.MultipartForm.Value)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return refusal("Error! The form is malformed")
		}
		p.values.add(form)
	}
	return nil
}

// Locate finds the network and the chain that a request is for.
func (a *API) Locate(r *http.Request) (located *http.Request, network, chain string) {
	r, p := parse(r)
	if name := p.values.action(); name != "" {
		rest.Mounted(r.Context()).Operation = name
	}
	c, err := a.chainOf(r, p.values)
	if err != nil {
		return r, "", ""
	}
	return r, c.Row.Network, strconv.FormatUint(c.Row.EVMID, 10)
}

const chainList = "please see https://api.etherscan.io/v2/chainlist for the list of supported chainids"

var (
	errNoChain      = refusal("Missing chainid parameter (required for v2 api), " + chainList)
	errUnknownChain = refusal("Missing or unsupported chainid parameter (required for v2 api), " + chainList)
	errPath         = errors.New("no such path")
)

// chainOf returns the chain that the path or the parameter chainid names, or the C-Chain of the request's network.
func (a *API) chainOf(r *http.Request, values parameters) (*reader.Chain, error) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	network := ""
	switch {
	case path == "/api":
		network = a.options.Network(r)
	case path == "/mainnet/api", path == "/fuji/api":
		network = strings.Split(path, "/")[1]
	case path == "/v2/api":
	default:
		return a.chainOfRoutescan(path)
	}
	id := cmp.Or(values["chainid"], values["chain_id"]) // Etherscan's, Blockscout's
	switch {
	case id == "" && network == "":
		return nil, errNoChain
	case id == "":
		return a.primaryChain(network)
	}
	return a.chainByID(id)
}

// primaryChain returns the C-Chain of a network.
func (a *API) primaryChain(network string) (*reader.Chain, error) {
	for _, c := range a.options.World.Chains {
		if c.Kind == evm.KindC && c.Row.Network == network {
			return c, nil
		}
	}
	return nil, errUnknownChain
}

func (a *API) chainByID(text string) (*reader.Chain, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if c := a.options.World.ChainByEVMID(id); err == nil && c != nil {
		return c, nil
	}
	return nil, errUnknownChain
}

// chainOfRoutescan reads a path of Routescan, which calls fuji testnet.
func (a *API) chainOfRoutescan(path string) (*reader.Chain, error) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, routescan+"/"), "/api"), "/")
	if len(parts) != 4 || parts[1] != "evm" || parts[3] != "etherscan" {
		return nil, errPath
	}
	c, err := a.chainByID(parts[2])
	if err != nil {
		return nil, err
	}
	named := parts[0] == c.Row.Network || parts[0] == "testnet" && c.Row.Network == fixtures.FujiName || parts[0] == "all"
	if !named {
		return nil, errUnknownChain
	}
	return c, nil
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	case http.MethodOptions:
		rest.Preflight(w, r)
		return
	default:
		h.Set("Allow", "GET, HEAD, OPTIONS, POST")
		send(w, r, http.StatusMethodNotAllowed, refusal("Error! Only GET and POST are allowed"))
		return
	}
	r, p := parse(r)
	q := &request{Request: r, api: a, values: p.values, name: p.values.action(), world: a.options.World}
	if q.name != "" {
		rest.Mounted(r.Context()).Operation = q.name
	}
	if p.err != nil {
		send(w, r, http.StatusOK, p.err)
		return
	}
	q.answer(w)
}

// answer finds the chain and the action, and sends the result.
func (r *request) answer(w http.ResponseWriter) {
	a := r.api
	chain, err := a.chainOf(r.Request, r.values)
	switch {
	case errors.Is(err, errPath):
		send(w, r.Request, http.StatusNotFound, refusal("Error! There is nothing at this path: expected "+routescan+"/{network}/evm/{chainId}/etherscan/api"))
		return
	case err != nil:
		send(w, r.Request, http.StatusOK, err)
		return
	case r.name == "":
		send(w, r.Request, http.StatusOK, r.values.unknown())
		return
	}
	act := actions[r.name]
	if err := a.options.Permit.Check(r.Request, act.class); err != nil {
		if a.options.Permit.CheckPage(r.Request, act.class) != nil {
			w.Header().Del("Access-Control-Allow-Origin")
		}
		send(w, r.Request, http.StatusOK, refusal("Error! "+err.Error()))
		return
	}
	r.chain = chain
	if a.options.Indexed != nil && act.class == permit.Read && !strings.HasPrefix(r.name, "proxy.") {
		behind, done, err := a.options.Indexed(r.Context(), chain)
		if err != nil {
			r.fail(w, err)
			return
		}
		if behind != nil {
			defer done()
			r.world, r.chain = behind, behind.ChainByEVMID(chain.Row.EVMID)
		}
	}
	result, err := act.handle(r)
	if err != nil {
		r.fail(w, err)
		return
	}
	send(w, r.Request, http.StatusOK, result)
}

// fail sends a refusal, or logs the failure of the simulator.
func (r *request) fail(w http.ResponseWriter, err error) {
	refused := new(refused)
	switch {
	case errors.As(err, &refused):
		send(w, r.Request, http.StatusOK, refused)
	case errors.Is(err, store.ErrReadOnly):
		send(w, r.Request, http.StatusOK, refusal("Error! "+store.ErrReadOnly.Error()))
	case r.Context().Err() != nil || sim.Overtaken(r.Context()):
		send(w, r.Request, http.StatusServiceUnavailable, refusal("Error! The world was reverted during this request: try again"))
	default:
		rest.Mounted(r.Context()).Log.Error("request failed", "operation", r.name, "err", err)
		send(w, r.Request, http.StatusInternalServerError, refusal("Unexpected error, timeout or server too busy. Please try again later"))
	}
}

// Endpoints lists the paths with all actions.
func (a *API) Endpoints() []rest.Endpoint {
	return []rest.Endpoint{{
		Interface: rest.Etherscan, Methods: []string{http.MethodGet, http.MethodPost},
		Paths: []string{"/api", "/v2/api", "/mainnet/api", "/fuji/api", routescan + "/{network}/evm/{chainId}/etherscan/api"}, Operations: slices.Sorted(maps.Keys(actions)),
	}}
}
