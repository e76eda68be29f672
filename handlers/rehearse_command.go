package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/program"
	"snowglobe/handlers/rehearse"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/surface"
)

// Rehearsal runs a command in two worlds that differ in one thing.
type Rehearsal struct {
	change  rehearse.Change
	seed    *int64
	dialect rest.DialectMode
	strict  bool
	junit   string
}

var errAgainst = errors.New("expected how the second world differs: --upgrade helicon, --against seed=2, --against dialect=upstream or --against strict")

// ParseRehearsal reads the flags of rehearse. upgrade names an upgrade without a time; it may be empty.
func (s *Flags) ParseRehearsal(upgrade string) (*Rehearsal, error) {
	r := &Rehearsal{junit: s.junit}
	name, value, _ := strings.Cut(s.against, "=")
	switch {
	case (upgrade == "") == (s.against == ""):
		return nil, fmt.Errorf("rehearse: %w", errAgainst)
	case upgrade != "":
		r.change = rehearse.Change{Name: upgrade, Before: "before the activation", After: "after the activation", Values: true, Page: "upgrades", Why: "it follows from the upgrade's rules"}
	case name == "seed":
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("--against: seed %q is not a whole number", value)
		}
		r.seed = &n
		r.change = rehearse.Change{Name: name, Before: "the given seed", After: "seed " + value, Page: "personas", Why: "worlds of other seeds have other values, and may lack optional fields"}
	case name == "dialect":
		var err error
		if r.dialect, err = rest.ParseDialectMode(value); err != nil {
			return nil, fmt.Errorf("--against: %w", err)
		}
		r.change = rehearse.Change{Name: name, Before: "the given dialect", After: value, Values: true, Page: "fidelity", Why: "the dialects differ here"}
	case s.against == "strict":
		r.strict = true
		r.change = rehearse.Change{Name: name, Before: "a server that answers whatever helps", After: "a server that answers only what a node of the network answers", Values: true, Page: "upgrades", Why: "a node of the network does not answer so with its default configuration"}
	default:
		return nil, fmt.Errorf("--against: %.80q: %w", s.against, errAgainst)
	}
	return r, nil
}

// Upgrade returns the upgrade's time for the first or the second world, in the form of --upgrade; "" if the worlds don't differ in that.
func (r *Rehearsal) Upgrade(second bool) string {
	if r.change.Page != "upgrades" || r.strict {
		return ""
	}
	return r.change.Name + map[bool]string{false: "=never", true: "=now"}[second]
}

// Seed returns the seed of the first or the second world.
func (r *Rehearsal) Seed(second bool, given int64) int64 {
	if second && r.seed != nil {
		return *r.seed
	}
	return given
}

// mostRehearsed bounds the requests of a run that are compared.
const mostRehearsed = 20_000

// Run runs the command twice in the first world and once in the second, with serve, and prints what differs.
func (r *Rehearsal) Run(args []string, o Options, out *Output, stderr io.Writer, serve func(second bool, o Options) error) error {
	command, err := program.Find(args)
	if err != nil {
		return err
	}
	once := func(title string, second, shown bool) (*rehearse.Run, error) {
		if shown {
			fmt.Fprintf(stderr, "snowglobe: %s\n", title)
		}
		run, printed, o := &rehearse.Run{}, new(bytes.Buffer), o
		hub := events.NewHub()
		defer hub.Close()
		run.Journal = journal.New(mostRehearsed, o.Keys.Texts(), hub)
		o.Events, o.Journal, o.Program = hub, run.Journal, command
		command.Stdout, command.Stderr = io.Writer(printed), io.Discard
		if shown {
			command.Stdout, command.Stderr = io.MultiWriter(printed, stderr), os.Stderr
		}
		if second && r.strict {
			o.Node.Strict = surface.On
		}
		if second && r.dialect != "" {
			o.Dialect = r.dialect
		}
		err := serve(second, o)
		var exit *program.ExitError
		if errors.As(err, &exit) && exit.Err == nil {
			run.Code, err = exit.Code, nil
		}
		run.Output = printed.Bytes()
		return run, err
	}
	before, err := once("before: "+r.change.Before, false, true)
	if err != nil {
		return err
	}
	again, err := once("before, once more", false, false)
	if err != nil {
		return err
	}
	after, err := once("after: "+r.change.After, true, true)
	if err != nil {
		return err
	}
	return r.report(rehearse.Compare(before, again, after, r.change), out)
}

func (r *Rehearsal) report(report *rehearse.Report, out *Output) error {
	var text strings.Builder
	err := report.Print(&text)
	if err == nil {
		err = out.Print(strings.TrimSuffix(text.String(), "\n"), report)
	}
	if err == nil && r.junit != "" {
		err = report.WriteJUnit(r.junit)
	}
	if err == nil && !report.Same {
		err = &program.ExitError{Code: 1}
	}
	return err
}
