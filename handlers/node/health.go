package node

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/node/primary"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim"
)

// healthAPI reports the node's health: avalanchego's api/health.Service.
type healthAPI struct {
	network *sim.Network
	world   *sim.World
	heights func(context.Context) ([]ChainHeight, error) // of every chain
}

// HealthArgs selects checks; without tags, it selects all.
type HealthArgs struct {
	Tags []string `json:"tags"`
}

// allChecks is the tag of every check: avalanchego's api/health.AllTag.
const allChecks = "all"

// HealthReply is the state of the node.
type HealthReply struct {
	Checks  map[string]Check `json:"checks"`
	Healthy bool             `json:"healthy"`
}

// Check is the result of one health check.
type Check struct {
	Message   any           `json:"message,omitempty"`
	Error     string        `json:"error,omitempty"`
	Timestamp time.Time     `json:"timestamp"`
	Duration  time.Duration `json:"duration"` // nanoseconds
}

// ChainHealth is the result of a chain's check.
type ChainHealth struct {
	LastAcceptedHeight uint64 `json:"lastAcceptedHeight"`
}

// byMethod sends GET and HEAD to one handler and the rest to another.
type byMethod struct {
	get          http.Handler
	other        *rpc.Server
	capabilities *rpc.Capabilities
}

// Capabilities returns the capabilities of both handlers.
func (b byMethod) Capabilities() *rpc.Capabilities { return b.capabilities }

// Read reads the calls of requests other than GET.
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

// plain responds with a state, and with status 503 if something is wrong.
func plain(state func(context.Context, []string) HealthReply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := state(r.Context(), r.URL.Query()["tag"])
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

// health checks every chain and the file behind them. As in avalanchego's chains.Manager, the tag of a chain's check is its subnet's id;
// the other checks are of the whole node, and no choice of tags omits them (api/health.worker.Results).
func (a *healthAPI) health(ctx context.Context, tags []string) HealthReply {
	reply := a.readiness(ctx, tags)
	started := time.Now()
	heads, err := a.heights(ctx)
	for _, h := range heads {
		if len(tags) == 0 || slices.Contains(tags, allChecks) || slices.Contains(tags, a.subnetOf(ctx, h.Chain)) {
			reply.Checks[h.Chain] = a.check(started, ChainHealth{h.Height}, nil)
		}
	}
	database := a.world.Health(ctx)
	if err != nil && database == nil {
		database = errHeights
	}
	reply.Checks["database"] = a.check(started, nil, database)
	reply.Healthy = reply.Healthy && database == nil
	return reply
}

// subnetOf returns the id of a chain's subnet, empty if it cannot be read.
func (a *healthAPI) subnetOf(ctx context.Context, chain string) string {
	id, err := primary.ChainByAlias(a.network, chain)
	if err != nil {
		return ""
	}
	subnet, err := a.network.SubnetOf(ctx, id)
	if err != nil {
		return ""
	}
	return subnet.String()
}

// readiness always holds: the world is complete before the node answers.
func (a *healthAPI) readiness(context.Context, []string) HealthReply {
	missing := []string{}
	for _, chain := range a.network.Trouble.Now().NotBootstrapped {
		missing = append(missing, chain.String())
	}
	if len(missing) > 0 { // avalanchego's chains.Manager: the chain ids, and errNotBootstrapped's text
		return HealthReply{map[string]Check{"bootstrapped": a.check(time.Now(), missing, errNotBootstrapped)}, false}
	}
	return HealthReply{map[string]Check{"bootstrapped": a.check(time.Now(), missing, nil)}, true}
}

func (a *healthAPI) liveness(context.Context, []string) HealthReply {
	return HealthReply{map[string]Check{}, true}
}

// check returns a result. It measures the duration by this machine's clock; the timestamp follows the world's.
func (a *healthAPI) check(started time.Time, found any, err error) Check {
	c := Check{Message: found, Timestamp: a.world.Clock.Now(), Duration: time.Since(started)}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

// Health reports whether every chain is healthy.
func (a *healthAPI) Health(r *http.Request, args *HealthArgs, reply *HealthReply) error {
	*reply = a.health(r.Context(), args.Tags)
	return nil
}

// Readiness reports whether the node has caught up.
func (a *healthAPI) Readiness(r *http.Request, args *HealthArgs, reply *HealthReply) error {
	*reply = a.readiness(r.Context(), args.Tags)
	return nil
}

// Liveness reports whether the process runs.
func (a *healthAPI) Liveness(r *http.Request, args *HealthArgs, reply *HealthReply) error {
	*reply = a.liveness(r.Context(), args.Tags)
	return nil
}
