package fault

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"snowglobe/handlers/events"
)

// Request is the part of a request that rules look at.
type Request struct {
	Interface string
	Operation string
	Method    string
	Path      string
	Host      string // without the port, in lower case
	Network   string
	Chains    []string // every name of the chains that it concerns
	Keys      []string // API keys
	Header    http.Header
	Text      string // path, query and body, searched for addresses
	Calls     []Call // of JSON-RPC
	Paged     bool   // whether its operation has pages
}

// Call is a JSON-RPC call.
type Call struct {
	Method string
	Params json.RawMessage
}

// Plan lists the faults to apply to a request.
type Plan struct {
	Delay time.Duration
	Whole *Action                   // for the whole response; nil for none
	Calls map[int]*Action           // for single calls, by position
	Text  string                    // summary for the journal
	After func(ctx context.Context) // called with the request's context once the answer is made, before it is sent; may be nil
}

// Set holds the rules of a world.
type Set struct {
	seed  int64
	world string
	clock func() time.Time // of the world
	hub   *events.Hub

	count atomic.Int32
	mu    sync.Mutex
	last  int
	rules []*activeRule

	schedule *Schedule // nil for none
}

// activeRule is a rule in force.
type activeRule struct {
	Rule
	digest           [sha256.Size]byte
	matched, applied uint64
	wall, worldTime  time.Time // when the rule was added
}

// State is a rule with the number of times it matched and applied.
type State struct {
	Rule
	Matched uint64 `json:"matched" doc:"Number of requests or calls that matched."`
	Applied uint64 `json:"applied" doc:"Number of requests that the rule applied to."`
}

// NewSet makes a set without rules. It publishes every fault to the hub.
func NewSet(seed int64, world string, clock func() time.Time, hub *events.Hub) *Set {
	return &Set{seed: seed, world: world, clock: clock, hub: hub}
}

// Any reports whether there are rules.
func (s *Set) Any() bool { return s != nil && s.count.Load() > 0 }

// Add appends a rule, or replaces the one with its id.
func (s *Set) Add(r *Rule) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := *r
	text.ID = ""
	raw, _ := json.Marshal(text) // it was decoded from JSON
	a := &activeRule{Rule: *r, digest: sha256.Sum256(raw), wall: time.Now(), worldTime: s.clock()}
	if i := slices.IndexFunc(s.rules, func(other *activeRule) bool { return r.ID != "" && other.ID == r.ID }); i >= 0 {
		s.rules[i] = a
		return State{Rule: a.Rule}
	}
	for a.ID == "" || slices.ContainsFunc(s.rules, func(other *activeRule) bool { return other.ID == a.ID }) {
		s.last++
		a.ID = strconv.Itoa(s.last)
	}
	s.rules = append(s.rules, a)
	s.recount()
	return State{Rule: a.Rule}
}

// List returns the rules in the order in which Decide tries them.
func (s *Set) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []State{}
	for _, a := range s.rules {
		all = append(all, State{a.Rule, a.matched, a.applied})
	}
	return all
}

// Delete removes the rule with an id, or all rules for an empty id, and returns how many it removed.
func (s *Set) Delete(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.rules)
	s.rules = slices.DeleteFunc(s.rules, func(a *activeRule) bool { return id == "" || a.ID == id })
	s.recount()
	if len(s.rules) == 0 {
		s.last = 0
	}
	return before - len(s.rules)
}

// recount updates what Any reports.
func (s *Set) recount() {
	n := int32(len(s.rules))
	if s.schedule != nil {
		n++
	}
	s.count.Store(n)
}

// Mining reports whether a rule keeps transactions from being mined.
func (s *Set) Mining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.rules, func(a *activeRule) bool { return a.Action.Mining != "" })
}

