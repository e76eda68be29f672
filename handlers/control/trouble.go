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

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
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
	NotSigning      []string `json:"notSigning" doc:"Ids of nodes that sign no cross-chain messages: below the quorum there is no aggregate signature."`
	Uptimes         []Uptime `json:"uptimes" doc:"Uptimes of validators' nodes, which decide whether a stake that ends is rewarded: 80 % are required, 90 % of validators that started since Helicon."`
}

// Uptime is the share of its time that a node is up.
type Uptime struct {
	NodeID  string  `json:"nodeId" format:"nodeId" doc:"Any, also one that a client made up, whose uptime is 100 otherwise."`
	Percent float64 `json:"percent" min:"0" max:"100"`
}

type troubleBody struct {
	Network         string   `json:"network,omitempty" enum:"mainnet,fuji,testnet" doc:"Default: mainnet."`
	NotBootstrapped []string `json:"notBootstrapped,omitempty" doc:"Chains by id or alias, such as C or P."`
	Benched         []string `json:"benched,omitempty" doc:"Node ids."`
	NotSigning      []string `json:"notSigning,omitempty" doc:"Node ids."`
	Uptimes         []Uptime `json:"uptimes,omitempty" doc:"Uptimes of validators' nodes, in place of the world's, until the node recovers."`
}

// RegisterTrouble registers the operations that put nodes in trouble.
func RegisterTrouble(s *rest.Server, w *sim.World) error {
	a := &troubleAPI{w}
	troubles := reflect.TypeFor[Troubles]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "getNodeTrouble", Path: "/sim/node", Summary: "Nodes in trouble", Live: true, Answer: troubles,
			Handle: func(*rest.Request) (any, error) { return a.show(), nil }},
		rest.Operation{ID: "setNodeTrouble", Method: http.MethodPost, Path: "/sim/node", Summary: "Put a network's nodes in trouble",
			Doc:  "Everything not named recovers. Writes nothing; a restart clears it.",
			Body: reflect.TypeFor[troubleBody](), Strict: true, Class: permit.Control, Answer: troubles, Handle: a.set},
		rest.Operation{ID: "endNodeTrouble", Method: http.MethodDelete, Path: "/sim/node", Summary: "Let all nodes recover",
			Class: permit.Control, Answer: troubles, Handle: func(*rest.Request) (any, error) {
				for _, n := range w.Networks {
					n.Trouble.Set(sim.Troubles{})
				}
				return a.show(), nil
			}})
}

type troubleAPI struct{ world *sim.World }

func (a *troubleAPI) show() *Troubles {
	t := &Troubles{Networks: []NetworkTroubles{}}
	for _, n := range a.world.Networks {
		now := n.Trouble.Now()
		t.Networks = append(t.Networks, NetworkTroubles{n.Name, texts(now.NotBootstrapped), texts(now.Benched), texts(now.NotSigning), uptimes(now.Uptimes)})
	}
	return t
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
		if len(problems) > 0 {
			return nil, rest.BadRequest(problems...)
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
			problems = append(problems, fmt.Sprintf("uptimes: %.100q is no node id", u.NodeID))
			continue
		}
		now.Uptimes[id] = uint32(math.Round(u.Percent * rules.Percent))
	}
	for what, names := range map[string][]string{"benched": b.Benched, "notSigning": b.NotSigning} {
		for _, name := range names {
			id, wrong := parse.NodeID(name)
			if wrong == nil {
				_, err = n.DB.Node(ctx, n.Rules.NetworkID, id[:])
			}
			switch {
			case wrong != nil || errors.Is(err, store.ErrNotFound):
				problems = append(problems, fmt.Sprintf("%s: there is no node %.100q on %s", what, name, n.Name))
				continue
			case err != nil:
				return now, nil, err
			}
			if what == "benched" {
				now.Benched = append(now.Benched, id)
			} else {
				now.NotSigning = append(now.NotSigning, id)
			}
		}
	}
	return now, problems, nil
}
