package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/control"
	"snowglobe/handlers/control/describe"
	"snowglobe/handlers/events"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/mcp"
	"snowglobe/handlers/worlds"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Run prints the banner, then serves a world on the listeners until the context ends.
func Run(ctx context.Context, l *Listeners, w *sim.World, o Options, notes io.Writer) error {
	if err := w.Claim(ctx); err != nil {
		return errors.Join(err, l.Close())
	}
	o.At(l)
	if err := l.knowChains(w); err != nil {
		return errors.Join(err, l.Close())
	}
	o.Events = events.NewHub()
	if o.Journal == nil {
		o.Journal = journal.New(o.JournalSize, o.Keys.Texts(), o.Events)
	}
	defer context.AfterFunc(ctx, o.Events.Close)()
	all, err := NewWorlds(ctx, w, o)
	if err != nil {
		return err
	}
	return errors.Join(l.answer(ctx, all, w, o, notes), all.Close())
}

// At returns options with the server's addresses.
func (o *Options) At(l *Listeners) {
	o.Permit.Exposed = len(l.exposed()) > 0
	o.Origins = l.ports(o.Network)
	o.Proxy = l.proxy
}

// knowChains tells the proxy for the real network's host names of the world's chains.
func (l *Listeners) knowChains(w *sim.World) error {
	if l.proxy == nil {
		return nil
	}
	var all []intercept.Chain
	for _, c := range w.Chains {
		all = append(all, intercept.Chain{
			ID: strconv.FormatUint(c.Row.EVMID, 10), BlockchainID: ids.ID(c.Row.BlockchainID).String(), Name: c.Row.Name, Network: c.Row.Network, Primary: c.Kind == evm.KindC,
		})
	}
	return l.proxy.SetChains(all)
}

// answer serves the worlds, and reports that it does.
func (l *Listeners) answer(ctx context.Context, all *worlds.Set, w *sim.World, o Options, notes io.Writer) error {
	l.begin(all, o.Log) // clients need not wait for the banner, which takes longer the larger the world is
	if notes != io.Discard {
		banner, err := l.banner(ctx, w, o)
		if err != nil {
			return errors.Join(store.Damaged(err), l.Close())
		}
		if _, err := io.WriteString(notes, banner); err != nil {
			return err
		}
	}
	if w.DB.ReadOnly() {
		fmt.Fprintf(notes, "Note: %s is read-only: Snowglobe rejects everything that would change the world\n\n", w.DB.Path())
	}
	if l.Note != "" {
		fmt.Fprintf(notes, "Note: %s\n\n", l.Note)
	}
	url := l.URL()
	if l.proxy != nil {
		fmt.Fprintf(notes, "The network's own host names lead here for clients of the proxy %s:\n%[1]s/as-network says how. Chromium's flags:\n  %s\n\n", url, strings.Join(l.proxy.ChromiumFlags(url), "\n  "))
	}
	o.warn(notes, l.exposed())
	if err := o.tellReady(ready{url, os.Getpid(), fmt.Sprintf("%x", w.Digest())}); err != nil {
		return err
	}
	return whileWorking(ctx, all.Work, func(ctx context.Context) error {
		if o.Program == nil && o.Agent == nil {
			err := l.wait(ctx)
			if l.proxy != nil {
				if leak := l.proxy.Leaked(); leak != nil {
					fmt.Fprintf(notes, "snowglobe: %v\n", leak)
				}
			}
			return err
		}
		serving, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- l.wait(serving) }()
		err := o.runBeside(serving, l, url)
		if o.GasReport != nil {
			err = errors.Join(err, printGas(serving, url, o.GasReport))
		}
		if o.Record != "" {
			err = errors.Join(err, writeSession(serving, url, o.Record))
		}
		stop()
		return errors.Join(err, <-served)
	})
}

// runBeside runs the program, or answers the agent, until either ends.
func (o *Options) runBeside(ctx context.Context, l *Listeners, url string) error {
	if o.Agent != nil {
		return mcp.Serve(ctx, url, o.Manual, o.Version, o.Log, o.Agent, o.AgentOutput)
	}
	return o.runProgram(ctx, l, url)
}

// banner returns the text printed then.
func (l *Listeners) banner(ctx context.Context, w *sim.World, o Options) (string, error) {
	d, err := describe.Read(ctx, w)
	if err == nil {
		err = control.ReadBalances(ctx, w, d)
	}
	if err != nil {
		return "", err
	}
	return control.Banner(d, o.Version, l.URL(), o.Origins, time.Now())
}

// whileWorking runs background work during a function, and stops it when the function returns.
func whileWorking(ctx context.Context, work, do func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- work(working) }()
	err := do(ctx)
	stop()
	return errors.Join(err, <-stopped)
}

// warn prints and logs a warning if other machines can reach the server, with what they can do.
func (o *Options) warn(notes io.Writer, exposed []string) {
	if len(exposed) == 0 {
		return
	}
	text := fmt.Sprintf("listening on %s: other machines can read everything here, the personas' keys included, and send signed transactions",
		strings.Join(exposed, " and "))
	if o.Faucet != nil && !o.Permit.Control {
		text += ", and the faucet pays them little and rarely"
	}
	var more []string
	if o.Permit.Control {
		more = append(more, "--allow-control lets them change the world in every other way too")
	}
	if o.Node.Admin && !o.Node.Public {
		more = append(more, "--api-admin-enabled serves an interface that writes files on this machine")
	}
	if o.Proxy != nil {
		more = append(more, "--as-network lets them reach other hosts through this machine")
	}
	for _, danger := range more {
		text += "; DANGER: " + danger
	}
	fmt.Fprintf(notes, "Warning: %s\n\n", text)
	if o.Log != nil {
		o.Log.Warn(text)
	}
}

// reachable returns an address that a client on this machine can use: loopback for one that listens everywhere.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}
