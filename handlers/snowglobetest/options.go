package snowglobetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Option changes a default of the simulator.
type Option interface{ flags() []string }

// flags is an option in the form of command-line flags.
type flags []string

func (f flags) flags() []string { return f }

// Profile names the size of the world, such as default, or a YAML file with one; the default is tiny.
func Profile(name string) Option { return flags{"--profile", name} }

// Seed sets the seed of the world's random numbers; the default is 1.
func Seed(n int64) Option { return flags{"--seed", strconv.FormatInt(n, 10)} }

// DB names the world's file, which is opened or created, and stays.
func DB(path string) Option { return flags{"--db", path} }

// NoMining leaves transactions in the pool until Mine, or evm_mine, makes a block.
func NoMining() Option { return flags{"--no-mining"} }

// BlockTime makes each EVM chain's blocks at an interval of real time, instead of one for each transaction.
func BlockTime(every time.Duration) Option { return flags{"--block-time", every.String()} }

// Live lets the world's clock run in real time, and its people act.
func Live() Option { return flags{"--live"} }

// Digest sets the digest that the world must have, such as world.Digest from snowglobe types.
func Digest(hex string) Option { return digest(hex) }

type digest string

func (digest) flags() []string { return nil }

// Flags passes any other flags of snowglobe serve, such as "--require-api-key". The server listens on a free port of 127.0.0.1, without one
// for fuji alone, unless --addr and --fuji-addr say otherwise.
func Flags(args ...string) Option { return flags(args) }

// settings holds the parsed options.
type settings struct {
	world  seed.Options
	server handlers.Options
	listen handlers.Addresses
	chosen map[string]bool
	digest string // that the world must have; empty for any
}

// read reads the options; the server's log goes to w.
func read(options []Option, w io.Writer) (*settings, error) {
	args := []string{"--db", store.Memory, "--profile", "tiny", "--quiet", "--addr", "127.0.0.1:0", "--fuji-addr", handlers.Off}
	wanted := ""
	for _, option := range options {
		args = append(args, option.flags()...)
		if d, is := option.(digest); is {
			wanted = string(d)
		}
	}
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
	s := &settings{chosen: map[string]bool{}, digest: wanted}
	f.Visit(func(set *pflag.Flag) { s.chosen[set.Name] = true })
	if s.server, err = server.Options(w); err != nil {
		return nil, err
	}
	s.listen = server.Addresses
	s.server.People = func(w *sim.World, refused func(error)) control.People { return seed.NewPeople(w, refused) }
	s.server.Faucet = func(w *sim.World) control.Faucet { return seed.NewFaucet(w) }
	if s.world, err = world.Options(time.Now()); err != nil {
		return nil, err
	}
	another := &s.server.Many.Generator
	another.CheckUpgrades, another.Generate = s.world.CheckUpgrades, s.world.Another
	another.Profiles, err = seed.ProfileSizes()
	return s, err
}

// mostTemplates bounds the worlds that are cached for copying; a package's tests rarely want more shapes at the same time.
const mostTemplates = 4

// templates caches worlds in memory that are copied for each test, by everything that decides their bytes; the most recently used is last.
var templates struct {
	sync.Mutex
	all []*template
}

// template is a cached world, which never changes.
type template struct {
	shape string
	users int // guarded by the lock of templates
	once  sync.Once
	world *sim.World
	err   error
}

// useTemplate finds a template, or makes room for one. The caller must release it.
func useTemplate(shape string) *template {
	templates.Lock()
	defer templates.Unlock()
	found := &template{shape: shape}
	templates.all = slices.DeleteFunc(templates.all, func(one *template) bool {
		if one.shape != shape {
			return false
		}
		found = one
		return true
	})
	templates.all = append(templates.all, found)
	found.users++
	return found
}

// release releases a template once the test has its copy, and evicts the least recently used ones beyond the limit.
func (used *template) release() error {
	templates.Lock()
	used.users--
	var old *template
	if len(templates.all) > mostTemplates {
		if i := slices.IndexFunc(templates.all, func(one *template) bool { return one.users == 0 }); i >= 0 {
			old = templates.all[i]
			templates.all = slices.Delete(templates.all, i, i+1)
		}
	}
	templates.Unlock()
	if old == nil || old.world == nil {
		return nil
	}
	return old.world.Close()
}

// open opens, generates or copies the world.
func (s *settings) open(t testing.TB) (*sim.World, error) {
	ctx := context.WithoutCancel(t.Context()) // other tests use the world that this one generates
	if s.world.Path != store.Memory || s.world.UntilNow {
		return seed.Open(ctx, s.world, s.chosen)
	}
	shape, err := s.world.Profile.YAML()
	if err != nil {
		return nil, err
	}
	original := useTemplate(fmt.Sprint(s.world.Seed, s.world.Until.Unix(), s.world.Upgrades, shape))
	original.once.Do(func() { original.world, original.err = seed.Generate(ctx, s.world) })
	if original.err != nil {
		return nil, errors.Join(original.err, original.release())
	}
	w, err := original.world.Copy(ctx)
	return w, errors.Join(err, original.release())
}
