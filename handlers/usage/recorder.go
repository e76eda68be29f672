// Package usage counts the requests that a server gets, and reports them as the live service reports an account's usage.
//
// It remembers the latest requests in memory only, so that a read-only server leaves the file unchanged. The days before the end of the
// generated history have made-up requests that follow from the world's identity.
package usage

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unique"

	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// kind has the fields by which requests are grouped and filtered, and where they came from.
type kind struct {
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
	caller      LogMetadata
}

type request struct {
	number int64 // increases with each request
	time   int64 // Unix milliseconds of the world's clock
	took   time.Duration
	kind   unique.Handle[kind] // most requests are like others
}

const (
	mostRequests = 10_000
	mostText     = 256     // bytes kept of texts whose length the client chooses
	firstNumber  = 1 << 40 // those of the history are lower
)

// Recorder remembers the latest requests.
type Recorder struct {
	world *sim.World

	mu     sync.Mutex
	latest []request // a ring
	count  int64
}

// New returns a recorder with no requests.
func New(w *sim.World) *Recorder { return &Recorder{world: w} }

// Add remembers a request.
func (r *Recorder) Add(u *rest.Use) {
	l := request{0, r.world.Clock.UnixMilli(), u.Took, unique.Make(r.kindOf(u))}
	r.mu.Lock()
	defer r.mu.Unlock()
	l.number = firstNumber + r.count
	if len(r.latest) < mostRequests {
		r.latest = append(r.latest, l)
	} else {
		r.latest[r.count%mostRequests] = l
	}
	r.count++
}

// requests returns the requests between two times in Unix seconds, newest first.
func (r *Recorder) requests(from, to int64) iter.Seq2[request, *kind] {
	return func(yield func(request, *kind) bool) {
		r.mu.Lock()
		at := int(r.count % mostRequests)
		all := slices.Concat(r.latest[min(at, len(r.latest)):], r.latest[:min(at, len(r.latest))])
		r.mu.Unlock()
		for _, l := range slices.Backward(all) {
			if k := l.kind.Value(); l.time >= from*1000 && l.time < to*1000 && !yield(l, &k) {
				return
			}
		}
		r.past(from, to, yield)
	}
}

// historyDays is the length of the history, counted back from the end of the generated history.
const historyDays = 30

// Requests of the history: paths of the Data API, and methods of the node by path.
var (
	pastPaths = []string{
		"/v1/chains/{chainId}/addresses/{address}/balances:getNative", "/v1/chains/{chainId}/addresses/{address}/balances:listErc20",
		"/v1/chains/{chainId}/addresses/{address}/transactions", "/v1/chains/{chainId}/blocks", "/v1/chains/{chainId}/transactions/{txHash}",
	}
	pastMethods = [][2]string{
		{"rpc", "eth_blockNumber"}, {"rpc", "eth_call"}, {"rpc", "eth_getBalance"}, {"rpc", "eth_getLogs"}, {"rpc", "eth_getTransactionReceipt"},
		{"/ext/bc/P", "platform.getHeight"}, {"/ext/bc/P", "platform.getCurrentValidators"}, {"/ext/bc/X", "avm.getUTXOs"}, {"/ext/info", "info.getNetworkID"},
	}
	pastAgents  = []string{"axios/1.7.9", "viem/2.21.0", "ethers/6.13.4", "curl/8.9.1"}
	pastOrigins = [][2]string{{"US", "NA"}, {"DE", "EU"}, {"JP", "AS"}, {"BR", "SA"}, {"XX", "XX"}}
	pastKeys    = []string{"key-backend", "key-frontend"}
)

// past visits the history's requests between two times, newest first: most succeed, and more come by day.
func (r *Recorder) past(from, to int64, yield func(request, *kind) bool) {
	end := r.world.Meta.Until / 3600 * 3600
	for hour := min((to-1)/3600*3600, end-3600); hour >= max(from/3600*3600, end-historyDays*24*3600); hour -= 3600 {
		count := 60 - 4*max(hour/3600%24-12, 12-hour/3600%24) // at noon, 12 at midnight
		for i := count - 1; i >= 0; i-- {
			seed := sha256.Sum256(fmt.Appendf(nil, "usage\x00%x\x00%d\x00%d", r.world.Identity(), hour, i))
			draws := seed[:]
			draw := func(of int) int {
				n := int(binary.BigEndian.Uint16(draws)) % of
				draws = draws[2:]
				return n
			}
			c := r.world.Chains[draw(len(r.world.Chains))].Row
			chain, agent, origin := strconv.FormatUint(c.EVMID, 10), pastAgents[draw(len(pastAgents))], pastOrigins[draw(len(pastOrigins))]
			k := kind{RequestType: "data", Status: 200, ChainID: chain, Network: c.Network, Key: pastKeys[draw(len(pastKeys))], UserAgent: agent,
				Country: origin[0], Continent: origin[1], caller: LogMetadata{"203.0.113.7", "localhost", agent}}
			if draw(20) == 0 {
				k.Status = 400
			}
			if n := draw(len(pastPaths) + len(pastMethods)); n < len(pastPaths) {
				k.Path = pastPaths[n]
			} else {
				m := pastMethods[n-len(pastPaths)]
				k.RequestType, k.Path, k.Method = "rpc", m[0], m[1]
				if m[0] == "rpc" {
					k.Path = "/ext/bc/" + chain + "/rpc"
				} else {
					k.ChainID = ""
				}
			}
			took := time.Duration(4000+draw(28_000)) * time.Microsecond
			if !yield(request{number: hour + i, time: hour*1000 + i*3_600_000/count, took: took}, &k) {
				return
			}
		}
	}
}

func (r *Recorder) kindOf(u *rest.Use) kind {
	client, _, err := net.SplitHostPort(u.Client)
	if err != nil {
		client = u.Client
	}
	product, _, _ := strings.Cut(u.UserAgent, " ") // the rest differs from build to build
	d := kind{RequestType: "data", Path: u.Template, Status: u.Status, Key: u.Key, Bypass: u.Bypass, UserAgent: clipped(product), Country: "XX", Continent: "XX",
		caller: LogMetadata{client, clipped(u.Host), clipped(u.UserAgent)}}
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
func (r *Recorder) rpc(d *kind, u *rest.Use) {
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
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "")
}
