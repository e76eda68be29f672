package handlers

import (
	"context"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/worlds"
	"snowglobe/sim"
)

// Many limits the number and size of a process's worlds besides the main one.
type Many struct {
	Most      int
	MostBytes int64
	Generator worlds.Generator
}

// NewWorlds makes a server for a world and for the further worlds that clients make. Their event streams end with the context.
func NewWorlds(ctx context.Context, w *sim.World, o Options) (*worlds.Set, error) {
	return worlds.New(w, worlds.Options{
		Most: o.Many.Most, MostBytes: o.Many.MostBytes, Log: o.Log, Generator: o.Many.Generator,
		Serve: func(all *worlds.Set, w *sim.World, name string) (worlds.Server, error) {
			one := o
			if one.Worlds, one.World = all, name; name != worlds.Main {
				one.beside(ctx)
			}
			one.Follows = one.Schedule != nil
			server, err := New(w, one)
			if err == nil && one.Follows {
				err = server.Follow(ctx, one.Schedule)
			}
			return server, err
		},
	})
}

// besideBytes is the journal's memory of a world other than the main one.
const besideBytes = 1 << 20

// beside returns the options of a world other than the main one. It shares only the user's choices for all worlds.
func (o *Options) beside(ctx context.Context) {
	o.Events = events.NewHub()
	context.AfterFunc(ctx, o.Events.Close)
	o.Journal = journal.New(o.JournalSize, o.Keys.Texts(), o.Events).Within(besideBytes)
	o.Faults, o.Schedule = nil, nil
	if o.Log != nil {
		o.Log = o.Log.With("world", o.World)
	}
}
