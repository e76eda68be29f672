package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/control"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
)

// holds gives access to the transactions that a world's pools hold.
type holds struct{ *sim.World }

// Held lists them by chain, in order of arrival.
func (h holds) Held() []control.HeldTransaction {
	all := []control.HeldTransaction{}
	for _, m := range h.Miners {
		held := m.Pool.Held()
		if len(held) == 0 {
			continue
		}
		for _, t := range m.Pool.All() {
			hold := held[t.Hash()]
			if hold == nil {
				continue
			}
			shown := control.HeldTransaction{
				Network: m.Chain.Row.Network, ChainID: strconv.FormatUint(m.Chain.Row.EVMID, 10), TxHash: t.Hash().Hex(), From: t.Sender.Hex(), Nonce: t.Nonce(),
			}
			if !hold.Until.IsZero() {
				shown.Until = hold.Until.UTC().Format(time.RFC3339)
			}
			all = append(all, shown)
		}
	}
	return all
}

// Release frees the transactions that are held for ever.
func (h holds) Release(ctx context.Context) error {
	var errs []error
	for _, m := range h.Miners {
		held := m.Pool.Held()
		if len(held) == 0 {
			continue
		}
		for _, t := range m.Pool.All() {
			if hold := held[t.Hash()]; hold != nil && hold.Until.IsZero() {
				errs = append(errs, m.Release(ctx, t.Hash(), hold))
			}
		}
	}
	return errors.Join(errs...)
}

// startFaults adds the rules of --faults, once every name that they may use is registered.
func startFaults(s *rest.Server, w *sim.World, set *fault.Set, rules []any) error {
	if len(rules) == 0 {
		return nil // collecting the names takes a while
	}
	names := faultNames(s, w)
	for i, raw := range rules {
		rule, problems := fault.Decode(raw, names)
		if len(problems) > 0 {
			return fmt.Errorf("--faults: rule %d: %s", i+1, strings.Join(problems, "; "))
		}
		set.Add(rule)
	}
	return nil
}

func faultNames(s *rest.Server, w *sim.World) *fault.Names {
	names := &fault.Names{Chains: slices.Concat(pChain.names, xChain.names)}
	names.Operations, names.RPCMethods = s.FaultNames()
	names.WrongPath = s.WrongPath
	for _, c := range evmChains(w) {
		names.Chains = append(names.Chains, c.names...)
	}
	return names
}

// namedChain is a chain with every name that a request may give it.
type namedChain struct {
	network string
	names   []string
}

var (
	pChain = namedChain{names: []string{"P", "p-chain", ids.Empty.String()}}
	xChain = namedChain{names: []string{"X", "x-chain"}}
)

func evmChains(w *sim.World) (all []namedChain) {
	for _, c := range w.Chains {
		named := namedChain{c.Row.Network, []string{strconv.FormatUint(c.Row.EVMID, 10), ids.ID(c.Row.BlockchainID).String()}}
		if c.Kind == evm.KindC {
			named.names = append(named.names, "C", "c-chain", "evm")
		}
		all = append(all, named)
	}
	return all
}

// chainNames finds a chain by one of its names, on one network if it is known.
func chainNames(w *sim.World) func(network, name string) (string, []string) {
	known := evmChains(w)
	for _, n := range w.Networks {
		x := xChain
		x.names = append(slices.Clone(x.names), n.Rules.XChainID.String())
		known = append(known, namedChain{n.Name, pChain.names}, namedChain{n.Name, x.names})
	}
	return func(network, name string) (string, []string) {
		for _, c := range known {
			if (network == "" || network == c.network) && slices.ContainsFunc(c.names, func(n string) bool { return strings.EqualFold(n, name) }) {
				return c.network, c.names
			}
		}
		return "", nil
	}
}

func readFaults(path string) ([]any, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := userfile.Read(path, userfile.MostYAML)
	if err != nil {
		return nil, errors.Join(errors.New("--faults"), err)
	}
	rules, err := fault.ReadFile(raw)
	if err != nil {
		return nil, fmt.Errorf("--faults: %s: %w", path, err)
	}
	return rules, nil
}
