package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/handlers/control"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/program"
	"snowglobe/handlers/search"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
)

// SearchFlags are the command line's choices for a search and for repeating a schedule.
type SearchFlags struct {
	Runs, Workers            int
	Budget                   time.Duration
	Corpus, Schedule, Report string
	Reorg                    bool
	AsNetwork                *AsNetwork // nil for servers that answer to their own addresses only
}

// Again returns the command line that repeats a schedule, with the user's flags for the search's worlds.
func (f *SearchFlags) Again(flags *pflag.FlagSet, chosen map[string]bool, command []string) func(id string) string {
	return func(id string) string {
		words := []string{"snowglobe", "exec", "--schedule", id}
		flags.VisitAll(func(flag *pflag.Flag) {
			if chosen[flag.Name] && flag.Name != jsonFlag && !slices.Contains(searchFlags, flag.Name) && !slices.Contains(noteFlags, flag.Name) {
				values := []string{flag.Value.String()}
				if list, is := flag.Value.(interface{ GetSlice() []string }); is {
					values = list.GetSlice()
				}
				for _, value := range values {
					words = append(words, quotedWord("--"+flag.Name+"="+value))
				}
			}
		})
		words = append(words, "--")
		for _, word := range command {
			words = append(words, quotedWord(word))
		}
		return strings.Join(words, " ")
	}
}

