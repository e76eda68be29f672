package handlers

import (
	"context"
	"fmt"
	"io"
	"time"

	"snowglobe/handlers/control"
	"snowglobe/sim"
	"snowglobe/sim/relayer"
)

// MoveClock moves the clock of a world that no server has open, as the server that the options describe would, and writes what time it is then.
// Without a move it only does that.
func MoveClock(ctx context.Context, w *sim.World, o Options, move *control.Move, out io.Writer) error {
	if move != nil {
		if err := w.Claim(ctx); err != nil {
			return err
		}
		advance := w.Advance
		if o.Live {
			if err := startRelayer(ctx, w, o); err != nil {
				return err
			}
			advance = o.people(w).Advance
		}
		if err := move.Make(ctx, w, advance); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, w.Clock.Now().Format(time.RFC3339Nano))
	return err
}

// people are those of a world. What the network refuses them is for who reads the log closely.
func (o *Options) people(w *sim.World) control.People {
	return o.People(w, func(err error) { o.Log.Debug("somebody was refused", "error", err) })
}

// startRelayer has the messages of clients and people delivered, if that is wanted.
func startRelayer(ctx context.Context, w *sim.World, o Options) error {
	if !o.Relayer || w.DB.ReadOnly() {
		return nil
	}
	return relayer.Start(ctx, w, func(err error) { o.Log.Warn("a cross-chain message was not delivered", "error", err) })
}
