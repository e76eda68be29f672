package control

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Requests is the answer of GET /sim/requests.
type Requests struct {
	Requests      []*journal.Summary `json:"requests"`
	NextPageToken string             `json:"nextPageToken,omitempty"`
}

// RequestCount is the answer of POST /sim/requests:count.
type RequestCount struct {
	Count int `json:"count" doc:"Number of requests; in a JSON-RPC batch, every member with the operation counts."`
}

// ForgottenRequests is the answer of DELETE /sim/requests.
type ForgottenRequests struct {
	Deleted int `json:"deleted"`
}

// ExpectedRequests is the body of POST /sim/requests:verify: the expected requests, and how often.
type ExpectedRequests struct {
	journal.Criteria
	Times *Times `json:"times,omitempty" doc:"Default: at least once."`
}

// Times states how often something happened or may happen.
type Times struct {
	Exactly *int `json:"exactly,omitempty" min:"0"`
	AtLeast *int `json:"atLeast,omitempty" min:"0"`
	AtMost  *int `json:"atMost,omitempty" min:"0"`
}

// Verification is the answer of POST /sim/requests:verify.
type Verification struct {
	Verified   bool               `json:"verified"`
	Count      int                `json:"count" doc:"As POST /sim/requests:count returns it."`
	Expected   string             `json:"expected"`
	NearMisses []journal.NearMiss `json:"nearMisses,omitempty" doc:"If verification fails: the closest requests."`
}

// journalAPI implements the operations on the journal.
type journalAPI struct {
	journal *journal.Journal
	server  *rest.Server
}

// RegisterJournal registers the operations on the journal.
func RegisterJournal(s *rest.Server, j *journal.Journal) error {
	a := &journalAPI{j, s}
	id := rest.Param{Name: "id", Kind: schema.KindInteger, Min: "1", Doc: "The request's id."}
	return s.Register(rest.Sim,
		rest.Operation{ID: "listRequests", Path: "/sim/requests", Summary: "The latest requests and responses, newest first",
			Doc:    "--journal limits their number. Leaves out requests that read the journal, and secrets: API keys, private keys, passwords, cookies.",
			Params: append(criteriaParams(), rest.Paging(50, 500)...), Live: true, Unrecorded: true, Answer: reflect.TypeFor[Requests](), Handle: a.list},
		rest.Operation{ID: "getRequest", Path: "/sim/requests/{id}", Summary: "A request with its headers and bodies, and as a curl command",
			Params: []rest.Param{id}, Live: true, Unrecorded: true, Answer: reflect.TypeFor[journal.Detail](), Handle: a.get},
		rest.Operation{ID: "deleteRequests", Method: http.MethodDelete, Path: "/sim/requests", Summary: "Forget all requests",
			Class: permit.Control, Unrecorded: true, Answer: reflect.TypeFor[ForgottenRequests](),
			Handle: func(*rest.Request) (any, error) { return &ForgottenRequests{a.journal.Clear()}, a.on() }},
		rest.Operation{ID: "countRequests", Method: http.MethodPost, Path: "/sim/requests:count", Summary: "Count requests",
			Body: reflect.TypeFor[journal.Criteria](), Strict: true, Unrecorded: true, Answer: reflect.TypeFor[RequestCount](), Handle: a.count},
		rest.Operation{ID: "verifyRequests", Method: http.MethodPost, Path: "/sim/requests:verify", Summary: "Check which requests clients made, and how often",
			Doc:  "The status is 200 whether or not the check succeeds. Example: {\"operation\":\"listErc20Balances\",\"times\":{\"atLeast\":2}}.",
			Body: reflect.TypeFor[ExpectedRequests](), Strict: true, Unrecorded: true, Answer: reflect.TypeFor[Verification](), Handle: a.verify})
}

// criteriaParams lists the filters of the request list.
func criteriaParams() []rest.Param {
	return []rest.Param{
		{Name: "interface", Kind: schema.KindEnum, Enum: rest.InterfaceNames()},
		{Name: "operation", Kind: schema.KindText, Doc: "Id of an operation, or a JSON-RPC method; members of batches count too."},
		{Name: "method", Kind: schema.KindText, Doc: "HTTP method."},
		{Name: "path", Kind: schema.KindText, Doc: "A path, or a pattern in which * stands for a segment or part of one."},
		{Name: "host", Kind: schema.KindText, Doc: "The host of the URL without the port, or a pattern such as *.avax.network."},
		{Name: "status", Kind: schema.KindInteger, Min: "100", Max: "599"},
		{Name: "world", Kind: schema.KindText},
		{Name: "client", Kind: schema.KindText, Doc: "The client's address, or part of its user agent."},
		{Name: "fault", Kind: schema.KindBoolean, Doc: "Whether a fault applied."},
		{Name: "failed", Kind: schema.KindBoolean, Doc: "Whether it failed, by its status or a JSON-RPC error."},
	}
}