// quotedWord quotes a word for a shell if necessary.
func quotedWord(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n\"'\\$&|;<>()*?[]#~`{}!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// How long bad weather lasts after the client has sent a transaction.
const (
	feeTime        = 8 * time.Second
	settlementTime = 5 * time.Second
)

// Bad weather.
const (
	risenPrice     = 15            // percent; libraries cap fees at 20 % above the announced price or more
	leastPrice     = 1_000_000_000 // wei; where gas costs one wei, the usual tip of another would cover a rise by 15 %
	lateSettlement = 15_000
)

// Follow makes the world follow a schedule.
func (s *Server) Follow(ctx context.Context, schedule *fault.Schedule) error {
	if schedule.Stale() {
		if err := s.index.SetLag(ctx, s.index.Chains("", ""), control.Lag{Blocks: 1}); err != nil {
			return err
		}
	}
	c := s.network().CChain()
	m := s.world.MinerOf(c)
	wrong := miner.Fault{}
	later := func(after time.Duration, do func()) {
		schedule.WhenSent(func() { time.AfterFunc(after, do) })
	}
	undoAfter := func(after time.Duration, undo func(*miner.Fault)) {
		later(after, func() {
			f := m.Fault()
			undo(&f)
			ctx := context.Background()
			_ = m.SetFault(ctx, f) // the world may be closed
			_ = m.MineWaiting(ctx)
		})
	}
	weather := schedule.World()
	var err error
	if !slices.Contains(weather, "relay") {
		if err = startRelayer(context.Background(), s.world, s.options); err != nil {
			return err
		}
	}
	for _, kind := range weather {
		switch {
		case kind == "relay":
			later(fault.RelayTime, func() { _ = startRelayer(context.Background(), s.world, s.options) }) // the world may be closed
		case !c.Asynchronous(uint64(s.world.Clock.Unix())):
		case kind == "fee":
			if wrong.Price, err = priceToRise(ctx, m); err != nil {
				return err
			}
			wrong.PriceRise = risenPrice
			undoAfter(feeTime, func(f *miner.Fault) { f.PriceRise = 0 })
		case kind == "settlement":
			wrong.SettlementLag = lateSettlement
			undoAfter(settlementTime, func(f *miner.Fault) { f.SettlementLag = 0 })
		}
	}
	if wrong != (miner.Fault{}) {
		if err := m.SetFault(ctx, wrong); err != nil {
			return err
		}
	}
	var one sync.Mutex
	s.faults.Follow(schedule, s.world.Revision, func(ctx context.Context) {
		sim.Leave(ctx)
		one.Lock()
		defer one.Unlock()
		s.reorgNewest(context.WithoutCancel(ctx), c)
	})
	return nil
}

// priceToRise makes gas cost enough for a rise to matter, with an empty block that shows it. It returns the price.
func priceToRise(ctx context.Context, m *miner.Miner) (uint64, error) {
	next, err := m.NextBlock(ctx)
	if err != nil || next.BaseFee.Cmp(big.NewInt(leastPrice)) >= 0 {
		return 0, err
	}
	if err := m.SetFault(ctx, miner.Fault{Price: leastPrice}); err != nil {
		return 0, err
	}
	return leastPrice, m.MineAtOnce(ctx)
}

// network returns the network of paths that name none.
func (s *Server) network() *sim.Network {
	return cmp.Or(s.world.NetworkNamed(s.options.Network), s.world.Networks[0])
}

// reorgNewest replaces a chain's newest block, unless it is settled, and sends its transactions again. A generated block stays, and so does one that a
// webhook may have reported, because the webhook would report its transactions again.
func (s *Server) reorgNewest(ctx context.Context, c *reader.Chain) {
	if hooks, err := outbox.Active(ctx, s.world.DB); err != nil || len(hooks) > 0 {
		return
	}
	head, err := c.Head(ctx)
	if err != nil || head.Settled() >= head.Number {
		return
	}
	transactions, err := c.Transactions(ctx, head)
	if err != nil || s.world.Reorg(ctx, c, 1, [][]*miner.Transaction{nil}) != nil {
		return
	}
	for _, t := range transactions {
		_ = s.world.MinerOf(c).Send(ctx, t.Transaction) // may be invalid on the new chain
	}
}

// hidden is a world for one run, with its own server.
type hidden struct {
	world     *sim.World
	server    *Server
	listeners *Listeners
	stop      context.CancelFunc
	worked    chan struct{}
	path      string
}

// searching makes the worlds of a search.
type searching struct {
	of      *sim.World
	options Options
	program *program.Program
	folder  string
	made    atomic.Int64
	ready   chan *hidden // made in advance
	allowed time.Duration
	network *AsNetwork

	personas []variable // set once a world is ready
	ends     sync.WaitGroup
}

// limits of a world that lives as long as a command.
var searchLimits = store.Limits{Readers: 2, CacheKiB: 512}

func (s *searching) make(ctx context.Context) (h *hidden, err error) {
	h = &hidden{path: filepath.Join(s.folder, fmt.Sprintf("%d.db", s.made.Add(1))), worked: make(chan struct{})}
	if h.world, err = s.of.CopyTo(ctx, h.path, searchLimits); err != nil {
		return nil, err
	}
	if h.listeners, err = (Addresses{Main: "127.0.0.1:0", Fuji: Off, AsNetwork: s.network}).Listen(); err != nil {
		return nil, errors.Join(err, h.world.Close())
	}
	o := s.options
	o.Log, o.Events, o.Program, o.Hints, o.Follows, o.Brief = slog.New(slog.DiscardHandler), events.NewHub(), nil, nil, true, true
	o.Journal = journal.New(0, o.Keys.Texts(), o.Events)
	o.At(h.listeners)
	if err := errors.Join(h.listeners.knowChains(h.world), h.world.Claim(ctx)); err != nil {
		return nil, errors.Join(err, h.listeners.Close(), h.world.Close())
	}
	if h.server, err = New(h.world, o); err != nil {
		return nil, errors.Join(err, h.listeners.Close(), h.world.Close())
	}
	working, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() {
		defer close(h.worked)
		_ = h.server.Work(working) // the world ends with the run
	}()
	h.listeners.begin(h.server, o.Log)
	return h, nil
}

// end removes the world.
func (h *hidden) end() error {
	h.stop()
	<-h.worked
	h.server.Close()
	err := h.listeners.Close()
	return errors.Join(err, h.world.Close(), os.Remove(h.path))
}

// run runs the command in a new world that follows a schedule.
func (s *searching) run(ctx context.Context, schedule *fault.Schedule) (*search.Outcome, error) {
	var h *hidden
	select {
	case h = <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if h == nil {
		return nil, errors.New("could not make a world")
	}
	defer s.ends.Go(func() { _ = h.end() }) // the next run does not wait for it
	if err := h.server.Follow(ctx, schedule); err != nil {
		return nil, err
	}
	url := h.listeners.URL()
	environ, end, err := h.listeners.environ(url, append(urlVariables(url), s.personas...))
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	recorded, err := s.program.RunQuietly(environ, func() time.Duration { return s.allowed + waitFactor*schedule.Waited() }, ctx.Done())
	err = errors.Join(err, end())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if leak := h.listeners.leaked(); leak != nil {
		recorded.Failure = cmp.Or(recorded.Failure, leak.Error())
	}
	return &search.Outcome{Failure: recorded.Failure, Output: recorded.Output, Applied: schedule.Applied(), Took: time.Since(begun)}, nil
}

// A run may take several times as long as the command without faults, plus a multiple of the delays that its faults cause.
const (
	plainAllowed = 2 * time.Minute
	plainFactor  = 3
	plainMore    = 15 * time.Second // for clients that look after ten seconds what they have missed
	waitFactor   = 3
)

// codeInterrupted is a shell's exit code for a command that Ctrl-C ended.
const codeInterrupted = 130

var errInterrupted = errors.New("interrupted")

// Search looks for a schedule of faults that makes a command fail, and returns an error with code 1 if it finds one. If the context ends, it prints
// what it has found so far, and returns an error with code 130.
func Search(ctx context.Context, w *sim.World, o Options, f SearchFlags, p *program.Program, again func(id string) string, out *Output, notes io.Writer) error {
	folder, err := os.MkdirTemp("", "snowglobe-search-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if w.DB.InMemory() { // copying a file is faster
		if w, err = w.CopyTo(ctx, filepath.Join(folder, "world.db"), searchLimits); err != nil {
			return err
		}
		defer w.Close()
	}
	s := &searching{of: w, options: o, program: p, folder: folder, ready: make(chan *hidden), allowed: plainAllowed}
	if f.AsNetwork != nil {
		s.network = &AsNetwork{Options: f.AsNetwork.Options, Log: slog.New(slog.DiscardHandler)}
	}
	making, stop := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.makeAll(making, notes)
	}()
	defer func() {
		stop()
		<-finished
		s.ends.Wait()
	}()
	known, err := search.ReadCorpus(f.Corpus)
	if err != nil {
		return err
	}
	first := true
	result, err := search.Find(ctx, func(ctx context.Context, schedule *fault.Schedule) (*search.Outcome, error) {
		plain := first
		first = false
		outcome, err := s.run(ctx, schedule)
		if plain && err == nil {
			s.allowed = plainFactor*outcome.Took + plainMore
		}
		return outcome, err
	}, search.Options{Runs: f.Runs, Workers: f.Workers, Budget: f.Budget, Reorg: f.Reorg, Known: known, Progress: control.Progress(notes, "searching", "runs")})
	if ctx.Err() != nil {
		err = &program.ExitError{Code: codeInterrupted, Err: errInterrupted}
	}
	if err != nil && (result == nil || ctx.Err() == nil) {
		return err
	}
	report := result.Report(again)
	if err := out.Print(report.String(), report); err != nil {
		return err
	}
	if found := result.Found; found != nil {
		err = cmp.Or[error](err, &program.ExitError{Code: 1})
		if wrong := search.Keep(f.Corpus, found.List, fmt.Sprintf("%s: %s", strings.TrimSpace(strings.Join(p.Args(), " ")), found.Outcome.Failure)); wrong != nil {
			err = fmt.Errorf("--corpus: the schedule could not be saved: %w\n%s", wrong, found.List)
		}
	}
	if f.Report != "" {
		if wrong := writePage(f.Report, result, strings.Join(p.Args(), " "), report); wrong != nil {
			return errors.Join(fmt.Errorf("--report: %w", wrong), err)
		}
	}
	return err
}

func writePage(path string, r *search.Result, command string, report *search.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.WritePage(file, command, report), file.Close())
}

// makeAll makes one world after another, always one in advance.
func (s *searching) makeAll(ctx context.Context, notes io.Writer) {
	for ctx.Err() == nil {
		h, err := s.make(ctx)
		if err == nil && s.personas == nil {
			if s.personas, err = personaVariables(ctx, h.listeners.URL()); err != nil {
				err, h = errors.Join(err, h.end()), nil
			}
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(notes, "snowglobe: %v\n", err)
		}
		select {
		case s.ready <- h:
		case <-ctx.Done():
			if h != nil {
				_ = h.end()
			}
		}
		if err != nil {
			close(s.ready)
			return
		}
	}
}