// Decide counts a request and returns the faults to apply; nil for none. It first looks for a rule about whole responses and takes the
// first that applies. Then each JSON-RPC call gets the first rule about calls that applies. A later rule does not count requests to which
// an earlier one applied.
func (s *Set) Decide(r *Request) *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Plan{}
	for _, a := range s.rules {
		if !a.Match.streams() && !a.perCall() && a.Match.fits(r) && a.fires(s) {
			s.apply(p, a, r, -1)
			break
		}
	}
	for i := range r.Calls {
		if p.Whole != nil {
			break
		}
		for _, a := range s.rules {
			if !a.Match.streams() && a.perCall() && a.Match.fits(r) && a.Match.fitsCall(&r.Calls[i]) && a.fires(s) {
				s.apply(p, a, r, i)
				break
			}
		}
	}
	if p.Text != "" {
		return p
	}
	if s.schedule != nil {
		return s.schedule.plan(r)
	}
	return nil
}

// Scheduled marks the context of a request to a world that follows a schedule.
func (s *Set) Scheduled(ctx context.Context) context.Context {
	if s == nil || s.schedule == nil {
		return ctx
	}
	return context.WithValue(ctx, scheduledKey{}, true)
}

// Event is a notification of a subscription, or a webhook's message.
type Event struct {
	Subscription string // kind
	Webhook      string // event type
	Text         string // body
	Number       int64  // of a webhook's message
}

// DecideEvent counts a notification or a message and returns the action and delay of the first rule that applies, nil for none. The request is the
// one that opened the connection.
func (s *Set) DecideEvent(e *Event, opened *Request) (*Action, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.rules {
		m := &a.Match
		if m.streams() && fitsKind(m.Subscription, e.Subscription) && fitsKind(m.Webhook, e.Webhook) && m.fits(opened) && a.fires(s) {
			s.tell(Applied{Rule: a.ID, Action: a.Action.String(), Interface: opened.Interface, Method: opened.Method, Path: opened.Path, RPCMethod: e.Subscription})
			return &a.Action, s.delay(a)
		}
	}
	if s.schedule != nil {
		return s.schedule.event(e)
	}
	return nil, 0
}

func fitsKind(wanted, kind string) bool { return wanted == kind || wanted == "*" && kind != "" }

