// Command snowglobe makes an Avalanche-style network in one file and serves it over the network's own interfaces. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/fixtures/interchange"
	"snowglobe/fixtures/worldfile"
	"snowglobe/handlers"
	"snowglobe/handlers/cli"
	"snowglobe/handlers/control"
	"snowglobe/handlers/docs"
	"snowglobe/handlers/program"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

func main() {
	runtime.MemProfileRate = 0 // profiling records take two megabytes; package node turns them on for users who may ask for profiles
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// command is one run of the program: its flags and its outputs.
type command struct {
	world       seed.Options
	server      handlers.Options
	listen      handlers.Addresses
	clockTarget *control.ClockTarget // of snowglobe clock; nil to show the time
	line        *cli.Line
	ask         *handlers.Remote // to a running server; nil for none
	carry       *handlers.Carry  // what to import or export; nil for none
	types       *handlers.Types
	l1          handlers.L1Flags
	session     *handlers.Play // what to play; nil for none
	rehearsal   *handlers.Rehearsal
	searching   handlers.SearchFlags
	flags       *pflag.FlagSet
	stdout      handlers.Output
	stderr      io.Writer
	notes       io.Writer // banner and progress
	force       bool      // overwrite an existing file
	withStdin   bool      // serve until stdin ends
	gc          int       // the user's GOGC
}

// run runs the program and returns the exit code: 0, or 1 for a failure, or 2 for a wrong command line.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	c := &command{stdout: handlers.Output{Writer: stdout}, stderr: stderr, gc: debug.SetGCPercent(handlers.StartPercent)}
	f := pflag.NewFlagSet("snowglobe", pflag.ContinueOnError)
	world, serving := seed.NewFlags(f), handlers.NewFlags(f)
	c.types = handlers.NewTypes(f)
	f.BoolVar(&c.force, "force", false, "overwrite an existing file")
	f.BoolVar(&c.stdout.JSON, "json", false, "write JSON to stdout, for programs")
	commands := handlers.CommandLine(f)
	c.flags = f
	var err error
	if c.line, err = commands.Parse(args, environ, stdout); err == nil && c.line != nil {
		err = c.read(world, serving)
	}
	if err != nil {
		fmt.Fprintf(stderr, "snowglobe: %v\n", err)
		return 2
	}
	if c.line == nil {
		return 0
	}
	c.server.Manual = docs.New(commands.Describe())
	verb := c.line.Verb.Name
	if verb != "exec" { // a signal ends the program at once, except exec, which waits for its command
		context.AfterFunc(ctx, func() { time.AfterFunc(20*time.Second, func() { os.Exit(1) }) })
	}
	ask := func(ctx context.Context) error { return c.listen.Ask(ctx, c.ask, &c.stdout) }
	err = map[string]func(context.Context) error{
		"serve": c.serve, "generate": c.generate, "verify": c.verify, "digest": c.digest, "clock": c.clock,
		"init": func(context.Context) error {
			return worldfile.Init(append(c.line.Operands, worldfile.DefaultName)[0], c.force, c.notes)
		},
		"version": func(context.Context) error { return c.stdout.Print("snowglobe "+control.Version(), control.Build()) },
		"exec":    c.exec, "search": c.search, "mcp": c.mcp, "env": func(ctx context.Context) error { return c.listen.PrintEnvironment(ctx, stdout) },
		"healthcheck": func(ctx context.Context) error { return c.listen.CheckHealth(ctx) }, "snapshot": ask, "world": ask,
		"import": c.carryOver, "export": c.carryOver, "types": c.writeTypes, "play": c.play, "rehearse": c.rehearse,
	}[verb](ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrDisk) {
		fmt.Fprintln(stderr, "snowglobe: interrupted")
		if verb == "serve" {
			return 0
		}
		return 1
	}
	return program.ExitCode(err, stderr)
}

