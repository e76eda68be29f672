package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/rest/schema"
)

// Rule states what happens to which requests, and how often.
type Rule struct {
	ID     string `json:"id,omitempty" pattern:"^[A-Za-z0-9_.-]{1,64}$" doc:"Name of the rule. Default: a number."`
	Match  Match  `json:"match,omitzero" doc:"All members must match; without members, every request does."`
	Action Action `json:"action"`
	Times  *Times `json:"times,omitempty" doc:"Default: always."`
}

// Match states which requests a rule matches. It never matches the simulator's own interface.
type Match struct {
	Interface string            `json:"interface,omitempty" enum:"data,metrics,node,etherscan,sourcify"`
	Operation string            `json:"operation,omitempty" doc:"Id of an operation of the Data or Metrics API, or module.action of the Etherscan-shaped one."`
	Method    string            `json:"method,omitempty" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS"`
	Path      string            `json:"path,omitempty" doc:"A path, or a pattern in which * stands for a segment or part of one, and a final ** for everything that follows."`
	Host      string            `json:"host,omitempty" doc:"The host of the URL without the port, or a pattern such as *.avax.network."`
	RPCMethod string            `json:"rpcMethod,omitempty" doc:"A JSON-RPC method, or a pattern such as eth_*. Members of a batch and WebSocket messages match individually."`
	Chain     string            `json:"chain,omitempty" doc:"An EVM chain id, a blockchain id, or P, X or C."`
	Network   string            `json:"network,omitempty" enum:"mainnet,fuji,testnet"`
	Address   string            `json:"address,omitempty" doc:"An address in the path, the query or the body."`
	APIKey    string            `json:"apiKey,omitempty" doc:"An API key in x-service-api-key, x-glacier-api-key, x-core-api-key or rltoken."`
	Headers   map[string]string `json:"headers,omitempty" doc:"Headers with their values; * matches any value."`

	Subscription string `json:"subscription,omitempty" enum:"logs,newHeads,newPendingTransactions,newAcceptedTransactions,transactionReceipts,*" doc:"Notifications of one kind of WebSocket subscription, or of every kind with *."`
	Webhook      string `json:"webhook,omitempty" enum:"address_activity,primary_network_address_activity,validator_activity,*" doc:"Messages of webhooks for one event type, or for every type with *."`
}

// Times limits how often a rule applies. If several limits are given, all must allow it.
type Times struct {
	First       int         `json:"first,omitempty" min:"1" doc:"Apply at most this many times."`
	Every       int         `json:"every,omitempty" min:"1" doc:"Apply to every nth request."`
	After       int         `json:"after,omitempty" min:"0" doc:"Skip this many requests first."`
	For         Duration    `json:"for,omitempty" doc:"Apply for this long after adding the rule, such as 30s."`
	Clock       string      `json:"clock,omitempty" enum:"wall,world" doc:"The clock for that duration. Default: wall."`
	Probability json.Number `json:"probability,omitempty" min:"0" max:"1" doc:"Apply to this fraction of the requests. The world's seed, the rule and the request's ordinal decide which."`
}