// Applied is the payload of a fault event.
type Applied struct {
	Rule      string `json:"rule" doc:"Its id, or X-Sim-Fault."`
	Action    string `json:"action"`
	Interface string `json:"interface"`
	Operation string `json:"operation,omitempty"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	RPCMethod string `json:"rpcMethod,omitempty"`
}

// apply adds a rule's action to a plan, for one call or, with -1, for the whole request.
func (s *Set) apply(p *Plan, a *activeRule, r *Request, call int) {
	applied := Applied{Rule: a.ID, Action: a.Action.String(), Interface: r.Interface, Operation: r.Operation, Method: r.Method, Path: r.Path}
	if call >= 0 {
		applied.RPCMethod = r.Calls[call].Method
	}
	p.add(&a.Action, s.delay(a), call, "rule "+a.ID)
	s.tell(applied)
}

func (s *Set) tell(applied Applied) {
	if s != nil {
		s.hub.Publish(events.Fault, s.world, func() any { return applied })
	}
}

func (p *Plan) add(a *Action, delay time.Duration, call int, by string) {
	if p.Text != "" {
		p.Text += "; "
	}
	p.Text += by + ": " + a.String()
	if a.Delay != nil && time.Duration(a.Delay.Fixed) != delay {
		p.Text += ", waits " + delay.Round(time.Microsecond).String()
	}
	p.Delay += delay
	switch {
	case len(a.things()) == 0:
	case !a.aboutCall():
		p.Whole = a
	case call >= 0:
		if p.Calls == nil {
			p.Calls = map[int]*Action{}
		}
		p.Calls[call] = a
	}
}

// Once returns the plan of a request that names its fault itself.
func (s *Set) Once(a *Action, r *Request) *Plan {
	s.tell(Applied{Rule: Header, Action: a.String(), Interface: r.Interface, Operation: r.Operation, Method: r.Method, Path: r.Path})
	p := &Plan{}
	var delay time.Duration
	if a.Delay != nil {
		delay = time.Duration(a.Delay.Fixed)
	}
	if !a.aboutCall() {
		p.add(a, delay, -1, Header)
		return p
	}
	for i := range r.Calls {
		p.add(a, delay, i, Header)
		delay = 0
	}
	return p
}

// perCall reports whether a rule applies to JSON-RPC calls rather than whole requests.
func (a *activeRule) perCall() bool { return a.Match.RPCMethod != "" || a.Action.aboutCall() }

// aboutCall reports whether an action applies to a JSON-RPC call.
func (a *Action) aboutCall() bool {
	return a.RPCError != nil || !a.RPCResult.IsZero() || a.Mining != "" || a.MissingLogs != 0
}

func (m *Match) fits(r *Request) bool {
	if m.Interface != "" && m.Interface != r.Interface || m.Operation != "" && !strings.EqualFold(m.Operation, r.Operation) ||
		m.Method != "" && m.Method != r.Method || m.Network != "" && m.Network != r.Network ||
		m.Host != "" && !glob(strings.ToLower(m.Host), r.Host) ||
		m.Path != "" && !fitsPath(m.Path, r.Path) || m.APIKey != "" && !slices.Contains(r.Keys, m.APIKey) {
		return false
	}
	if m.Chain != "" && !slices.ContainsFunc(r.Chains, func(name string) bool { return strings.EqualFold(name, m.Chain) }) {
		return false
	}
	if m.Address != "" && !strings.Contains(strings.ToLower(r.Text), strings.ToLower(m.Address)) {
		return false
	}
	for name, value := range m.Headers {
		if got := r.Header.Values(name); len(got) == 0 || value != "*" && !slices.Contains(got, value) {
			return false
		}
	}
	return true
}

// fitsPath matches a path against a pattern; a final ** matches everything.
func fitsPath(pattern, path string) bool {
	if begin, found := strings.CutSuffix(pattern, "**"); found {
		segments := strings.Count(begin, "/")
		cut := 0
		for range segments {
			i := strings.IndexByte(path[cut:], '/')
			if i < 0 {
				return false
			}
			cut += i + 1
		}
		return glob(begin, path[:cut])
	}
	return glob(pattern, path)
}

func (m *Match) fitsCall(c *Call) bool { return m.RPCMethod == "" || glob(m.RPCMethod, c.Method) }

// fires counts a match and reports whether the rule applies to it.
func (a *activeRule) fires(s *Set) bool {
	a.matched++
	if t := a.Times; t != nil {
		at := a.matched - min(a.matched, uint64(t.After))
		switch {
		case at == 0, t.Every > 0 && at%uint64(t.Every) != 0, t.First > 0 && a.applied >= uint64(t.First), t.For > 0 && a.age(s) >= time.Duration(t.For):
			return false
		}
		if t.Probability != "" {
			if part, err := t.Probability.Float64(); err == nil && a.draw(s, "probability") >= part {
				return false
			}
		}
	}
	a.applied++
	return true
}

// age returns the time since the rule was added, by the rule's clock.
func (a *activeRule) age(s *Set) time.Duration {
	if a.Times.Clock == "world" {
		return s.clock().Sub(a.worldTime)
	}
	return time.Since(a.wall)
}

// draw returns a number from 0 to 1 derived from the seed, the rule's text and the ordinal of the match.
func (a *activeRule) draw(s *Set, what string) float64 {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.seed))
	b = binary.BigEndian.AppendUint64(append(b, a.digest[:]...), a.matched)
	sum := sha256.Sum256(append(b, what...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

func (s *Set) delay(a *activeRule) time.Duration {
	d := a.Action.Delay
	switch {
	case d == nil:
		return 0
	case d.Max > 0:
		return time.Duration(d.Min) + time.Duration(a.draw(s, "delay")*float64(d.Max-d.Min))
	case d.Median > 0:
		sigma, err := d.Sigma.Float64()
		if err != nil {
			sigma = 0.5
		}
		normal := math.Sqrt2 * math.Erfinv(2*max(a.draw(s, "delay"), 1e-9)-1)
		return time.Duration(min(float64(d.Median)*math.Exp(sigma*normal), float64(longest)))
	}
	return time.Duration(d.Fixed)
}
