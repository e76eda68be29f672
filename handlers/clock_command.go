package handlers

import (
	"context"
	"time"

	"snowglobe/handlers/control"
	"snowglobe/sim"
	"snowglobe/sim/relayer"
)

// RunClockCommand advances the clock of a world that no server has open, as a server with these options would, and prints the new time.
// Without a target it only prints the time.
func RunClockCommand(ctx context.Context, w *sim.World, o Options, target *control.ClockTarget, out *Output) error {
	if target != nil {
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
		to, err := target.Time(ctx, w)
		if err != nil {
			return err
		}
		if err := advance(ctx, to); err != nil {
			return err
		}
	}
	now := w.Clock.Now()
	shown := now.Format(time.RFC3339Nano)
	return out.Print(shown, struct {
		Time         string `json:"time"`
		Unix         int64  `json:"unix"`
		Milliseconds int64  `json:"milliseconds"`
	}{shown, now.Unix(), now.UnixMilli()})
}

// people makes a world's people. Transactions that the network refuses appear only in the detailed log.
func (o *Options) people(w *sim.World) control.People {
	return o.People(w, func(err error) { o.Log.Debug("the network refused a person's transaction", "error", err) })
}

// startRelayer starts delivering the messages of clients and people, if the options ask for it.
func startRelayer(ctx context.Context, w *sim.World, o Options) error {
	if !o.Relayer || w.DB.ReadOnly() {
		return nil
	}
	return relayer.Start(ctx, w, func(err error) { o.Log.Warn("a cross-chain message was not delivered", "error", err) })
}
