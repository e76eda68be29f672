package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/miner"
	"snowglobe/sim/parse"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// Troubles is the answer of GET /sim/node.
type Troubles struct {
	Networks []NetworkTroubles `json:"networks"`
}

// NetworkTroubles lists the problems of a network's nodes.
type NetworkTroubles struct {
	Network         string   `json:"network"`
	NotBootstrapped []string `json:"notBootstrapped" doc:"Ids of chains that the node has not caught up with: info.isBootstrapped returns false for them, and the node's health is a 503."`
	Benched         []string `json:"benched" doc:"Ids of peers that the node has benched for the C-Chain, as info.peers shows."`
	NotSigning      []string `json:"notSigning" doc:"Ids of nodes that sign no cross-chain messages; if the others miss the quorum, there is no aggregate signature."`
	ExecutionLag    string   `json:"executionLag" doc:"Since Helicon: how far the C-Chain's execution lags behind acceptance; 0 for no lag."`
	SettlementLag   string   `json:"settlementLag" doc:"Since Helicon: time from the execution of a block until another one settles it; 0 for the network's five seconds."`
	PriceRise       uint64   `json:"priceRise" doc:"Since Helicon: percent by which gas in a C-Chain's block costs more than announced."`
	Uptimes         []Uptime `json:"uptimes" doc:"Uptimes of validators' nodes, which decide whether a stake earns its reward: it takes 80 %, or 90 % for validators that started since Helicon."`
}

// Uptime is the share of its time that a node is up.
type Uptime struct {
	NodeID  string  `json:"nodeId" format:"nodeId" doc:"Any node id, even a made-up one. Nodes that you don't list have an uptime of 100."`
	Percent float64 `json:"percent" min:"0" max:"100"`
}

type troubleBody struct {
	Network         string   `json:"network,omitempty" enum:"mainnet,fuji,testnet" doc:"Default: mainnet."`
	NotBootstrapped []string `json:"notBootstrapped,omitempty" doc:"Chains by id or alias, such as C or P."`
	Benched         []string `json:"benched,omitempty" doc:"Node ids."`
	NotSigning      []string `json:"notSigning,omitempty" doc:"Node ids."`
	ExecutionLag    string   `json:"executionLag,omitempty" doc:"C-Chain since Helicon: execute a block only once there are that many newer ones (5 blocks), or once the world's clock has advanced by that much (10s). Until then latest is an older block, the receipt is null, and accepted names the newest block."`
	SettlementLag   string   `json:"settlementLag,omitempty" doc:"C-Chain since Helicon: a time, such as 1m, from the execution of a block until another one settles it. Safe and finalized stay behind, transactions wait in the pool for funds to settle, and a full queue takes no block."`
	PriceRise       uint64   `json:"priceRise,omitempty" min:"0" max:"100000" doc:"C-Chain since Helicon: percent by which gas in each block costs more than announced."`
	Uptimes         []Uptime `json:"uptimes,omitempty" doc:"Uptimes of validators' nodes, instead of the world's, until the node recovers."`
}

// RegisterTrouble registers the operations that put nodes in trouble.
func RegisterTrouble(s *rest.Server, w *sim.World) error {
	a := &troubleAPI{w}
	troubles := reflect.TypeFor[Troubles]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "getNodeTrouble", Path: "/sim/node", Summary: "Nodes in trouble", Live: true, Answer: troubles,
			Handle: func(*rest.Request) (any, error) { return a.show(), nil }},
		rest.Operation{ID: "setNodeTrouble", Method: http.MethodPost, Path: "/sim/node", Summary: "Put a network's nodes in trouble",
			Doc:  "Nodes recover from every trouble that the request does not name. Nothing is stored, so a restart clears all trouble.",
			Body: reflect.TypeFor[troubleBody](), Strict: true, Class: permit.Control, Answer: troubles, Handle: a.set},
		rest.Operation{ID: "endNodeTrouble", Method: http.MethodDelete, Path: "/sim/node", Summary: "Let all nodes recover",
			Class: permit.Control, Answer: troubles, Handle: func(r *rest.Request) (any, error) {
				for _, n := range w.Networks {
					n.Trouble.Set(sim.Troubles{})
					if err := w.MinerOf(n.CChain()).SetFault(r.Context(), miner.Fault{}); err != nil {
						return nil, err
					}
				}
				return a.show(), nil
			}})
}

type troubleAPI struct{ world *sim.World }

