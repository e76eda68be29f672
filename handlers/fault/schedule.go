package fault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Schedule decides faults by the request itself and how many times it was asked before, never by the order in which different requests arrive.
// It either draws them from a number, or repeats a list of faults drawn earlier.
type Schedule struct {
	number   int64
	drawn    []*Kind // the kinds it may draw; nil for a list
	part     float64 // of the requests
	expected Requests

	revision func() int64              // of the world
	reorg    func(ctx context.Context) // replaces the newest block
	whenSent []func()                  // to call once the client sends a transaction

	mu      sync.Mutex
	listed  map[spot]*Planned
	spots   map[string]*asked
	methods map[string]int // number of requests, by method or operation
	applied []Planned
	fresh   int64 // the newest revision that an answer of the index showed
	waited  time.Duration
}

// Planned is a fault of a schedule.
type Planned struct {
	Kind  string `json:"kind"`
	Times int    `json:"times"` // in a row
	On    string `json:"on"`    // method, operation, subscription, event type, or world
	Key   string `json:"key"`   // of the request's parameters
	Nth   int    `json:"nth"`   // which of the same requests, from 1
	What  string `json:"what,omitempty"`

	nthOfAll int // Nth, counted whatever the parameters
}

// anyKey stands for every request of a method or operation.
const anyKey = "*"

// spot is where a planned fault applies.
type spot struct {
	on, key string
	nth     int
}

// asked counts identical requests.
type asked struct {
	class         class
	times, faults int
	failed        bool     // the last time
	repeat        *Planned // of the last fault, to apply again
	left          int
	limited       time.Time // until when requests are refused
}

// Bounds on what a schedule draws, so that a client that retries a few times passes.
const (
	mostSame   = 2               // faults on the same request
	mostFaults = 24              // to expect in all
	mostWaited = 3 * time.Second // to expect by all of them
	mostSingle = 2               // to expect of a kind that is rare
	late       = 300 * time.Millisecond
	silence    = 5 * time.Second // without an answer, until the connection ends
	limitTime  = 950 * time.Millisecond
)

// Requests tells how many requests of each class a client makes, where repetitions count only as often as they can fail.
type Requests map[class]int

// Requests counts the requests so far.
func (s *Schedule) Requests() Requests {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := Requests{}
	for _, a := range s.spots {
		all[a.class] += min(a.times, mostSame)
	}
	return all
}

// may counts the requests that may have a fault of one of several kinds.
func (r Requests) may(have ...*Kind) float64 {
	return r.count(func(c class) bool { return slices.ContainsFunc(have, func(k *Kind) bool { return k.of&c != 0 }) })
}

// count counts the requests of some classes. It rounds up to a power of two: a client that asks once more in another run then still meets the same
// faults.
func (r Requests) count(of func(class) bool) float64 {
	n := 0
	for class, times := range r {
		if of(class) {
			n += times
		}
	}
	if n == 0 {
		return 0
	}
	return float64(int(1) << bits.Len(uint(n-1)))
}

// parts lists the fractions of requests that may fail.
var parts = []float64{0.1, 0.25, 0.5, 0.8}

// Draw makes the schedule with a number. Half of the numbers draw faults of one kind that the expected requests may have (any, if they are nil), the
// others of several. It draws reorganisations only if the user asks for them, because the network has none. The more requests are expected, the
// smaller is the chance of each to fail or to wait.
func Draw(number int64, expected Requests, reorg bool) *Schedule {
	s := newSchedule()
	s.number, s.part, s.expected = number, parts[number/2%int64(len(parts))], expected
	var possible []*Kind
	for i := range kinds {
		if k := &kinds[i]; (expected == nil || expected.may(k) > 0) && (k.Name != "reorg" || reorg) {
			possible = append(possible, k)
		}
	}
	if number%2 == 1 && len(possible) > 0 {
		k := possible[number/2%int64(len(possible))]
		s.drawn, s.part = []*Kind{k}, max(s.part, 0.5)
		if k.of == ofWorld { // there is one chance in a run
			s.part = 1
		}
		return s
	}
	for i := range kinds { // faults may lead to requests that the calm run lacks
		if k := &kinds[i]; s.chance("kind", k.Name, 0) < 0.5 && (k.Name != "reorg" || reorg) {
			s.drawn = append(s.drawn, k)
		}
	}
	if s.drawn == nil {
		s.drawn = []*Kind{&kinds[0]}
	}
	return s
}

