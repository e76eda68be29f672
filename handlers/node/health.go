package node

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim"
)

// healthAPI tells whether the node is well: avalanchego's api/health.Service.
type healthAPI struct {
	network *sim.Network
	world   *sim.World
	heights func(context.Context) ([]ChainHeight, error) // of every chain
}

// HealthReply is the state of the node.
type HealthReply struct {
	Checks  map[string]Check `json:"checks"`
	Healthy bool             `json:"healthy"`
}

// Check is one thing that was looked at.
type Check struct {
	Message   any           `json:"message,omitempty"`
	Error     string        `json:"error,omitempty"`
	Timestamp time.Time     `json:"timestamp"`
	Duration  time.Duration `json:"duration"` // nanoseconds
}

// ChainHealth is what a chain's check found.
type ChainHealth struct {
	LastAcceptedHeight uint64 `json:"lastAcceptedHeight"`
}

// byMethod sends GET and HEAD one way and the rest another.
type byMethod struct {
	get          http.Handler
	other        *rpc.Server
	capabilities *rpc.Capabilities
}

// Capabilities are those of both.
func (b byMethod) Capabilities() *rpc.Capabilities { return b.capabilities }

// Read reads the calls of those that are no GET.
func (b byMethod) Read(r *http.Request, body []byte) (*http.Request, []fault.Call) {
	return b.other.Read(r, body)
}

func (b byMethod) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		b.get.ServeHTTP(w, r)
		return
	}
	b.other.ServeHTTP(w, r)
}

// plain answers with a state, and status 503 when something is wrong.
func plain(state func(context.Context) HealthReply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := state(r.Context())
		w.Header().Set("Content-Type", "application/json")
		if !reply.Healthy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if r.Method != http.MethodHead {
			_ = stdjson.NewEncoder(w).Encode(reply) // the client has gone
		}
	})
}

var errNotBootstrapped = errors.New("subnets not bootstrapped")

var errHeights = errors.New("the heights of the chains cannot be read")

// health looks at every chain and at the file behind them.
func (a *healthAPI) health(ctx context.Context) HealthReply {
	reply := a.readiness(ctx)
	started := time.Now()
	heads, err := a.heights(ctx)
	for _, h := range heads {
		reply.Checks[h.Chain] = a.check(started, ChainHealth{h.Height}, nil)
	}
	database := a.world.Health(ctx)
	if err != nil && database == nil {
		database = errHeights
	}
	reply.Checks["database"] = a.check(started, nil, database)
	reply.Healthy = reply.Healthy && database == nil
	return reply
}

// readiness is given once the node answers at all: the world is whole before that.
func (a *healthAPI) readiness(context.Context) HealthReply {
	missing := []string{}
	for _, chain := range a.network.Trouble.Now().NotBootstrapped {
		missing = append(missing, chain.String())
	}
	if len(missing) > 0 { // avalanchego's chains.Manager: the ids of the chains, and errNotBootstrapped's words
		return HealthReply{map[string]Check{"bootstrapped": a.check(time.Now(), missing, errNotBootstrapped)}, false}
	}
	return HealthReply{map[string]Check{"bootstrapped": a.check(time.Now(), missing, nil)}, true}
}

func (a *healthAPI) liveness(context.Context) HealthReply {
	return HealthReply{map[string]Check{}, true}
}

// check is what was found since a time on this machine's clock; its timestamp is by the world's.
func (a *healthAPI) check(started time.Time, found any, err error) Check {
	c := Check{Message: found, Timestamp: a.world.Clock.Now(), Duration: time.Since(started)}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

// Health answers whether every chain is well.
func (a *healthAPI) Health(r *http.Request, _ *jsonrpc.NoArgs, reply *HealthReply) error {
	*reply = a.health(r.Context())
	return nil
}

// Readiness answers whether the node has caught up.
func (a *healthAPI) Readiness(r *http.Request, _ *jsonrpc.NoArgs, reply *HealthReply) error {
	*reply = a.readiness(r.Context())
	return nil
}

// Liveness answers whether the process runs.
func (a *healthAPI) Liveness(r *http.Request, _ *jsonrpc.NoArgs, reply *HealthReply) error {
	*reply = a.liveness(r.Context())
	return nil
}