func (a *troubleAPI) show() *Troubles {
	t := &Troubles{Networks: []NetworkTroubles{}}
	for _, n := range a.world.Networks {
		now, wrong := n.Trouble.Now(), a.world.MinerOf(n.CChain()).Fault()
		t.Networks = append(t.Networks, NetworkTroubles{
			n.Name, texts(now.NotBootstrapped), texts(now.Benched), texts(now.NotSigning),
			Lag{wrong.ExecutionLag.Blocks, milliseconds(wrong.ExecutionLag.Milliseconds)}.String(), Lag{Time: milliseconds(int64(wrong.SettlementLag))}.String(), wrong.PriceRise, uptimes(now.Uptimes),
		})
	}
	return t
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// shortestSettlement is the network's own time from execution to settlement (ACP-194).
const shortestSettlement = 5 * time.Second

// fault reads the troubles of a network's C-Chain since Helicon.
func (b *troubleBody) fault(w *sim.World, n *sim.Network) (wrong miner.Fault, problems []string) {
	if b.ExecutionLag != "" {
		lag, err := parseLag(b.ExecutionLag)
		if err != nil {
			problems = append(problems, "executionLag: "+err.Error())
		}
		wrong.ExecutionLag = miner.Lag{Blocks: lag.Blocks, Milliseconds: lag.Time.Milliseconds()}
	}
	if b.SettlementLag != "" && b.SettlementLag != "0" {
		lag, err := time.ParseDuration(b.SettlementLag)
		if err != nil || lag < shortestSettlement || lag > mostTime {
			problems = append(problems, fmt.Sprintf("settlementLag: %.100q is not allowed: expected text such as 1m, from %s to %s, or 0", b.SettlementLag, shortestSettlement, mostTime))
		}
		wrong.SettlementLag = uint64(lag.Milliseconds())
	}
	wrong.PriceRise = b.PriceRise
	if wrong != (miner.Fault{}) && !n.CChain().Asynchronous(uint64(w.Clock.Unix())) {
		problems = append(problems, fmt.Sprintf("until Helicon, the C-Chain of %s executes and settles blocks when it accepts them", n.Name))
	}
	return wrong, problems
}

// uptimes lists uptimes in the order of the nodes' ids.
func uptimes(all map[ids.NodeID]uint32) []Uptime {
	list := []Uptime{}
	for _, node := range slices.SortedFunc(maps.Keys(all), ids.NodeID.Compare) {
		list = append(list, Uptime{node.String(), float64(all[node]) / rules.Percent})
	}
	return list
}

func texts[T fmt.Stringer](all []T) []string {
	list := []string{}
	for _, v := range all {
		list = append(list, v.String())
	}
	return list
}

func (a *troubleAPI) set(r *rest.Request) (any, error) {
	b := rest.Body[troubleBody](r)
	network := fixtures.MainnetName
	if b.Network != "" {
		known, err := fixtures.NetworkNamed(b.Network)
		if err != nil {
			return nil, rest.BadRequest(err.Error())
		}
		network = known.Name
	}
	for _, n := range a.world.Networks {
		if n.Name != network {
			continue
		}
		now, problems, err := b.read(r.Context(), n)
		if err != nil {
			return nil, err
		}
		wrong, more := b.fault(a.world, n)
		if problems = append(problems, more...); len(problems) > 0 {
			return nil, rest.BadRequest(problems...)
		}
		if err := a.world.MinerOf(n.CChain()).SetFault(r.Context(), wrong); err != nil {
			return nil, err
		}
		n.Trouble.Set(now)
	}
	return a.show(), nil
}

func (b *troubleBody) read(ctx context.Context, n *sim.Network) (now sim.Troubles, problems []string, err error) {
	for _, name := range b.NotBootstrapped {
		id, known := n.Aliases.Lookup(name)
		if !known {
			problems = append(problems, fmt.Sprintf("notBootstrapped: there is no chain %.100q on %s", name, n.Name))
		}
		now.NotBootstrapped = append(now.NotBootstrapped, id)
	}
	now.Uptimes = map[ids.NodeID]uint32{}
	for _, u := range b.Uptimes {
		id, wrong := parse.NodeID(u.NodeID)
		if wrong != nil {
			problems = append(problems, fmt.Sprintf("uptimes: %.100q is not a node id", u.NodeID))
			continue
		}
		now.Uptimes[id] = uint32(math.Round(u.Percent * rules.Percent))
	}
	for _, list := range []struct {
		what  string
		names []string
		into  *[]ids.NodeID
	}{{"benched", b.Benched, &now.Benched}, {"notSigning", b.NotSigning, &now.NotSigning}} {
		for _, name := range list.names {
			id, wrong := parse.NodeID(name)
			if wrong == nil {
				_, err = n.DB.Node(ctx, n.Rules.NetworkID, id[:])
			}
			switch {
			case wrong != nil || errors.Is(err, store.ErrNotFound):
				problems = append(problems, fmt.Sprintf("%s: there is no node %.100q on %s", list.what, name, n.Name))
				continue
			case err != nil:
				return now, nil, err
			}
			*list.into = append(*list.into, id)
		}
	}
	return now, problems, nil
}