// Action states what happens: one thing, and optionally a delay.
type Action struct {
	Delay       *Delay    `json:"delay,omitempty" doc:"How long to delay the response."`
	Status      int       `json:"status,omitempty" min:"400" max:"599" doc:"An HTTP status, with the interface's error body, or a gateway's HTML for 502."`
	Message     string    `json:"message,omitempty" doc:"The message in the status's error body."`
	RetryAfter  int       `json:"retryAfter,omitempty" min:"-1" doc:"Seconds, in the headers of a 429 or 503. Default for a 429: 1. -1 leaves the header out."`
	RPCError    *RPCError `json:"rpcError,omitempty" doc:"A JSON-RPC error; in a batch, only for the matching member."`
	RPCResult   Result    `json:"rpcResult,omitzero" doc:"A JSON-RPC result in place of the real one, such as null for a late receipt."`
	Mining      string    `json:"mining,omitempty" doc:"Holds a transaction of eth_sendRawTransaction or eth_sendTransaction in the pool: never mines it, or mines it after a time such as 3s."`
	Drop        Drop      `json:"drop,omitzero" doc:"Resets the connection before carrying out the request, afterwards without a response, or during the response's body. With a number, loses that many of a subscription's notifications."`
	Truncate    *int      `json:"truncate,omitempty" min:"0" doc:"Ends the body and the connection after this many bytes."`
	Slow        Duration  `json:"slow,omitempty" doc:"Sends the body in pieces over this time."`
	InvalidJSON bool      `json:"invalidJson,omitempty" doc:"Cuts off the body's JSON."`
	ContentType string    `json:"contentType,omitempty" doc:"Sets the response's content type."`
	EmptyPage   bool      `json:"emptyPage,omitempty" doc:"Empties the response's lists, but keeps a nextPageToken."`
	PageToken   string    `json:"pageToken,omitempty" enum:"missing,duplicate,expired" doc:"Removes the nextPageToken, or repeats the request's own; expired rejects the request's token as too old."`
	ShortPage   bool      `json:"shortPage,omitempty" doc:"Returns half as many items as the request asked for. The nextPageToken continues after them, so nothing is missing."`
	MissingLogs int       `json:"missingLogs,omitempty" min:"1" max:"10000" doc:"Leaves this many of the newest logs out of the result of eth_getLogs, eth_getFilterLogs or eth_getFilterChanges."`
	Double      int       `json:"double,omitempty" min:"1" max:"100" doc:"Sends a subscription's notification, or a webhook's message, this many extra times."`
	Reorder     int       `json:"reorder,omitempty" min:"1" max:"100" doc:"Sends a subscription's notification after this many later ones, or after a second without any. Sends a webhook's message after the next one, if that comes within a second."`
	Stale       bool      `json:"-"` // the lagging index answers; only in schedules
	End         string    `json:"end,omitempty" enum:"connection,subscription" doc:"Resets the connection instead of sending a subscription's notification, or ends the subscription silently."`
}

// Drop is when a connection is reset, or how many notifications are lost.
type Drop struct {
	When  string // before, during or after; empty for notifications
	Count int
}

// The moments at which a connection is reset.
const (
	dropBefore = "before"
	dropDuring = "during"
	dropAfter  = "after"
)

var dropMoments = []string{dropBefore, dropDuring, dropAfter}

// mostLost bounds how many notifications one fault loses.
const mostLost = 10_000

func (d *Drop) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &d.When) == nil && slices.Contains(dropMoments, d.When) || json.Unmarshal(b, &d.Count) == nil && d.Count >= 1 && d.Count <= mostLost {
		return nil
	}
	return fmt.Errorf("action.drop %s is not allowed: expected %s, or a number of notifications from 1 to %d", schema.Shorten(string(b)), strings.Join(dropMoments, ", "), mostLost)
}

func (d Drop) MarshalJSON() ([]byte, error) {
	if d.When != "" {
		return json.Marshal(d.When)
	}
	return json.Marshal(d.Count)
}

// IsZero reports whether nothing is dropped.
func (d Drop) IsZero() bool { return d == Drop{} }

func (d Drop) String() string { return cmp.Or(d.When, strconv.Itoa(d.Count)) }

// Schema allows both forms.
func (Drop) Schema(*schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "string"}, {Type: "integer"}}}
}

// RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Result is a JSON-RPC result, which may be null.
type Result struct{ JSON json.RawMessage }

// UnmarshalJSON keeps the raw value.
func (r *Result) UnmarshalJSON(b []byte) error {
	r.JSON = bytes.Clone(b)
	return nil
}

func (r Result) MarshalJSON() ([]byte, error) { return r.JSON, nil }

