package handlers

import (
	"context"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/worlds"
	"snowglobe/sim"
)

// Many is how many worlds a process may have beside the main one, and how large.
type Many struct {
	Most      int
	MostBytes int64
	Generator worlds.Generator
}

// NewWorlds makes a server for a world and for those that clients make beside it. Their streams of events end with the context.
func NewWorlds(ctx context.Context, w *sim.World, o Options) (*worlds.Set, error) {
	return worlds.New(w, worlds.Options{
		Most: o.Many.Most, MostBytes: o.Many.MostBytes, Log: o.Log, Generator: o.Many.Generator,
		Serve: func(all *worlds.Set, w *sim.World, name string) (worlds.Server, error) {
			one := o
			if one.Worlds, one.World = all, name; name != worlds.Main {
				one.beside(ctx)
			}
			return New(w, one)
		},
	})
}

// besideBytes is how much the journal of a world beside the main one may take.
const besideBytes = 1 << 20

// beside are the options of a world beside the main one. It has nothing of the other's save what the user chose for all.
func (o *Options) beside(ctx context.Context) {
	o.Events = events.NewHub()
	context.AfterFunc(ctx, o.Events.Close)
	o.Journal = journal.New(o.JournalSize, o.Keys.Texts(), o.Events).Within(besideBytes)
	o.Faults = nil
	if o.Log != nil {
		o.Log = o.Log.With("world", o.World)
	}
}
