package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// heartbeat is the interval at which an idle stream sends a comment, so that proxies keep the connection open.
const heartbeat = 15 * time.Second

// RegisterEvents registers the event stream.
func RegisterEvents(s *rest.Server, hub *events.Hub) error {
	kinds := make([]string, len(events.Kinds))
	for i, k := range events.Kinds {
		kinds[i] = string(k)
	}
	return s.Register(rest.Sim, rest.Operation{
		ID: "streamEvents", Path: "/sim/events", Summary: "Events from now on, as server-sent events",
		Doc: "The name of an event is its kind; its data is a JSON object with id, kind, world, time and data. " +
			"A client that falls behind misses events; an event named missed says how many.",
		Params: []rest.Param{
			{Name: "kind", Kind: schema.KindEnum, Enum: kinds, List: true, MaxItems: len(kinds), Doc: "Default: all kinds."},
			{Name: "world", Kind: schema.KindText, Doc: "Default: all worlds."},
		},
		Live: true, Unrecorded: true, Produces: "text/event-stream",
		Handle: func(r *rest.Request) (any, error) {
			var some []events.Kind
			for _, k := range rest.List[string](r, "kind") {
				some = append(some, events.Kind(k))
			}
			wanted := func(e *events.Event) bool { return !r.Given("world") || e.World == r.Text("world") }
			return rest.Stream{Type: "text/event-stream", Send: func(ctx context.Context, write func([]byte) error) error {
				return stream(ctx, hub.Listen(some...), wanted, write)
			}}, nil
		},
	})
}

// stream writes events until the client leaves or the server stops.
func stream(ctx context.Context, l *events.Listener, wanted func(*events.Event) bool, write func([]byte) error) error {
	defer l.End()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	err := write([]byte(": listening\n\n"))
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			err = write([]byte(": nothing new\n\n"))
		case e, open := <-l.Events():
			if !open {
				return nil
			}
			if missed := l.Missed(); missed > 0 {
				err = write(fmt.Appendf(nil, "event: missed\ndata: {\"missed\":%d}\n\n", missed))
			}
			if err == nil && wanted(&e) {
				err = writeEvent(&e, write)
			}
		}
	}
	return nil // the client has left
}

func writeEvent(e *events.Event, write func([]byte) error) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return write(fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, data))
}