func (a *journalAPI) on() error {
	if !a.journal.On() {
		return rest.NotFound("there is no journal: start the server with --journal and a number of requests to remember")
	}
	return nil
}

// known rejects an operation that does not exist.
func (a *journalAPI) known(c *journal.Criteria) error {
	if err := a.on(); err != nil {
		return err
	}
	var problems []string
	if c.Interface != "" && !slices.Contains(rest.InterfaceNames(), c.Interface) {
		problems = append(problems, schema.NotOneOf("interface", c.Interface, rest.InterfaceNames()))
	}
	if names := a.server.OperationNames(); c.Operation != "" && !slices.Contains(names, c.Operation) {
		problems = append(problems, schema.NotOneOf("operation", c.Operation, names))
	}
	if len(problems) > 0 {
		return rest.BadRequest(problems...)
	}
	return nil
}

func (a *journalAPI) list(r *rest.Request) (any, error) {
	c := &journal.Criteria{Interface: r.Text("interface"), Operation: r.Text("operation"), Method: r.Text("method"), Path: r.Text("path"), Host: r.Text("host"),
		Status: int(r.Int("status")), World: r.Text("world"), Client: r.Text("client")}
	if r.Given("fault") {
		c.Fault = new(r.Bool("fault"))
	}
	if r.Given("failed") {
		c.Failed = new(r.Bool("failed"))
	}
	if err := a.known(c); err != nil {
		return nil, err
	}
	before, _ := r.PositionNumber()
	found, more := a.journal.List(c, int64(before), r.PageSize())
	answer := &Requests{Requests: append([]*journal.Summary{}, found...)}
	if more {
		answer.NextPageToken = r.NextPageToken(rest.Position(uint64(found[len(found)-1].ID)))
	}
	return answer, nil
}

func (a *journalAPI) get(r *rest.Request) (any, error) {
	if err := a.on(); err != nil {
		return nil, err
	}
	e, found := a.journal.Find(r.Int("id"))
	if !found {
		return nil, rest.NotFound("request %d is not in the journal, which has the latest %d", r.Int("id"), a.journal.Size())
	}
	return a.journal.Describe(&e), nil
}

func (a *journalAPI) count(r *rest.Request) (any, error) {
	c := rest.Body[journal.Criteria](r)
	if err := a.known(c); err != nil {
		return nil, err
	}
	return &RequestCount{a.journal.Count(c)}, nil
}

func (a *journalAPI) verify(r *rest.Request) (any, error) {
	b := rest.Body[ExpectedRequests](r)
	if err := a.known(&b.Criteria); err != nil {
		return nil, err
	}
	expected, holds, err := b.Times.read()
	if err != nil {
		return nil, err
	}
	v := &Verification{Count: a.journal.Count(&b.Criteria), Expected: expected}
	if v.Verified = holds(v.Count); !v.Verified {
		v.NearMisses = a.journal.NearMisses(&b.Criteria)
	}
	return v, nil
}

// read states the expectation in words and reports whether a number meets it.
func (t *Times) read() (text string, holds func(int) bool, err error) {
	if t == nil {
		t = &Times{AtLeast: new(1)}
	}
	switch {
	case t.Exactly != nil && t.AtLeast == nil && t.AtMost == nil:
		return fmt.Sprintf("exactly %d", *t.Exactly), func(n int) bool { return n == *t.Exactly }, nil
	case t.Exactly != nil || t.AtLeast == nil && t.AtMost == nil:
		return "", nil, rest.BadRequest("expected times to have exactly, or atLeast, atMost or both")
	case t.AtMost == nil:
		return fmt.Sprintf("at least %d", *t.AtLeast), func(n int) bool { return n >= *t.AtLeast }, nil
	case t.AtLeast == nil:
		return fmt.Sprintf("at most %d", *t.AtMost), func(n int) bool { return n <= *t.AtMost }, nil
	case *t.AtLeast > *t.AtMost:
		return "", nil, rest.BadRequest(fmt.Sprintf("times.atLeast %d is above times.atMost %d", *t.AtLeast, *t.AtMost))
	}
	return fmt.Sprintf("from %d to %d", *t.AtLeast, *t.AtMost), func(n int) bool { return n >= *t.AtLeast && n <= *t.AtMost }, nil
}
