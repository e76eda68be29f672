package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest/schema"
)

// Interface is a family of REST endpoints, with the rules for all its operations.
type Interface struct {
	Name        string // as an API-keys file names it
	Title       string // as the documentation names it
	Summary     string // its purpose in a sentence
	ArrayErrors bool   // whether the message of a 400 is an array in every dialect; it always is upstream
	Keyless     bool   // whether it needs no API key even when keys are required
	Limited     bool   // whether its requests count against the rate limit
}

// The REST interfaces of the simulator.
var (
	Data    = &Interface{Name: "data", Title: "Data API", Summary: "Indexed chains, transactions, balances, tokens, NFTs and the primary network.", Limited: true}
	Metrics = &Interface{Name: "metrics", Title: "Metrics API", Summary: "Time series of chains, subnets, validators and the network.", ArrayErrors: true, Keyless: true, Limited: true}
	Sim     = &Interface{Name: "sim", Title: "Simulator", Summary: "The world itself: its clock, snapshots, faults, the journal of requests, and more worlds.", Keyless: true}
)

// The interfaces in the shape of Etherscan's and of Sourcify's, which have no operations of REST.
const (
	Etherscan = "etherscan"
	Sourcify  = "sourcify"
)

// InterfaceNames lists the names by which requests are told apart: the REST interfaces, the node's and those of explorers.
func InterfaceNames() []string {
	return []string{Data.Name, Metrics.Name, nodeInterface, Etherscan, Sourcify, Sim.Name}
}

// interfaces lists the interfaces to which an API key may be restricted.
var interfaces = []*Interface{Data, Metrics, Sim}

// Operation is one endpoint, declared once for the router, the parser, the 400 texts and the OpenAPI document.
type Operation struct {
	ID      string // unique; names the operation in the access log and in OpenAPI
	Method  string // default: GET
	Path    string // with {name} for each path parameter; a colon is literal
	Summary string
	Spec    string // the section of the specification
	Doc     string // further description
	Params  []Param

	Deprecated bool // another path serves the same

	Body         reflect.Type // type of the JSON body, nil for none
	Strict       bool         // whether unknown members of the body are rejected
	BodyOptional bool         // a missing body counts as one without members
	Answer       reflect.Type // type of the JSON response, nil if the response is Raw, a File or a Stream
	Produces     string       // content type of a Raw response, a File or a Stream

	Status         int // of a success, default 200
	UpstreamStatus int // of a success in the upstream dialect, if it differs

	// Class is the permission that it needs; Options.Permit rejects clients without it.
	Class permit.Class

	// Keyless exempts it from API keys and rate limits even if the interface does not: for health checks.
	Keyless bool

	// Live says that the response depends on more than the request, the world and its clock, so it is never taken from memory.
	Live bool

	// Readable says that people read its JSON, so it is indented on request and for curl.
	Readable bool

	// Slow lets it take as long as its client waits, regardless of the server's timeouts.
	Slow bool

	// Unrecorded keeps its requests out of the journal: for operations that read the journal.
	Unrecorded bool

	// AllNetworks says that the response spans both networks, although no parameter names one.
	AllNetworks bool

	// Networks returns the networks that a request uses without naming them in a parameter, for restricted keys; nil if none.
	Networks func(*Request) []string

	Handle func(*Request) (any, error)
}

// operation is an Operation that is ready to serve.
type operation struct {
	Operation
	in     *Interface
	params []*param
	pager  bool
}

func compile(in *Interface, o Operation) (*operation, error) {
	o.Method = cmp.Or(o.Method, http.MethodGet)
	o.Status = cmp.Or(o.Status, http.StatusOK)
	o.UpstreamStatus = cmp.Or(o.UpstreamStatus, o.Status)
	op := &operation{Operation: o, in: in}
	if o.ID == "" || o.Handle == nil || !strings.HasPrefix(o.Path, "/") {
		return nil, fmt.Errorf("operation %q %s: it needs an id, a path and a handler", o.ID, o.Path)
	}
	for i := range o.Params {
		p, err := compileParam(o.Path, o.Params[i])
		if err != nil {
			return nil, fmt.Errorf("operation %s: parameter %s: %w", o.ID, o.Params[i].Name, err)
		}
		op.params = append(op.params, p)
		op.pager = op.pager || p.Kind == schema.KindPageToken
	}
	return op, errors.Join(op.checkPath(), op.joinRanges())
}

// param finds a declared parameter by name.
func (op *operation) param(name string) *param {
	i := slices.IndexFunc(op.params, func(p *param) bool { return p.Name == name })
	return op.params[i]
}

// checkPath checks that each path variable is declared as a parameter, and that each path parameter is used.
func (op *operation) checkPath() error {
	for _, s := range splitTemplate(op.Path) {
		if s.name == "" {
			continue
		}
		if !slices.ContainsFunc(op.params, func(p *param) bool { return p.Name == s.name }) {
			return fmt.Errorf("operation %s: path parameter %s is not declared", op.ID, s.name)
		}
	}
	for _, p := range op.params {
		if p.In == InPath && !strings.Contains(op.Path, "{"+p.Name+"}") {
			return fmt.Errorf("operation %s: path parameter %s is not in the path", op.ID, p.Name)
		}
	}
	return nil
}

// joinRanges links the two ends of each range, which must have the same kind.
func (op *operation) joinRanges() error {
	for _, p := range op.params {
		if p.NotAbove == "" {
			continue
		}
		i := slices.IndexFunc(op.params, func(o *param) bool { return o.Name == p.NotAbove && o.Kind == p.Kind })
		if i < 0 {
			return fmt.Errorf("operation %s: parameter %s has no %s of its kind", op.ID, p.Name, p.NotAbove)
		}
		p.rangeEnd, op.params[i].rangeEnd = true, true
	}
	return nil
}

// status returns the status of a success in a dialect.
func (op *operation) status(d schema.Dialect) int {
	if d == schema.Upstream {
		return op.UpstreamStatus
	}
	return op.Status
}
