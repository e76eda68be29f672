// Command snowglobe holds a whole Avalanche-style network in one file and answers for it over the network's own
// interfaces. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/server"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

const usage = `usage: snowglobe [serve|generate|verify|digest|version] [flags]

  serve      open or create the world and answer (the default)
  generate   make a world file and stop
  verify     derive everything in the file again and compare; exit 1 at the first lie
  digest     print the world's digest
  version    print the version

Every flag has an environment variable (--log-format: SNOWGLOBE_LOG_FORMAT); flags win.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// command is one run of the program: what was asked for and where its words go.
type command struct {
	db, addr, profile, until, network, dialect, logFormat string
	seed                                                  int64
	admin, quiet                                          bool

	chosen         map[string]bool // flags that the user set, on the command line or in the environment
	stdout, stderr io.Writer
	notes          io.Writer // banner and progress
	log            *slog.Logger
	mode           handlers.Mode
	world          seed.Options
}

// run is the whole program. It answers 0, or 1 when something failed, or 2 when it was called wrongly.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr, chosen: map[string]bool{}}
	verbs := map[string]func(context.Context) error{
		"serve": c.serve, "generate": c.generate, "verify": c.verify, "digest": c.digest, "version": c.version,
	}
	verb := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	do := verbs[verb]
	if do == nil {
		fmt.Fprintf(stderr, "snowglobe: unknown verb %q\n%s", verb, usage)
		return 2
	}
	switch err := c.parse(args, env); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "snowglobe: %v\n", err)
		return 2
	}
	if err := do(ctx); err != nil {
		fmt.Fprintf(stderr, "snowglobe: %v\n", err)
		return 1
	}
	return 0
}

func (c *command) parse(args []string, env func(string) (string, bool)) error {
	f := flag.NewFlagSet("snowglobe", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.db, "db", "snowglobe.db", "the world's `FILE`, or :memory: for none")
	f.StringVar(&c.addr, "addr", "127.0.0.1:9650", "`HOST:PORT` to answer on")
	f.Int64Var(&c.seed, "seed", 1, "`N` decides what happens in a new world")
	f.StringVar(&c.profile, "profile", "default", "size of a new world: "+strings.Join(seed.BuiltInProfiles(), ", ")+" or a YAML `FILE`")
	f.StringVar(&c.until, "until", seed.DefaultUntil.Format(time.RFC3339), "`TIME` at which a new world's history ends (RFC 3339)")
	f.StringVar(&c.network, "network", "mainnet", "network for which unqualified /ext paths speak: mainnet or fuji")
	f.BoolVar(&c.admin, "api-admin-enabled", false, "serve the node's admin API")
	f.StringVar(&c.dialect, "dialect", "auto", "dialect of the Data and Metrics API: auto, spec or upstream")
	f.StringVar(&c.logFormat, "log-format", "text", "text or json")
	f.BoolVar(&c.quiet, "quiet", false, "no banner, no progress, only errors in the log")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(c.stderr, usage)
			f.SetOutput(c.stderr)
			f.PrintDefaults()
		}
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	f.Visit(func(set *flag.Flag) { c.chosen[set.Name] = true })
	return errors.Join(c.fromEnvironment(f, env), c.check())
}

// fromEnvironment sets the flags that the command line left alone.
func (c *command) fromEnvironment(f *flag.FlagSet, env func(string) (string, bool)) (err error) {
	f.VisitAll(func(known *flag.Flag) {
		name := "SNOWGLOBE_" + strings.ToUpper(strings.ReplaceAll(known.Name, "-", "_"))
		value, given := env(name)
		if !given || c.chosen[known.Name] {
			return
		}
		c.chosen[known.Name] = true
		if e := f.Set(known.Name, value); e != nil {
			err = errors.Join(err, fmt.Errorf("invalid value %q in %s: %w", value, name, e))
		}
	})
	return err
}

func (c *command) check() (err error) {
	if _, err = fixtures.NetworkNamed(c.network); err != nil {
		return fmt.Errorf("--network: %w", err)
	}
	if c.mode, err = handlers.ParseMode(c.dialect); err != nil {
		return fmt.Errorf("--dialect: %w", err)
	}
	if c.log, err = handlers.NewLogger(c.stderr, c.logFormat, c.quiet); err != nil {
		return fmt.Errorf("--log-format: %w", err)
	}
	c.world = seed.Options{Path: c.db, Seed: c.seed}
	if c.world.Until, err = time.Parse(time.RFC3339, c.until); err != nil {
		return fmt.Errorf("--until: %q is not a time like %s", c.until, seed.DefaultUntil.Format(time.RFC3339))
	}
	c.notes = c.stderr
	if c.quiet {
		c.notes = io.Discard
	}
	c.world.Progress = control.Progress(c.notes, "making the world", "transactions")
	if c.world.Profile, err = seed.LoadProfile(c.profile); err != nil {
		return err
	}
	return c.world.Profile.CheckSpan(c.world.Until)
}

func (c *command) serve(ctx context.Context) error {
	listener, err := net.Listen("tcp", c.addr)
	if err != nil {
		return err
	}
	w, err := seed.Open(ctx, c.world, c.chosen)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	o := server.Options{Version: control.Version(), Dialect: c.mode, Network: c.network, Log: c.log}
	return errors.Join(server.Run(ctx, listener, w, o, c.notes), w.Close())
}

func (c *command) generate(ctx context.Context) error {
	if _, err := os.Stat(c.db); err == nil {
		return fmt.Errorf("%s exists already; delete it to make it anew, or name another file with --db", c.db)
	}
	w, err := seed.Generate(ctx, c.world)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.notes, "%s: seed %d, profile %s, digest %x\n", c.db, w.Meta.Seed, w.Meta.Profile, w.Meta.Digest)
	return w.Close()
}

func (c *command) verify(ctx context.Context) error {
	return c.with(ctx, func(w *sim.World) error {
		found, err := w.Verify(ctx, control.Progress(c.notes, "verifying", "blocks"))
		if err == nil {
			fmt.Fprintf(c.stdout, "verified: %s\n", found)
		}
		return err
	})
}

func (c *command) digest(ctx context.Context) error {
	return c.with(ctx, func(w *sim.World) error {
		_, err := fmt.Fprintf(c.stdout, "%x\n", w.Meta.Digest)
		return err
	})
}

// with does something with a world that must be there already; only one in memory is made first.
func (c *command) with(ctx context.Context, do func(*sim.World) error) error {
	if _, err := os.Stat(c.db); c.db != store.Memory && err != nil {
		return fmt.Errorf("no world: %w", err)
	}
	w, err := seed.Open(ctx, c.world, c.chosen)
	if err != nil {
		return err
	}
	return errors.Join(do(w), w.Close())
}

func (c *command) version(context.Context) error {
	_, err := fmt.Fprintf(c.stdout, "snowglobe %s\n", control.Version())
	return err
}