// Repeat makes a schedule from a list of faults.
func Repeat(list List) *Schedule {
	s := newSchedule()
	for i := range list {
		s.listed[spot{list[i].On, list[i].Key, list[i].Nth}] = &list[i]
	}
	return s
}

func newSchedule() *Schedule {
	return &Schedule{listed: map[spot]*Planned{}, spots: map[string]*asked{}, methods: map[string]int{}, fresh: -1}
}

// Follow makes a set apply a schedule in addition to its rules. The schedule reads the world's revision, and calls reorg to replace its newest block.
func (s *Set) Follow(schedule *Schedule, revision func() int64, reorg func(ctx context.Context)) {
	schedule.revision, schedule.reorg = revision, reorg
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schedule = schedule
	s.recount()
}

// Applied lists the applied faults in order.
func (s *Schedule) Applied() List {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.applied)
}

// Waited returns the longest time by which the faults can have delayed the client.
func (s *Schedule) Waited() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waited
}

// Stale reports whether the schedule may serve answers of a lagging index.
func (s *Schedule) Stale() bool {
	return slices.ContainsFunc(s.drawn, func(k *Kind) bool { return k.Name == "stale" }) || s.lists("stale")
}

func (s *Schedule) lists(kind string) bool {
	for _, p := range s.listed {
		if p.Kind == kind {
			return true
		}
	}
	return false
}

// WhenSent calls a function once, when the client first sends a transaction.
func (s *Schedule) WhenSent(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whenSent = append(s.whenSent, do)
}

// World returns the faults that affect the whole world.
func (s *Schedule) World() (kinds []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"fee", "settlement", "relay"} {
		t := &target{class: ofWorld, on: "world", key: name, what: "the network", only: name}
		if p := s.decide(t); p != nil {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}

// chance returns a number from 0 to 1 derived from the schedule's number, its use and the request.
func (s *Schedule) chance(use, key string, nth int) float64 {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.number))
	b = binary.BigEndian.AppendUint64(b, uint64(nth))
	sum := sha256.Sum256(fmt.Appendf(b, "%s\x00%s", use, key))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// decide counts a request and returns its fault, nil for none. The caller holds the lock.
func (s *Schedule) decide(t *target) *Planned {
	a := s.spots[t.on+" "+t.key]
	if a == nil {
		a = &asked{class: t.class}
		s.spots[t.on+" "+t.key] = a
	}
	if time.Now().Before(a.limited) {
		return a.repeat
	}
	if a.left > 0 && a.repeat != nil {
		if a.left--; a.repeat.Kind != "stale" || s.lags(a.repeat.Kind) {
			return a.repeat
		}
	}
	a.times++
	s.methods[t.on]++
	p := cmp.Or(s.listed[spot{t.on, t.key, a.times}], s.listed[spot{t.on, anyKey, s.methods[t.on]}])
	if s.drawn != nil {
		p = s.draw(t, a)
	}
	if a.failed = p != nil && s.lags(p.Kind); !a.failed {
		if t.class&indexed != 0 && s.revision != nil {
			s.fresh = s.revision()
		}
		return nil
	}
	k := KindNamed(p.Kind)
	a.faults++
	if a.repeat, a.left = p, p.Times-1; k.delay() > 0 {
		a.left = 0
	}
	if p.Kind == "limited" {
		a.limited = time.Now().Add(limitTime)
	}
	s.waited += time.Duration(p.Times) * k.wait
	shown := *p
	shown.What, shown.nthOfAll = cmp.Or(shown.What, t.what), s.methods[t.on]
	s.applied = append(s.applied, shown)
	return p
}

// lags reports whether a fault of a kind can apply: an index never hides a state that it has shown.
func (s *Schedule) lags(kind string) bool {
	return kind != "stale" || s.revision == nil || s.revision() != s.fresh
}

// draw returns the fault that the number gives a request. A request that has just failed gets none.
func (s *Schedule) draw(t *target, a *asked) *Planned {
	if a.failed || a.faults >= mostSame {
		return nil
	}
	fitting := slices.DeleteFunc(slices.Clone(s.drawn), func(k *Kind) bool { return k.of&t.class == 0 || t.only != "" && t.only != k.Name })
	if len(fitting) == 0 {
		return nil
	}
	at := t.on + " " + t.key
	k := fitting[int(s.chance("which", at, a.times)*float64(len(fitting)))]
	if s.chance("whether", at, a.times) >= s.likelihood(k, t.class) || k.once && a.faults > 0 {
		return nil
	}
	times := 1 + int(s.chance("times", at, a.times)*float64(max(k.most, 1)))
	if k.breaks(t.class) {
		times = 1
	}
	return &Planned{Kind: k.Name, Times: times, On: t.on, Key: t.key, Nth: a.times}
}