// read converts the flags to options.
func (c *command) read(world *seed.Flags, serving *handlers.Flags) (err error) {
	if c.line.Verb.Name == "clock" {
		if c.clockTarget, err = control.ParseClockOperands(c.line.Operands, time.Now()); err != nil {
			return err
		}
	}
	if c.ask, err = handlers.ParseRemote(c.line.Verb.Name, c.line.Operands); err != nil {
		return err
	}
	if c.line.Verb.Program && len(c.line.Program) == 0 {
		return program.ErrMissing
	}
	if c.line.Verb.Name == "types" {
		if err = c.types.Read(c.line.Chosen); err != nil {
			return err
		}
	}
	if c.session, err = handlers.ParsePlay(c.line.Verb.Name, c.line.Operands); err != nil {
		return err
	}
	if c.line.Verb.Name == "rehearse" {
		if c.rehearsal, err = serving.ParseRehearsal(world.BareUpgrade()); err != nil {
			return err
		}
	}
	c.notes, c.withStdin = c.stderr, serving.WithStdin
	if serving.Quiet {
		c.notes = io.Discard
	}
	var serverErr, worldErr, profileErr error
	c.server, serverErr = serving.Options(c.stderr)
	c.l1, c.searching = serving.L1, serving.Search
	c.listen, c.server.Hints = serving.Addresses, c.line.Unless("quiet", c.stderr)
	c.server.People = func(w *sim.World, refused func(error)) control.People { return seed.NewPeople(w, refused) }
	c.server.Faucet = func(w *sim.World) control.Faucet { return seed.NewFaucet(w) }
	c.world, worldErr = world.Options(time.Now())
	c.world.Progress = control.Progress(c.notes, "making the world", "transactions")
	c.world.Note = func(note string) { fmt.Fprintf(c.notes, "snowglobe: %s\n", note) }
	if c.world.ReadOnly {
		worldErr = errors.Join(worldErr, c.server.CheckReadOnly())
	}
	c.server.Many.Generator.Profiles, profileErr = seed.ProfileSizes()
	generator := &c.server.Many.Generator
	generator.CheckUpgrades, generator.Generate, generator.GenerateWithL1 = c.world.CheckUpgrades, c.world.Another, c.world.GenerateWithL1
	c.carry, err = handlers.ParseCarry(c.line.Verb.Name, c.line.Operands)
	return errors.Join(serverErr, worldErr, profileErr, err)
}

func (c *command) serve(ctx context.Context) error {
	c.server.Stdout = c.stdout.Writer
	if c.withStdin {
		var stop context.CancelFunc
		ctx, stop = handlers.UntilEnd(ctx, os.Stdin)
		defer stop()
	}
	return c.run(ctx, ctx)
}

// exec serves while a command runs, and forwards signals to it.
func (c *command) exec(ctx context.Context) (err error) {
	if c.server.Program, err = program.Find(c.line.Program); err != nil {
		return err
	}
	return c.run(ctx, context.WithoutCancel(ctx))
}

// mcp serves an agent on stdin and stdout: with a running server's world if the user gives its address, otherwise with a world of its own.
func (c *command) mcp(ctx context.Context) error {
	if c.line.Chosen["addr"] {
		return c.listen.ServeAgent(ctx, &c.server, os.Stdin, c.stdout.Writer)
	}
	c.server.Agent, c.server.AgentOutput = os.Stdin, c.stdout.Writer
	return c.run(ctx, ctx)
}

// search runs a command in many worlds with faults.
func (c *command) search(ctx context.Context) error {
	p, err := program.Find(c.line.Program)
	if err == nil {
		err = c.server.AddArtifacts(c.world.Profile.ArtifactFolders())
	}
	if err != nil {
		return err
	}
	again := c.searching.Again(c.flags, c.line.Chosen, c.line.Program)
	return c.with(ctx, func(w *sim.World) error {
		handlers.LimitGarbage()
		return handlers.Search(ctx, w, c.server, c.searching, p, again, &c.stdout, c.notes)
	})
}

// run prepares the world within one context and serves it within another.
func (c *command) run(ctx, serving context.Context) error {
	if err := c.server.AddArtifacts(c.world.Profile.ArtifactFolders()); err != nil {
		return err
	}
	listeners, err := c.listen.Listen()
	if err != nil {
		return err
	}
	c.world.Progress = listeners.Starting(c.world.Profile.Name, c.server.Log, c.world.Progress)
	w, err := seed.Open(ctx, c.world, c.line.Chosen)
	if err != nil {
		return errors.Join(err, listeners.Close())
	}
	handlers.LimitGarbage()
	return errors.Join(handlers.Run(serving, listeners, w, c.server, c.notes), w.Close())
}

