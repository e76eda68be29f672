package control

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// Lag is an index's distance behind the node: a number of blocks, or a span of the world's time.
type Lag struct {
	Blocks uint64
	Time   time.Duration
}

// mostBlocks and mostTime bound an index's lag.
const (
	mostBlocks = 10_000
	mostTime   = 24 * time.Hour
)

// String formats the lag in the form that parseLag reads.
func (l Lag) String() string {
	switch {
	case l.Blocks > 0:
		return fmt.Sprintf("%d blocks", l.Blocks)
	case l.Time > 0:
		return l.Time.String()
	}
	return "0"
}

// parseLag reads "5 blocks", "30s" or "0".
func parseLag(text string) (Lag, error) {
	if n, unit, found := strings.Cut(strings.TrimSpace(text), " "); found && (unit == "blocks" || unit == "block") {
		if blocks, err := strconv.ParseUint(n, 10, 64); err == nil && blocks <= mostBlocks {
			return Lag{Blocks: blocks}, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 && d <= mostTime {
		return Lag{Time: d}, nil
	}
	return Lag{}, fmt.Errorf("lag %.100q is not allowed: expected text such as 5 blocks or 30s, at most %d blocks or %s, or 0", text, mostBlocks, mostTime)
}

// IndexState describes how far a chain's index has come.
type IndexState struct {
	ChainID string `json:"chainId" doc:"EVM chain id, p-chain or x-chain."`
	Network string `json:"network"`
	Lag     string `json:"lag" doc:"How far the index lags; 0 if it doesn't."`
	Head    string `json:"head" doc:"The node's newest block."`
	Indexed string `json:"indexed" doc:"The newest block that the Data, Metrics and Etherscan-shaped APIs show."`
}

// NewIndexState describes a chain's index.
func NewIndexState(chain, network string, l Lag, head, indexed uint64) IndexState {
	return IndexState{chain, network, l.String(), strconv.FormatUint(head, 10), strconv.FormatUint(indexed, 10)}
}

// IndexStates is the answer of GET and POST /sim/index.
type IndexStates struct {
	Chains []IndexState `json:"chains"`
}

// Index makes the Data and Metrics APIs lag behind the node.
type Index interface {
	// SetLag sets the lag of chains.
	SetLag(context.Context, []sim.ChainKey, Lag) error
	States(context.Context) ([]IndexState, error)
	// Chains returns the chains that a name stands for, on one network if it is named; without a name, every chain.
	Chains(network, name string) []sim.ChainKey
}

type lagBody struct {
	Lag     string `json:"lag" doc:"5 blocks, or 30s of the world's time; 0 to catch up."`
	Chain   string `json:"chain,omitempty" doc:"EVM chain id, blockchain id, p-chain or x-chain; default: every chain."`
	Network string `json:"network,omitempty" doc:"Only chains of this network." enum:"mainnet,fuji,testnet"`
}

// RegisterIndex registers the operations on the index.
func RegisterIndex(s *rest.Server, x Index) error {
	a := &indexAPI{x}
	states := reflect.TypeFor[IndexStates]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "getIndex", Path: "/sim/index", Summary: "How far the indexed APIs lag behind the node", Live: true, Answer: states,
			Handle: func(r *rest.Request) (any, error) { return a.states(r) }},
		rest.Operation{ID: "setIndexLag", Method: http.MethodPost, Path: "/sim/index", Summary: "Make the Data and Metrics APIs lag behind the node",
			Doc: "They index a block only once there are that many newer ones, or once the world's clock has advanced by that much. Until then they return 404. " +
				"The index never loses a block: it stands still until the node is that far ahead. After a revert or a reorganisation, it starts again from the node's current blocks. " +
				"Each chain has its own lag, but a block that spends another chain's export also waits for that export.",
			Body: reflect.TypeFor[lagBody](), Strict: true, Class: permit.Control, Answer: states, Handle: a.set},
		rest.Operation{ID: "catchUpIndex", Method: http.MethodDelete, Path: "/sim/index", Summary: "Let the Data and Metrics APIs catch up with the node",
			Class: permit.Control, Answer: states, Handle: func(r *rest.Request) (any, error) {
				if err := x.SetLag(r.Context(), x.Chains("", ""), Lag{}); err != nil {
					return nil, err
				}
				return a.states(r)
			}})
}

type indexAPI struct{ index Index }

func (a *indexAPI) states(r *rest.Request) (any, error) {
	all, err := a.index.States(r.Context())
	return &IndexStates{all}, err
}

func (a *indexAPI) set(r *rest.Request) (any, error) {
	b := rest.Body[lagBody](r)
	lag, err := parseLag(b.Lag)
	if err != nil {
		return nil, rest.BadRequest(err.Error())
	}
	network, _ := schema.NetworkName(b.Network)
	chains := a.index.Chains(network, b.Chain)
	if len(chains) == 0 {
		return nil, rest.BadRequest(fmt.Sprintf("chain %.100q does not exist: GET /sim/index lists all chains", b.Chain))
	}
	if err := a.index.SetLag(r.Context(), chains, lag); err != nil {
		return nil, err
	}
	return a.states(r)
}
