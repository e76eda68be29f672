package webhook

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/primary"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	filters "snowglobe/sim/webhook"
)

// Envelope is what is around each message.
type Envelope struct {
	WebhookID string `json:"webhookId"`
	EventType string `json:"eventType"`
	MessageID string `json:"messageId"`
	Event     any    `json:"event"`
}

// writer writes messages out of the history of a world.
type writer struct {
	world *sim.World
	views *primary.Views
}

func newWriter(w *sim.World, o data.Options) *writer {
	return &writer{w, primary.NewViews(data.NewBase(w, o))}
}

// errVoid says that there is nothing to tell: a balance did not fall below a threshold.
var errVoid = errors.New("there is nothing to tell")

// write is a message as it is sent.
func (m *writer) write(ctx context.Context, w *outbox.Webhook, v *outbox.Message) ([]byte, error) {
	f, err := filters.ParseFilter(w.Filter)
	if err != nil {
		return nil, store.Damaged(err)
	}
	e := Envelope{WebhookID: uuid.UUID(w.UUID).String(), EventType: w.Event, MessageID: uuid.UUID(v.UUID).String()}
	if w.Event == outbox.AddressActivity {
		e.Event, err = m.addressActivity(ctx, w, v)
	} else {
		e.Event, err = m.primaryActivity(ctx, w, f, v)
	}
	if err != nil {
		return nil, err
	}
	return canonical(e)
}
