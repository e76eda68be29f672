// Coreth asks the real C-Chain's own code before Helicon what it thinks of the C-Chains that a built program makes while Helicon never activates: every header must be one that
// its rules allow after its parent, and every block, executed from the genesis on, must lead to the state that its header names. A node's own
// Ethereum service, which has executed the same blocks, must give the same answers and errors as the server. The program stands apart from the
// avalanchego program, since coreth and subnet-evm do not fit into one binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/graft/coreth/core"
	"github.com/ava-labs/avalanchego/graft/coreth/core/extstate"
	"github.com/ava-labs/avalanchego/graft/coreth/params"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/customtypes"

	"snowglobe/testdata/server"
)

func init() {
	core.RegisterExtras()
	customtypes.Register()
	extstate.RegisterExtras()
	params.RegisterExtras()
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: coreth BINARY PROFILE[:BLOCKS]...")
		os.Exit(2)
	}
	for _, profile := range os.Args[2:] {
		if err := check(context.Background(), os.Args[1], profile); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", profile, err)
			os.Exit(1)
		}
	}
}

// check serves a world and checks the C-Chains of both networks. A number after the colon limits the executed blocks; such a world is not
// verified again either.
func check(ctx context.Context, binary, profile string) (err error) {
	most := uint64(math.MaxUint64)
	if name, number, cut := strings.Cut(profile, ":"); cut {
		if most, err = strconv.ParseUint(number, 10, 64); err != nil {
			return err
		}
		profile = name
	}
	s, err := server.Serve(ctx, binary, "--profile", profile, "--upgrade", "helicon=never")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(ctx, most == math.MaxUint64)) }()
	var failed error
	for name, id := range map[string]uint32{"mainnet": 1, "fuji": 5} {
		c := newChain(s.URL+"/"+name+"/ext/bc/C/rpc", id, most)
		if err := c.start(ctx, s.URL, id); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := c.send(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := c.checkBlocks(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%s %s: %s\n", profile, name, &c.seen)
		failed = errors.Join(failed, c.seen.err(name))
	}
	return failed
}