// likelihood returns the chance that a request has a fault of a kind. Because the expected requests decide it, and not those that came before, it
// is the same in whatever order they arrive. A WebSocket rarely breaks, because all of its requests then fail.
func (s *Schedule) likelihood(k *Kind, of class) float64 {
	if k.of == ofWorld {
		return s.part
	}
	fit, wait := s.expected.may(k), float64(k.wait)*float64(1+max(k.most, 1))/2 // where no request is expected, there is no bound
	part := min(s.part*k.part, mostFaults/s.expected.may(s.drawn...), float64(mostWaited)/wait/fit)
	if k.breaks(of) {
		fit = s.expected.count(func(c class) bool { return c&ofSocket != 0 })
	}
	if k.single || k.breaks(of) {
		part = min(part, mostSingle/fit)
	}
	return part
}

// Decide returns the plan for a request, nil for none.
func (s *Schedule) plan(r *Request) *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := targetOf(r)
	if t == nil {
		return nil
	}
	if slices.ContainsFunc(r.Calls, func(c Call) bool {
		return strings.Contains(c.Method, "_send") || strings.HasSuffix(c.Method, ".issueTx")
	}) {
		for _, do := range s.whenSent {
			do()
		}
		s.whenSent = nil
	}
	p := s.decide(t)
	if p == nil {
		return nil
	}
	k := KindNamed(p.Kind)
	plan := &Plan{Text: "schedule: " + p.Kind}
	switch {
	case k.Name == "reorg":
		plan.After = s.reorg
	case k.action.aboutCall():
		plan.Calls = map[int]*Action{max(slices.IndexFunc(r.Calls, asksReceipt), 0): k.action}
	case len(k.action.things()) > 0 || k.action.Stale:
		plan.Whole = k.action
	}
	plan.Delay = time.Duration(p.Times) * k.delay()
	return plan
}

// event returns the action for a notification or a message, nil for none.
func (s *Schedule) event(e *Event) (*Action, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.decide(eventTarget(e))
	if p == nil {
		return nil, 0
	}
	k := KindNamed(p.Kind)
	if k.delay() > 0 {
		return nil, time.Duration(p.Times) * k.delay()
	}
	return k.action, 0
}

type scheduledKey struct{}

// Indexed returns whether a lagging index answers a request: always, unless a schedule decides.
func Indexed(ctx context.Context) bool {
	if p, ok := ctx.Value(planKey{}).(*Plan); ok && p.Whole != nil && p.Whole.Stale {
		return true
	}
	return ctx.Value(scheduledKey{}) == nil
}

// List is the text form of a schedule: a line for each fault, with a comment that explains it.
type List []Planned

// ID returns the short name of a list, a digest of its faults.
func (l List) ID() string {
	var lines []string
	for i := range l {
		lines = append(lines, l[i].line())
	}
	slices.Sort(lines)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))[:8]
}

func (p *Planned) line() string {
	return fmt.Sprintf("%s*%d %s %s %d", p.Kind, p.Times, p.On, p.Key, p.Nth)
}

// String explains the fault.
func (p Planned) String() string {
	k := KindNamed(p.Kind)
	if k == nil {
		return p.line()
	}
	what := cmp.Or(p.What, p.On)
	if k.of&ofWorld != 0 {
		return k.words
	}
	text := fmt.Sprintf("%s of %s %s", ordinal(p.Nth), what, k.words)
	if k.delay() > 0 {
		text += " " + (time.Duration(p.Times) * k.delay()).String()
	} else if p.Times > 1 {
		text += fmt.Sprintf(", %d times in a row", p.Times)
	}
	return text
}

func ordinal(n int) string {
	if n == 1 {
		return "the first"
	}
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("the %d%s", n, suffix)
}

// String writes the list under its name.
func (l List) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule %s\n", l.ID())
	for i := range l {
		fmt.Fprintf(&b, "  %s # %s\n", l[i].line(), &l[i])
	}
	return b.String()
}

