package snowglobetest

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Option is something that a test wants otherwise than it is by default.
type Option func() []string

// Flags are any of those of snowglobe serve, such as "--block-time", "2s".
func Flags(args ...string) Option { return func() []string { return args } }

// Profile names the size of the world, such as default, or a YAML file with one; without it the world is tiny.
func Profile(name string) Option { return Flags("--profile", name) }

// Seed is the seed of the random numbers that the world is made from; without it that is 1.
func Seed(n int64) Option { return Flags("--seed", strconv.FormatInt(n, 10)) }

// DB names the file of the world, which is opened or made there, and which stays.
func DB(path string) Option { return Flags("--db", path) }

// settings are what the options say.
type settings struct {
	world  seed.Options
	server handlers.Options
	listen handlers.Addresses
	chosen map[string]bool
}

// read reads the options; the server's log goes to w.
func read(options []Option, w io.Writer) (*settings, error) {
	args := []string{"--db", store.Memory, "--profile", "tiny", "--quiet"}
	for _, option := range options {
		args = append(args, option()...)
	}
	args = append(args, "--addr", "127.0.0.1:0", "--fuji-addr", handlers.Off)
	f := pflag.NewFlagSet("snowglobetest", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	world, server := seed.NewFlags(f), handlers.NewFlags(f)
	err := f.Parse(args)
	if err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	s := &settings{chosen: map[string]bool{}}
	f.Visit(func(set *pflag.Flag) { s.chosen[set.Name] = true })
	if s.server, err = server.Options(w); err != nil {
		return nil, err
	}
	s.listen = server.Addresses
	s.server.People = func(w *sim.World, refused func(error)) control.People { return seed.NewPeople(w, refused) }
	if s.world, err = world.Options(time.Now()); err != nil {
		return nil, err
	}
	another := &s.server.Many.Generator
	another.Generate = s.world.Another
	another.Profiles, err = seed.ProfileSizes()
	return s, err
}

// made are the worlds that were made in memory and are copied for each test, by what decides their bytes.
var made sync.Map

// template is a world that nobody changes.
type template struct {
	once  sync.Once
	world *sim.World
	err   error
}

// open opens the world, or makes it, or copies what was made for another test.
func (s *settings) open(t testing.TB) (*sim.World, error) {
	ctx := context.WithoutCancel(t.Context()) // other tests go on with what this one makes
	if s.world.Path != store.Memory || s.world.UntilNow {
		return seed.Open(ctx, s.world, s.chosen)
	}
	shape, err := s.world.Profile.YAML()
	if err != nil {
		return nil, err
	}
	found, _ := made.LoadOrStore(fmt.Sprint(s.world.Seed, s.world.Until.Unix(), shape), &template{})
	original := found.(*template)
	original.once.Do(func() { original.world, original.err = seed.Generate(ctx, s.world) })
	if original.err != nil {
		return nil, original.err
	}
	return original.world.Copy(ctx)
}