// IsZero reports whether there is no result.
func (r Result) IsZero() bool { return r.JSON == nil }

// Schema allows everything.
func (Result) Schema(*schema.Schemas) *schema.Schema { return &schema.Schema{} }

// Wait returns for how many milliseconds a transaction waits, -1 for ever.
func (a *Action) Wait() int64 {
	if d, err := time.ParseDuration(a.Mining); err == nil {
		return d.Milliseconds()
	}
	return -1
}

// Duration is a time span written as 1.5s, 200ms or 2m.
type Duration time.Duration

// longest bounds every delay.
const longest = time.Hour

func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	n, err := time.ParseDuration(text)
	if err != nil || n < 0 || n > longest {
		return fmt.Errorf("duration %q is not allowed: expected text such as 200ms or 2s, at most 1h", schema.Shorten(text))
	}
	*d = Duration(n)
	return nil
}

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Schema describes a text.
func (Duration) Schema(*schema.Schemas) *schema.Schema { return &schema.Schema{Type: "string"} }

// Delay is a fixed time, a range, or a log-normal distribution.
type Delay struct {
	Fixed    Duration
	Min, Max Duration
	Median   Duration
	Sigma    json.Number
}

// delayObject is the JSON form of a distribution.
type delayObject struct {
	Min    Duration    `json:"min,omitempty" doc:"Bound of a uniform range."`
	Max    Duration    `json:"max,omitempty"`
	Median Duration    `json:"median,omitempty" doc:"Parameter of a log-normal distribution."`
	Sigma  json.Number `json:"sigma,omitempty" min:"0" max:"5" doc:"Parameter of a log-normal distribution. Default: 0.5."`
}

// UnmarshalJSON reads a text or an object.
func (d *Delay) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return d.Fixed.UnmarshalJSON(b)
	}
	var o delayObject
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	if (o.Max == 0) == (o.Median == 0) || o.Min > o.Max || o.Max != 0 && o.Sigma != "" {
		return errors.New("delay: expected text such as 2s, min and max, or median and sigma")
	}
	d.Min, d.Max, d.Median, d.Sigma = o.Min, o.Max, o.Median, o.Sigma
	return nil
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (d Delay) MarshalJSON() ([]byte, error) {
	if d.Max == 0 && d.Median == 0 {
		return d.Fixed.MarshalJSON()
	}
	return json.Marshal(delayObject{d.Min, d.Max, d.Median, d.Sigma})
}

// Schema allows both forms.
func (Delay) Schema(s *schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "string"}, s.Of(reflect.TypeFor[delayObject]())}}
}

// Names holds the names that rules may use.
type Names struct {
	Operations []string // of the Data and Metrics APIs, and actions of the Etherscan-shaped one
	RPCMethods []string
	Chains     []string
	WrongPath  func(path string) string // why no request can have a path, "" if one can
}

// ReadFile reads the YAML of --faults: a list of rules.
func ReadFile(text []byte) ([]any, error) {
	var rules []any
	list, err := userfile.YAML(text)
	if err == nil && list != nil {
		err = list.Decode(&rules)
	}
	if err != nil {
		return nil, fmt.Errorf("expected a list of rules: %w", err)
	}
	return rules, nil
}

// Decode reads a rule that was decoded from JSON or YAML. The problems name unknown keys and suggest known ones.
func Decode(v any, names *Names) (*Rule, []string) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, []string{"the rule cannot be read: " + err.Error()}
	}
	var loose any
	exact := json.NewDecoder(bytes.NewReader(raw))
	exact.UseNumber()
	if err := exact.Decode(&loose); err != nil {
		return nil, []string{"the rule cannot be read: " + err.Error()}
	}
	if problems := schema.NewSchemas(schema.Spec).Check(reflect.TypeFor[Rule](), loose, true); len(problems) > 0 {
		return nil, problems
	}
	if raw, err = json.Marshal(schema.DigitsOnly(loose)); err != nil {
		return nil, []string{"the rule cannot be read: " + err.Error()}
	}
	r := &Rule{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, []string{err.Error()}
	}
	if r.Match.Network == "testnet" {
		r.Match.Network = "fuji"
	}
	return r, slices.Concat(r.Match.problems(names), r.Action.problems(), r.Times.problems(), r.streamProblems())
}