// ParseLists reads schedules in their text form. Empty lines and comments have no effect.
func ParseLists(text string) (all []List, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		code, comment, _ := strings.Cut(line, "#")
		fields := strings.Fields(code)
		switch {
		case len(fields) == 0:
		case fields[0] == "schedule":
			all = append(all, nil)
		case len(all) == 0:
			return nil, fmt.Errorf("line %d: expected a line that begins with schedule", n)
		default:
			p := Planned{}
			kind, times, _ := strings.Cut(fields[0], "*")
			if len(fields) != 4 || KindNamed(kind) == nil {
				return nil, fmt.Errorf("line %d: expected a fault such as 503*1 getChain 5f1c09ab 1", n)
			}
			p.Kind, p.On, p.Key, p.Times = kind, fields[1], fields[2], 1
			if _, err := fmt.Sscan(fields[3], &p.Nth); err != nil || p.Nth < 1 {
				return nil, fmt.Errorf("line %d: %q is not a number from 1", n, fields[3])
			}
			if times != "" {
				if _, err := fmt.Sscan(times, &p.Times); err != nil || p.Times < 1 {
					return nil, fmt.Errorf("line %d: %q is not a number from 1", n, times)
				}
			}
			p.What = whatIn(comment, &p)
			last := len(all) - 1
			all[last] = append(all[last], p)
		}
	}
	return all, nil
}

// whatIn finds the request in the comment that String wrote.
func whatIn(comment string, p *Planned) string {
	_, after, found := strings.Cut(comment, ordinal(p.Nth)+" of ")
	what, _, ended := strings.Cut(after, " "+KindNamed(p.Kind).words)
	if !found || !ended {
		return ""
	}
	return what
}

// Milder returns copies of the list, each with one fault replaced by a milder one.
func (l List) Milder() (all []List) {
	for i := range l {
		milder := func(p Planned) {
			c := slices.Clone(l)
			c[i] = p
			all = append(all, c)
		}
		if p := l[i]; p.Times > 1 {
			p.Times = 1
			milder(p)
			continue
		}
		for _, name := range KindNamed(l[i].Kind).milder {
			p := l[i]
			p.Kind = name
			milder(p)
		}
	}
	return all
}

// mostDelayed bounds the delay of one answer that takes over the delays of other faults, in times of its own.
const mostDelayed = 10

// Merged returns copies of the list without one fault, whose delay or repetitions another one takes over. A command that fails only if all of them
// take too long then fails because of one.
func (l List) Merged() (all []List) {
	for i, gone := range l {
		for j, p := range l {
			from, to := KindNamed(gone.Kind), KindNamed(p.Kind)
			switch {
			case i == j:
				continue
			case from.wait > 0 && to.delay() > 0:
				wait := time.Duration(gone.Times) * from.wait
				p.Times = min(p.Times+int((wait+to.delay()-1)/to.delay()), mostDelayed)
			case from == to && p.Times+gone.Times <= to.most:
				p.Times += gone.Times
			default:
				continue
			}
			c := slices.Clone(l)
			c[j] = p
			all = append(all, slices.Delete(c, i, i+1))
		}
	}
	return all
}

// Loose returns a list that names requests only by method or operation, for a command whose parameters differ from run to run.
func (l List) Loose() (all List) {
	for _, p := range l {
		if p.Key != anyKey && p.nthOfAll > 0 {
			p.Key, p.Nth, p.What = anyKey, p.nthOfAll, p.On+", whatever its parameters,"
		}
		all = append(all, p)
	}
	return all
}

// Kind is a kind of fault that a schedule may contain.
type Kind struct {
	Name   string
	of     class
	action *Action
	most   int     // times in a row; of a delay, times as long
	part   float64 // factor on the chance of being drawn
	once   bool    // at most once for the same request
	single bool    // once or twice in all
	wait   time.Duration
	milder []string
	words  string
}

// delay returns by how long a fault of the kind delays an answer, a notification or a message; 0 if it does something else.
func (k *Kind) delay() time.Duration {
	if k.action == nil || k.action.Delay == nil {
		return 0
	}
	return time.Duration(k.action.Delay.Fixed)
}

// breaks reports whether the fault ends the WebSocket of a call.
func (k *Kind) breaks(of class) bool {
	return of&ofSocket != 0 && k.action != nil && (k.action.Status != 0 || k.action.Drop.When != "")
}

