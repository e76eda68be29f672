package sourcify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/verification"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Options configures the API.
type Options struct {
	World     *sim.World
	Permit    *permit.Rule // decides who may verify contracts
	Contracts *verification.Service
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
var Prefixes = []string{"/v2/verify", "/v2/contract", "/repo-ui"}

// maxBody bounds a request, as package etherscan does.
const maxBody = 5 << 20

// refused is an error with its status.
type refused struct {
	status int
	Code   string `json:"customCode"`
	Text   string `json:"message"`
	ID     string `json:"errorId"` // the request's, by which the log names it
}

func (e *refused) Error() string { return e.Text }

func refusal(status int, code, format string, args ...any) *refused {
	return &refused{status: status, Code: code, Text: fmt.Sprintf(format, args...)}
}

// target is the contract that a path names.
type target struct {
	chain   *reader.Chain
	address common.Address
}

func (a *API) target(chain, address string) (*target, error) {
	id, err := strconv.ParseUint(chain, 10, 64)
	if err != nil {
		return nil, refusal(http.StatusBadRequest, "invalid_parameter", "%.80q is no chain id", chain)
	}
	c := a.options.World.ChainByEVMID(id)
	switch {
	case c == nil:
		return nil, refusal(http.StatusNotFound, "unsupported_chain", "The chain with chainId %d is not supported", id)
	case !common.IsHexAddress(address) || !strings.HasPrefix(address, "0x"):
		return nil, refusal(http.StatusBadRequest, "invalid_parameter", "%.80q is no address", address)
	}
	return &target{c, common.HexToAddress(address)}, nil
}

// operation is what a path and a method ask for.
type operation struct {
	name   string
	class  permit.Class
	handle func(a *API, r *http.Request, path []string) (status int, answer any, err error)
}

// operations finds the operation of a method and a path, whose elements begin after /v2.
func operations(method string, path []string) *operation {
	read := method == http.MethodGet || method == http.MethodHead
	switch n := len(path); {
	case n == 3 && path[0] == "contract" && read:
		return &operation{"getVerifiedContract", permit.Read, (*API).contract}
	case n == 2 && path[0] == "verify" && read:
		return &operation{"getVerification", permit.Read, (*API).job}
	case n == 4 && path[0] == "verify" && path[1] == "metadata" && method == http.MethodPost:
		return &operation{"verifyMetadata", permit.Control, (*API).verifyMetadata}
	case n == 3 && path[0] == "verify" && method == http.MethodPost:
		return &operation{"verifyStandardJSON", permit.Control, (*API).verifyStandard}
	}
	return nil
}

func elements(r *http.Request) []string {
	return strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v2"), "/"), "/")
}

// Locate finds the network and the chain that a request is for.
func (a *API) Locate(r *http.Request) (located *http.Request, network, chain string) {
	path := elements(r)
	if op := operations(r.Method, path); op != nil {
		rest.Mounted(r.Context()).Operation = op.name
	}
	if len(path) < 3 {
		return r, "", ""
	}
	if t, err := a.target(path[len(path)-2], path[len(path)-1]); err == nil {
		return r, t.chain.Row.Network, path[len(path)-2]
	}
	return r, "", ""
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	if r.Method == http.MethodOptions {
		rest.Preflight(w, r)
		return
	}
	path := elements(r)
	if path[0] == "repo-ui" && len(path) == 3 {
		rest.Mounted(r.Context()).Operation = "repo-ui"
		http.Redirect(w, r, rest.BasePath(r)+"/sim/explorer/"+url.PathEscape(path[1])+"/address/"+url.PathEscape(path[2])+"/contract", http.StatusFound)
		return
	}
	op := operations(r.Method, path)
	if op == nil {
		a.send(w, r, 0, nil, refusal(http.StatusNotFound, "not_found", "Cannot %s %.200s", r.Method, r.URL.Path))
		return
	}
	rest.Mounted(r.Context()).Operation = op.name
	if err := a.options.Permit.Check(r, op.class); err != nil {
		if a.options.Permit.CheckPage(r, op.class) != nil {
			h.Del("Access-Control-Allow-Origin")
		}
		a.send(w, r, 0, nil, refusal(http.StatusForbidden, "forbidden", "%v", err))
		return
	}
	status, answer, err := op.handle(a, r, path)
	a.send(w, r, status, answer, err)
}

func (a *API) send(w http.ResponseWriter, r *http.Request, status int, answer any, err error) {
	if err != nil {
		e := new(refused)
		switch {
		case errors.As(err, &e):
		case errors.Is(err, store.ErrReadOnly):
			e = refusal(http.StatusForbidden, "forbidden", "%v", store.ErrReadOnly)
		case r.Context().Err() != nil || sim.Overtaken(r.Context()):
			e = refusal(http.StatusServiceUnavailable, "internal_error", "the world was reverted during this request: try again")
		default:
			rest.Mounted(r.Context()).Log.Error("request failed", "err", err)
			e = refusal(http.StatusInternalServerError, "internal_error", "the simulator failed; its log has the cause")
		}
		e.ID = w.Header().Get("X-Request-Id")
		status, answer = e.status, e
	}
	body, err := json.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"customCode":"internal_error","message":"the answer cannot be encoded","errorId":""}`)
	}
	rest.WriteJSON(w, r, status, body)
}

// readBody decodes a JSON body.
func readBody(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return refusal(http.StatusRequestEntityTooLarge, "invalid_parameter", "the body is larger than %d MiB or could not be read to its end", maxBody>>20)
	}
	rest.Mounted(r.Context()).KeepBody(body)
	if err := json.Unmarshal(body, into); err != nil {
		return refusal(http.StatusBadRequest, "invalid_json", "the body is not the JSON that is expected: %.200v", err)
	}
	return nil
}

type standardRequest struct {
	Input      json.RawMessage `json:"stdJsonInput"`
	Compiler   string          `json:"compilerVersion"`
	Identifier string          `json:"contractIdentifier"` // source:name
}

func (a *API) verifyStandard(r *http.Request, path []string) (int, any, error) {
	t, err := a.target(path[1], path[2])
	if err != nil {
		return 0, nil, err
	}
	var body standardRequest
	if err := readBody(r, &body); err != nil {
		return 0, nil, err
	}
	return a.submit(r.Context(), t, body.Input, body.Compiler, body.Identifier)
}

type metadataRequest struct {
	Sources  map[string]string
	Metadata struct {
		Language string
		Compiler struct{ Version string }
		Settings map[string]json.RawMessage
		Sources  map[string]json.RawMessage
	}
}

// verifyMetadata makes the compiler's input of the metadata that it wrote: https://docs.soliditylang.org/en/latest/metadata.html
func (a *API) verifyMetadata(r *http.Request, path []string) (int, any, error) {
	t, err := a.target(path[2], path[3])
	if err != nil {
		return 0, nil, err
	}
	var body metadataRequest
	if err := readBody(r, &body); err != nil {
		return 0, nil, err
	}
	var targets map[string]string
	if raw := body.Metadata.Settings["compilationTarget"]; json.Unmarshal(raw, &targets) != nil || len(targets) != 1 {
		return 0, nil, refusal(http.StatusBadRequest, "invalid_parameter", "the metadata has no compilationTarget")
	}
	identifier := ""
	for source, name := range targets {
		identifier = source + ":" + name
	}
	delete(body.Metadata.Settings, "compilationTarget")
	if raw, flat := body.Metadata.Settings["libraries"]; flat {
		if body.Metadata.Settings["libraries"], err = nested(raw); err != nil {
			return 0, nil, err
		}
	}
	sources := map[string]map[string]string{}
	for name := range body.Metadata.Sources {
		text, there := body.Sources[name]
		if !there {
			return 0, nil, refusal(http.StatusBadRequest, "missing_source", "the source %.200s, which the metadata names, is missing", name)
		}
		sources[name] = map[string]string{"content": text}
	}
	input, err := json.Marshal(map[string]any{"language": body.Metadata.Language, "sources": sources, "settings": body.Metadata.Settings})
	if err != nil {
		return 0, nil, err
	}
	return a.submit(r.Context(), t, input, body.Metadata.Compiler.Version, identifier)
}

// nested turns the libraries of metadata, by source:name, into those of the compiler's input.
func nested(raw json.RawMessage) (json.RawMessage, error) {
	var flat map[string]string
	if err := json.Unmarshal(raw, &flat); err != nil {
		return nil, refusal(http.StatusBadRequest, "invalid_parameter", "the metadata's libraries are not addresses by name")
	}
	all := map[string]map[string]string{}
	for name, address := range flat {
		source := ""
		if at := strings.LastIndexByte(name, ':'); at >= 0 {
			source, name = name[:at], name[at+1:]
		}
		if all[source] == nil {
			all[source] = map[string]string{}
		}
		all[source][name] = address
	}
	return json.Marshal(all)
}

type accepted struct {
	ID string `json:"verificationId"`
}

// submit begins a verification.
func (a *API) submit(ctx context.Context, t *target, input []byte, compiler, identifier string) (int, any, error) {
	at := strings.LastIndexByte(identifier, ':')
	if at < 0 {
		return 0, nil, refusal(http.StatusBadRequest, "invalid_parameter", "contractIdentifier %.200q is not of the form source:name", identifier)
	}
	in, err := solc.ParseInput(input)
	if err != nil {
		return 0, nil, refusal(http.StatusBadRequest, "invalid_parameter", "%v", err)
	}
	if !in.Has(identifier[:at]) {
		return 0, nil, refusal(http.StatusBadRequest, "invalid_parameter", "the sources have no %.200q, which contractIdentifier names", identifier[:at])
	}
	job, err := a.options.Contracts.Submit(ctx, &verification.Request{Chain: t.chain, Address: t.address, Input: in, Compiler: compiler, Source: identifier[:at], Name: identifier[at+1:]})
	missing := new(solc.MissingError)
	switch {
	case errors.Is(err, verification.ErrNoCode):
		return 0, nil, refusal(http.StatusNotFound, "contract_not_deployed", "There is no bytecode at address %s on chain %d", t.address, t.chain.Row.EVMID)
	case errors.Is(err, verification.ErrVerified):
		return 0, nil, refusal(http.StatusConflict, "already_verified", "The contract %s on chain %d is already verified", t.address, t.chain.Row.EVMID)
	case errors.Is(err, solc.ErrVersion), errors.As(err, &missing):
		return 0, nil, refusal(http.StatusBadRequest, "unsupported_compiler_version", "%v", err)
	case errors.Is(err, verification.ErrBusy), errors.Is(err, verification.ErrFull):
		return 0, nil, refusal(http.StatusTooManyRequests, "too_many_requests", "%v", err)
	case err != nil:
		return 0, nil, err
	}
	return http.StatusAccepted, accepted{job.ID}, nil
}

// state is the state of a verification.
type state struct {
	Completed bool     `json:"isJobCompleted"`
	ID        string   `json:"verificationId"`
	Started   string   `json:"jobStartTime"` // real time, RFC 3339
	Finished  string   `json:"jobFinishTime,omitempty"`
	Compiled  string   `json:"compilationTime,omitempty"` // milliseconds
	Contract  summary  `json:"contract"`
	Error     *refused `json:"error,omitempty"`
}

func (a *API) job(r *http.Request, path []string) (int, any, error) {
	job := a.options.Contracts.Job(path[1])
	if job == nil {
		return 0, nil, refusal(http.StatusNotFound, "job_not_found", "No verification has the id %.80s, or it was too long ago", path[1])
	}
	t := &target{job.Request.Chain, job.Request.Address}
	s := state{Completed: job.Wait(r.Context()), ID: job.ID, Started: job.Started.UTC().Format(time.RFC3339), Contract: t.summary(nil)}
	if !s.Completed {
		return http.StatusOK, s, nil
	}
	s.Finished, s.Compiled = job.Finished.UTC().Format(time.RFC3339), strconv.FormatInt(job.Compiled.Milliseconds(), 10)
	wrong, mismatch := new(solc.SourceError), new(verification.MismatchError)
	switch err := job.Err; {
	case err == nil:
		s.Contract = t.summary(job.Contract)
	case errors.As(err, &wrong):
		s.Error = refusal(0, "compiler_error", "%v", err)
	case errors.As(err, &mismatch):
		s.Error = refusal(0, "no_match", "%v", err)
	default:
		s.Error = refusal(0, "internal_error", "%v", err)
	}
	if s.Error != nil {
		s.Error.ID = job.ID
	}
	return http.StatusOK, s, nil
}

// Endpoints lists the paths.
func (a *API) Endpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{Interface: rest.Sourcify, Methods: []string{http.MethodPost}, Paths: []string{"/v2/verify/{chainId}/{address}"}, Operations: []string{"verifyStandardJSON"}},
		{Interface: rest.Sourcify, Methods: []string{http.MethodPost}, Paths: []string{"/v2/verify/metadata/{chainId}/{address}"}, Operations: []string{"verifyMetadata"}},
		{Interface: rest.Sourcify, Methods: []string{http.MethodGet}, Paths: []string{"/v2/verify/{verificationId}"}, Operations: []string{"getVerification"}},
		{Interface: rest.Sourcify, Methods: []string{http.MethodGet}, Paths: []string{"/v2/contract/{chainId}/{address}"}, Operations: []string{"getVerifiedContract"}},
		{Interface: rest.Sourcify, Methods: []string{http.MethodGet}, Paths: []string{"/repo-ui/{chainId}/{address}"}, Operations: []string{"repo-ui"}},
	}
}
