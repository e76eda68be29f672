// Saevm asks the real C-Chain's own code since Helicon (ACP-194) what it thinks of the C-Chains that a built program makes: for every block, the
// exponents and the delay in its header, the block that it settles and the gas time of that one, its gas limit, its bound of the price and its
// transactions by the worst case, and what each receipt paid, as avalanchego's vms/saevm has them. It stands apart from the other programs,
// since the packages need another libevm.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"snowglobe/testdata/server"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: saevm BINARY PROFILE[@UPGRADE]...")
		os.Exit(2)
	}
	for _, profile := range os.Args[2:] {
		if err := check(context.Background(), os.Args[1], profile); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", profile, err)
			os.Exit(1)
		}
	}
}

// ahead reports whether the world has the activation ahead of it, where clients' blocks cross it.
func ahead(profile string) bool { return strings.Contains(profile, "@") }

// check serves a world and judges the C-Chains of both networks, as they were made, and after clients sent to them, moved the clock and reverted.
func check(ctx context.Context, binary, profile string) (err error) {
	name, upgrade, chosen := strings.Cut(profile, "@")
	flags := []string{"--profile", name}
	if chosen {
		flags = append(flags, "--upgrade", upgrade)
	}
	s, err := server.Serve(ctx, binary, flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(ctx, true)) }()
	for _, name := range []string{"mainnet", "fuji"} {
		c := server.Chain(s.URL + "/" + name + "/ext/bc/C/rpc")
		for _, when := range []string{"as it was made", "with clients' blocks"} {
			j := newJudge(c)
			if err := j.chain(ctx); err != nil && !(errors.Is(err, errBefore) && ahead(profile) && when == "as it was made") {
				return fmt.Errorf("%s, %s: %w", name, when, err)
			}
			fmt.Printf("%s %s, %s: %s\n", profile, name, when, &j.seen)
			if when == "as it was made" {
				if err := use(ctx, s, c); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}
