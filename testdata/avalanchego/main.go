// Avalanchego asks the real node's own packages what they think of a simulated network: they decode every block,
// transaction and UTXO that the server gives out, compare ids and JSON, verify signatures and proofs of possession,
// execute every block of the P-Chain and of the L1s, and call every method through their own clients.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"snowglobe/testdata/server"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: avalanchego BINARY PROFILE...")
		os.Exit(2)
	}
	for _, profile := range os.Args[2:] {
		if err := check(context.Background(), os.Args[1], profile); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", profile, err)
			os.Exit(1)
		}
	}
	if err := checkLater(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s, a year later: %v\n", os.Args[2], err)
		os.Exit(1)
	}
}

// check serves a world and looks at both of its networks.
func check(ctx context.Context, binary, profile string) (err error) {
	s, err := server.Serve(ctx, binary, "--profile", profile, "--api-admin-enabled")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(ctx, true)) }()
	for _, n := range []*network{newNetwork(s, "mainnet", 1), newNetwork(s, "fuji", 5)} {
		if err := n.check(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		fmt.Printf("%s %s: %s\n", profile, n.name, &n.seen)
	}
	return nil
}

// checkLater serves a world, renews validators, lets its people act for some days and a year pass, and checks the results.
func checkLater(ctx context.Context, binary, profile string) (err error) {
	s, err := server.Serve(ctx, binary, "--profile", profile, "--api-admin-enabled")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(ctx, true)) }()
	networks := []*network{newNetwork(s, "mainnet", 1), newNetwork(s, "fuji", 5)}
	for _, n := range networks {
		if err := (clients{n}).useRenewal(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	for _, move := range []string{`{"populate":true,"advance":"20d"}`, `{"advance":"365d"}`, `{"populate":true,"advance":"2d"}`} {
		if err := s.MoveClock(ctx, move); err != nil {
			return err
		}
	}
	for _, n := range networks {
		for _, step := range []func(context.Context) error{n.checkExchange, n.checkPlatform, n.executePlatform, n.checkSpends, n.checkOwners, n.checkMachines} {
			if err := step(ctx); err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
		}
		fmt.Printf("%s, a year later, %s: %s\n", profile, n.name, &n.seen)
	}
	return nil
}

// check checks one network. Clients come last, because they add to it; their additions are checked too.
func (n *network) check(ctx context.Context) error {
	again, c := newNetwork(n.server, n.name, n.id), clients{n}
	for _, step := range []func(context.Context) error{
		n.checkExchange, n.checkPlatform, n.checkSpends, n.checkOwners, n.checkMachines, aggregator{n}.use,
		c.useInfo, c.useRest, c.useValidators, c.useAdmin, c.useExchange, c.usePlatform, c.useWallet,
		again.checkExchange, again.checkPlatform, again.executePlatform, again.checkSpends,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	n.seen.platform = again.seen.platform
	return nil
}