func (c *command) generate(ctx context.Context) error {
	do := seed.Generate
	if c.world.Anew && c.world.Path != store.Memory {
		do = seed.Regenerate
	}
	w, err := do(ctx, c.world)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.notes, "%s: seed %d, profile %s, digest %x\n", c.world.Path, w.Meta.Seed, w.Meta.Profile, w.Meta.Digest)
	return w.Close()
}

func (c *command) verify(ctx context.Context) error {
	report := verify.NewReport()
	err := c.with(ctx, func(w *sim.World) (err error) {
		report, err = verify.Verify(ctx, w, control.Progress(c.notes, "verifying", "blocks"))
		return err
	})
	return errors.Join(err, report.Print(c.stdout.Print, err))
}

func (c *command) digest(ctx context.Context) error {
	return c.with(ctx, func(w *sim.World) error {
		digest := fmt.Sprintf("%x", w.Meta.Digest)
		return c.stdout.Print(digest, map[string]string{"digest": digest})
	})
}

func (c *command) clock(ctx context.Context) error {
	return c.with(ctx, func(w *sim.World) error { return handlers.RunClockCommand(ctx, w, c.server, c.clockTarget, &c.stdout) })
}

// carryOver imports files of other tools into the world, or exports some for them.
func (c *command) carryOver(ctx context.Context) error {
	l, err := c.carry.L1(c.l1)
	switch {
	case err != nil:
		return err
	case l != nil:
		return c.startL1(ctx, l)
	}
	return c.with(ctx, func(w *sim.World) error { return c.carry.Run(ctx, w, c.listen, &c.stdout, c.notes) })
}

func (c *command) writeTypes(ctx context.Context) error {
	return c.with(ctx, func(w *sim.World) error { return c.types.Write(ctx, w, c.stdout) })
}

// startL1 generates the world again, with one more L1.
func (c *command) startL1(ctx context.Context, l *interchange.L1) error {
	options := c.world
	if err := c.with(ctx, func(w *sim.World) (err error) {
		if options, err = options.WithL1(w, l); err != nil {
			err = fmt.Errorf("%s: %w", c.line.Operands[0], err)
		}
		return err
	}); err != nil {
		return err
	}
	generate := seed.Regenerate
	if options.Path == store.Memory {
		generate = seed.Generate
	}
	w, err := generate(ctx, options)
	if err != nil {
		return err
	}
	return errors.Join(c.carry.Started(w, l, &c.stdout, c.notes), w.Close())
}

// rehearse runs a command in two worlds and compares the answers it got.
func (c *command) rehearse(ctx context.Context) error {
	return c.rehearsal.Run(c.line.Program, c.server, &c.stdout, c.stderr, func(second bool, o handlers.Options) error {
		run := *c
		run.server, run.world.Seed = o, c.rehearsal.Seed(second, c.world.Seed)
		if choice := c.rehearsal.Upgrade(second); choice != "" {
			run.world.Upgrades = append(slices.Clip(c.world.Upgrades), choice)
		}
		return run.run(ctx, context.WithoutCancel(ctx))
	})
}

// play plays a session on a running server's world if the user gives its address, otherwise on a world that no server has open.
func (c *command) play(ctx context.Context) error {
	if c.line.Chosen["addr"] {
		return c.listen.Play(ctx, c.session, &c.stdout, c.notes)
	}
	return c.with(ctx, func(w *sim.World) error { return c.session.Run(ctx, w, c.server, &c.stdout, c.notes) })
}

// with opens the world, which must exist unless it is in memory, and passes it to a function.
func (c *command) with(ctx context.Context, do func(*sim.World) error) error {
	if _, err := os.Stat(c.world.Path); c.world.Path != store.Memory && err != nil {
		return fmt.Errorf("no world: %w; make one with generate, or name another file with --db", err)
	}
	debug.SetGCPercent(c.gc)
	w, err := seed.Open(ctx, c.world, c.line.Chosen)
	if err != nil {
		return err
	}
	return errors.Join(do(w), w.Close())
}