func (m *Match) problems(names *Names) (all []string) {
	check := func(what, name string, known []string) {
		if name != "" && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			all = append(all, schema.NotOneOf(what, name, known))
		}
	}
	check("match.operation", m.Operation, names.Operations)
	check("match.chain", m.Chain, names.Chains)
	if !strings.ContainsAny(m.RPCMethod, `*?[\`) {
		check("match.rpcMethod", m.RPCMethod, names.RPCMethods)
	} else if !slices.ContainsFunc(names.RPCMethods, func(name string) bool { return glob(m.RPCMethod, name) }) {
		all = append(all, fmt.Sprintf("match.rpcMethod %q fits no method", schema.Shorten(m.RPCMethod)))
	}
	if _, err := path.Match(m.Path, ""); err != nil || m.Path != "" && m.Path[0] != '/' && m.Path[0] != '*' {
		all = append(all, fmt.Sprintf("match.path %q is not a pattern such as /v1/chains/*", schema.Shorten(m.Path)))
	}
	if _, err := path.Match(m.Host, ""); err != nil || strings.ContainsAny(m.Host, ":/") {
		all = append(all, fmt.Sprintf("match.host %q is not a host without a port, or a pattern such as *.avax.network", schema.Shorten(m.Host)))
	}
	if names.WrongPath != nil {
		if problem := names.WrongPath(m.Path); problem != "" {
			all = append(all, "match.path: "+problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		if !headerName.MatchString(name) {
			all = append(all, fmt.Sprintf("match.headers: %q is not the name of a header", schema.Shorten(name)))
		}
	}
	if strings.HasPrefix(m.Path, "/sim/") || m.Path == "/sim" {
		all = append(all, "match.path: no fault reaches /sim")
	}
	if m.Address != "" && len(m.Address) < 8 {
		all = append(all, fmt.Sprintf("match.address %q is not an address", m.Address))
	}
	return all
}

// headerName is a token (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func glob(pattern, text string) bool {
	matched, err := path.Match(pattern, text)
	return err == nil && matched
}

func (a *Action) problems() (all []string) {
	things := a.things()
	switch {
	case len(things) > 1:
		all = append(all, "action has "+strings.Join(things, " and ")+": expected one of them, beside a delay")
	case len(things) == 0 && a.Delay == nil:
		all = append(all, "action is empty: expected a status, a delay or another member")
	}
	if a.Status == 0 && (a.Message != "" || a.RetryAfter != 0) {
		all = append(all, "action.message and action.retryAfter go with a status")
	}
	if d, err := time.ParseDuration(a.Mining); a.Mining != "" && a.Mining != "never" && (err != nil || d < 0 || d > longest) {
		all = append(all, fmt.Sprintf("action.mining %q is not never, or a time such as 3s", schema.Shorten(a.Mining)))
	}
	if a.Status != 0 && http.StatusText(a.Status) == "" {
		all = append(all, fmt.Sprintf("action.status %d has no name", a.Status))
	}
	return all
}

// streamProblems reports actions that cannot apply to notifications, to messages or to requests.
func (r *Rule) streamProblems() (all []string) {
	m, a := &r.Match, &r.Action
	wrong := func(what string) { all = append(all, what) }
	switch {
	case m.Subscription != "" && m.Webhook != "":
		wrong("match.subscription and match.webhook exclude each other")
	case m.streams() && (m.Operation != "" || m.Method != "" || m.RPCMethod != ""):
		wrong("match.subscription and match.webhook do not go with an operation, a method or an rpcMethod")
	case m.Webhook != "" && (m.Path != "" || m.Host != "" || m.Chain != "" || m.Network != "" || m.Address != "" || m.APIKey != "" || m.Headers != nil):
		wrong("match.webhook goes with no other member")
	}
	things := a.things()
	for _, thing := range things {
		ofStream := slices.Contains([]string{"double", "reorder", "end"}, thing) || thing == "drop" && a.Drop.When == ""
		switch {
		case ofStream && !m.streams():
			wrong("action." + thing + " needs match.subscription" + orWebhook(thing))
		case !ofStream && m.streams():
			wrong("action." + thing + " does not apply to notifications and messages: expected drop with a number, double, delay, reorder or end")
		case m.Webhook != "" && (thing == "drop" || thing == "end"):
			wrong("action." + thing + " does not apply to webhooks, whose messages are sent until they arrive: expected double, delay or reorder")
		}
	}
	return all
}

func orWebhook(thing string) string {
	if thing == "double" || thing == "reorder" {
		return " or match.webhook"
	}
	return ""
}

// streams reports whether a rule is about notifications or messages rather than requests.
func (m *Match) streams() bool { return m.Subscription != "" || m.Webhook != "" }

// things lists an action's effects other than a delay.
func (a *Action) things() (all []string) {
	for _, t := range []struct {
		name string
		set  bool
	}{
		{"status", a.Status != 0}, {"rpcError", a.RPCError != nil}, {"rpcResult", !a.RPCResult.IsZero()}, {"mining", a.Mining != ""}, {"drop", !a.Drop.IsZero()}, {"truncate", a.Truncate != nil}, {"slow", a.Slow != 0},
		{"invalidJson", a.InvalidJSON}, {"contentType", a.ContentType != ""}, {"emptyPage", a.EmptyPage}, {"pageToken", a.PageToken != ""},
		{"shortPage", a.ShortPage}, {"missingLogs", a.MissingLogs != 0}, {"double", a.Double != 0}, {"reorder", a.Reorder != 0}, {"end", a.End != ""},
	} {
		if t.set {
			all = append(all, t.name)
		}
	}
	return all
}

// String summarises the action for the log and the journal.
func (a *Action) String() string {
	var parts []string
	if a.Delay != nil {
		b, _ := json.Marshal(a.Delay) // a delay always encodes
		parts = append(parts, "delay "+strings.Trim(string(b), `"`))
	}
	switch {
	case a.Status != 0:
		parts = append(parts, "status "+strconv.Itoa(a.Status))
	case a.RPCError != nil:
		parts = append(parts, fmt.Sprintf("rpcError %d", a.RPCError.Code))
	case a.Mining != "":
		parts = append(parts, "mining "+a.Mining)
	case !a.Drop.IsZero():
		parts = append(parts, "drop "+a.Drop.String())
	case a.Truncate != nil:
		parts = append(parts, fmt.Sprintf("truncate %d", *a.Truncate))
	case a.Slow != 0:
		parts = append(parts, "slow "+time.Duration(a.Slow).String())
	case a.ContentType != "":
		parts = append(parts, "contentType "+a.ContentType)
	case a.PageToken != "":
		parts = append(parts, "pageToken "+a.PageToken)
	case a.MissingLogs != 0:
		parts = append(parts, fmt.Sprintf("missingLogs %d", a.MissingLogs))
	case a.Double != 0:
		parts = append(parts, fmt.Sprintf("double %d", a.Double))
	case a.Reorder != 0:
		parts = append(parts, fmt.Sprintf("reorder %d", a.Reorder))
	case a.End != "":
		parts = append(parts, "end "+a.End)
	default:
		parts = append(parts, a.things()...)
	}
	return strings.Join(parts, ", ")
}

func (t *Times) problems() []string {
	if t != nil && t.Clock != "" && t.For == 0 {
		return []string{"times.clock goes with times.for"}
	}
	return nil
}