// KindNamed returns the kind with a name, nil if there is none.
func KindNamed(name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return nil
}

var kinds = []Kind{
	{Name: "429", of: anyRequest, part: 1, most: 2, action: &Action{Status: http.StatusTooManyRequests, RetryAfter: withoutRetryAfter}, words: "is refused with a 429 without Retry-After"},
	{Name: "503", of: anyRequest | ofSocket, part: 1, most: 2, action: &Action{Status: http.StatusServiceUnavailable}, words: "is answered with a 503"},
	{Name: "limited", of: anyRequest, part: 0.6, wait: time.Second, milder: []string{"429"}, action: &Action{Status: http.StatusTooManyRequests, RetryAfter: 1},
		words: "is refused with a 429 and Retry-After: 1, and so are its repetitions within that second"},
	{Name: "slow", of: anyRequest | ofSocket | subscribing, part: 0.6, most: 4, wait: late, action: &Action{Delay: &Delay{Fixed: Duration(late)}}, words: "is answered after"},
	{Name: "cut", of: read, part: 1, most: 2, milder: []string{"503"}, action: &Action{Drop: Drop{When: dropDuring}}, words: "gets an answer that ends in the middle"},
	{Name: "reset", of: anyRequest | ofSocket, part: 1, most: 2, milder: []string{"503"}, action: &Action{Drop: Drop{When: dropBefore}}, words: "is not carried out: the connection is reset"},
	{Name: "lost", of: send, part: 1, milder: []string{"503", "reset"}, action: &Action{Drop: Drop{When: dropAfter}}, words: "is carried out, but the connection is reset instead of an answer"},
	{Name: "silent", of: send, part: 0.7, once: true, wait: silence, milder: []string{"lost"}, action: &Action{Drop: Drop{When: dropAfter}, Slow: Duration(silence)}, words: "is carried out, but no answer comes until the client gives up"},
	{Name: "null", of: receipt, part: 1, most: 3, action: &Action{RPCResult: Result{JSON: []byte("null")}}, words: "comes before the receipt is there and is answered with null"},
	{Name: "processing", of: status, part: 1, most: 3, action: &Action{RPCResult: Result{JSON: []byte(`{"status":"Processing"}`)}}, words: "comes before the transaction is accepted and is answered with Processing"},
	{Name: "stale", of: indexed, part: 1, most: 3, action: &Action{Stale: true}, words: "is answered by an index that has not seen the newest block"},
	{Name: "reorg", of: chainRead, part: 1, single: true, words: "is followed by a reorganisation: the newest block is replaced, and its transactions move to the next one"},
	{Name: "short", of: paged, part: 1, action: &Action{ShortPage: true}, words: "gets half a page, with a nextPageToken for the rest"},
	{Name: "expired", of: resumed, part: 0.7, once: true, action: &Action{PageToken: "expired"}, words: "is refused because its page token has expired"},
	{Name: "dropped", of: notification, part: 1, action: &Action{Drop: Drop{Count: 1}}, words: "does not arrive"},
	{Name: "doubled", of: notification | message, part: 1, action: &Action{Double: 1}, words: "arrives twice"},
	{Name: "late", of: notification | message, part: 0.6, wait: late, action: &Action{Delay: &Delay{Fixed: Duration(late)}}, words: "arrives late by"},
	{Name: "reordered", of: notification | message, part: 0.6, wait: time.Second, milder: []string{"late"}, action: &Action{Reorder: 1}, words: "arrives after the next one"},
	{Name: "ended", of: notification, part: 0.8, milder: []string{"dropped"}, action: &Action{End: "connection"}, words: "does not arrive because the connection is reset"},
	{Name: "fee", of: ofWorld, part: 1, words: "gas costs 1 nAVAX, and until eight seconds after the first transaction 15 % more in each block than was announced"},
	{Name: "settlement", of: ofWorld, part: 1, words: "until five seconds after the first transaction, blocks settle fifteen seconds after their execution, not five: safe and finalized stay behind"},
	{Name: "relay", of: ofWorld, part: 1, wait: RelayTime, words: "messages between chains are relayed only three seconds after the first transaction"},
}

// RelayTime is how late messages between chains are relayed.
const RelayTime = 3 * time.Second

// withoutRetryAfter is the RetryAfter of an action that sends a 429 without the header.
const withoutRetryAfter = -1
