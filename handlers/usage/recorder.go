package usage

import (
	"cmp"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// Dimensions group and filter requests.
type Dimensions struct {
	RequestType string // data or rpc
	Path        string // the operation's, or the requested one under /ext
	Method      string
	Status      int
	ChainID     string // EVM chain
	Network     string
	Key         string // names the API key
	Bypass      bool   // the key came as rltoken
	UserAgent   string
	Country     string // drawn in the history, XX for today's clients
	Continent   string
}

// Figures are the counts and latencies of requests.
type Figures struct {
	Requests, Failed, Invalid, Credits, Wasted int64             // invalid ones got 400 to 499, failed ones any error
	Latency                                    [latencies]uint32 // requests by latency class, see latencyOf
}

const latencies = 24

// latencyOf returns the class of a duration: each is twice as long as the one before, starting at 16 microseconds.
func latencyOf(took time.Duration) int {
	class := math.Ilogb(float64(max(took.Microseconds(), 8)) / 8)
	return min(class, latencies-1)
}

// latency returns a class's representative time in milliseconds.
func latency(class int) float64 { return 12 * math.Pow(2, float64(class)) / 1000 }

func (f *Figures) add(o *Figures) {
	f.Requests, f.Failed, f.Invalid, f.Credits, f.Wasted = f.Requests+o.Requests, f.Failed+o.Failed, f.Invalid+o.Invalid, f.Credits+o.Credits, f.Wasted+o.Wasted
	for i := range f.Latency {
		f.Latency[i] += o.Latency[i]
	}
}

// slot is a minute, or several merged into an hour, with its requests of a kind.
type slot struct {
	start int64 // Unix seconds of the world's clock
	Dimensions
}

// Log is one request.
type Log struct {
	Number int64 // increases with each request
	Time   int64 // Unix milliseconds of the world's clock
	Took   time.Duration
	*Dimensions
	From    *Caller
	Credits int64
}

// Caller identifies the sender of a request, as far as is known.
type Caller struct{ IP, Host, UserAgent string }

const (
	counted   = 1 << 40 // the first request's number: those of the history are lower
	maxSlots  = 20_000  // beyond this, minutes are merged into hours
	maxLogs   = 10_000
	maxShared = 1_000 // kinds of requests, and callers, that are remembered
	maxAgents = 64    // user agents with a name of their own
	maxKeys   = 256   // API keys with a name of their own
	maxText   = 256   // bytes kept of texts whose length the client chooses
	other     = "other"
)

// Recorder counts requests.
type Recorder struct {
	world *sim.World

	mu      sync.Mutex
	slots   map[slot]*Figures
	agents  names
	keys    names
	logs    []Log // a ring
	counted int64
	kinds   map[Dimensions]*kind // of the latest requests, most of which are like others
	callers map[Caller]*Caller
}

// kind is shared by requests with the same dimensions: those in the ring, and the figures that counted the latest.
type kind struct {
	Dimensions
	credits int64
	start   int64 // of the slot with the figures
	figures *Figures
}

// names holds the first texts that clients chose.
type names map[string]bool

// name returns the text itself if it is among the first so many, or if no client chose it.
func (n names) name(name string, most int) string {
	if name == "" || n[name] {
		return name
	}
	if len(n) >= most {
		return other
	}
	n[name] = true
	return name
}

// New returns a recorder with no requests.
func New(w *sim.World) *Recorder {
	return &Recorder{world: w, slots: map[slot]*Figures{}, agents: names{}, keys: names{}, kinds: map[Dimensions]*kind{}, callers: map[Caller]*Caller{}}
}

// Add counts a request.
func (r *Recorder) Add(u *rest.Use) {
	d := r.dimensions(u)
	now := r.world.Clock.UnixMilli()
	r.mu.Lock()
	defer r.mu.Unlock()
	d.UserAgent, d.Key = r.agents.name(d.UserAgent, maxAgents), r.keys.name(d.Key, maxKeys)
	k := r.kind(&d)
	f := r.figures(k, now/1000/60*60)
	f.Requests++
	f.Credits += k.credits
	if d.Status >= 400 {
		f.Failed++
	}
	if d.Status >= 400 && d.Status < 500 {
		f.Invalid++
		f.Wasted += k.credits
	}
	f.Latency[latencyOf(u.Took)]++
	r.counted++
	l := Log{counted + r.counted, now, u.Took, &k.Dimensions, r.caller(Caller{hostOf(u.Client), clipped(u.Host), clipped(u.UserAgent)}), k.credits}
	if len(r.logs) < maxLogs {
		r.logs = append(r.logs, l)
	} else {
		r.logs[(r.counted-1)%maxLogs] = l
	}
}

// kind returns the shared value of requests with the same dimensions that arrive close together.
func (r *Recorder) kind(d *Dimensions) *kind {
	k := r.kinds[*d]
	if k == nil {
		if len(r.kinds) >= maxShared {
			clear(r.kinds)
		}
		k = &kind{Dimensions: *d, credits: creditsOf(d)}
		r.kinds[*d] = k
	}
	return k
}

// figures returns the figures of a kind's slot that starts at a time.
func (r *Recorder) figures(k *kind, start int64) *Figures {
	if k.figures != nil && k.start == start {
		return k.figures
	}
	s := slot{start, k.Dimensions}
	f := r.slots[s]
	if f == nil {
		if len(r.slots) >= maxSlots {
			r.compact()
		}
		f = &Figures{}
		r.slots[s] = f
	}
	k.start, k.figures = start, f
	return f
}

// caller returns the shared value of callers that ask close together.
func (r *Recorder) caller(c Caller) *Caller {
	kept := r.callers[c]
	if kept == nil {
		if len(r.callers) >= maxShared {
			clear(r.callers)
		}
		kept = new(Caller)
		*kept = c
		r.callers[c] = kept
	}
	return kept
}

func hostOf(client string) string {
	if host, _, err := net.SplitHostPort(client); err == nil {
		return host
	}
	return client
}

// compact merges the minutes of each hour, and if that is not enough, forgets the oldest.
func (r *Recorder) compact() {
	clear(r.kinds) // they point to minutes
	for s, f := range r.slots {
		hour := s
		hour.start = s.start / 3600 * 3600
		if hour == s {
			continue
		}
		if r.slots[hour] == nil {
			r.slots[hour] = &Figures{}
		}
		r.slots[hour].add(f)
		delete(r.slots, s)
	}
	if len(r.slots) < maxSlots*3/4 {
		return
	}
	all := slices.SortedFunc(maps.Keys(r.slots), func(a, b slot) int { return cmp.Compare(a.start, b.start) })
	for _, s := range all[:len(all)/2] {
		delete(r.slots, s)
	}
}

// dimensions returns a request's dimensions.
func (r *Recorder) dimensions(u *rest.Use) Dimensions {
	d := Dimensions{RequestType: "data", Path: u.Template, Status: u.Status, Key: u.Key, Bypass: u.Bypass, UserAgent: shortAgent(u.UserAgent), Country: "XX", Continent: "XX"}
	if u.Interface == "data" || u.Interface == "metrics" {
		before := ""
		for part := range strings.SplitSeq(u.Path, "/") {
			switch before {
			case "chains":
				if c := r.world.ChainNamed(part); c != nil {
					d.ChainID, d.Network = strconv.FormatUint(c.Row.EVMID, 10), c.Row.Network
				}
			case "networks":
				d.Network = clipped(part)
			}
			before = part
		}
	}
	if u.Template == "" {
		r.rpc(&d, u)
	}
	return d
}

// rpc returns the chain of a node request. An unanswered request has no path of its own.
func (r *Recorder) rpc(d *Dimensions, u *rest.Use) {
	d.RequestType, d.Method, d.Network, d.Path = "rpc", clipped(u.Operation), "mainnet", "/ext"
	path := u.Path
	for _, name := range []string{"mainnet", "fuji"} {
		if rest, cut := strings.CutPrefix(path, "/"+name); cut {
			d.Network, path = name, rest
		}
	}
	path = strings.TrimPrefix(path, "/v1")
	name, chain := strings.CutPrefix(path, "/ext/bc/")
	if !chain {
		if d.Status < 400 && len(path) <= 64 {
			d.Path = path
		}
		return
	}
	name, end, _ := strings.Cut(name, "/")
	switch n := r.world.NetworkNamed(d.Network); {
	case name == "P" || name == "X":
		d.Path = "/ext/bc/" + name
	case name == "C":
		d.Path, d.ChainID = "/ext/bc/C", strconv.FormatUint(n.CChain().Row.EVMID, 10)
	default:
		c := r.world.ChainNamed(r.world.Alias(d.Network, name))
		if c == nil {
			return
		}
		d.Path, d.ChainID, d.Network = "/ext/bc/"+strconv.FormatUint(c.Row.EVMID, 10), strconv.FormatUint(c.Row.EVMID, 10), c.Row.Network
	}
	if slices.Contains([]string{"rpc", "ws", "avax", "validators", "wallet", "proposervm"}, end) {
		d.Path += "/" + end
	}
}

// clipped returns the beginning of a text.
func clipped(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxText], ""))
}

// shortAgent returns the product in a user agent: the rest differs from build to build.
func shortAgent(agent string) string {
	product, _, _ := strings.Cut(agent, " ")
	return strings.Clone(strings.ToValidUTF8(product[:min(len(product), 64)], ""))
}
