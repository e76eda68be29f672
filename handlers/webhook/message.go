package webhook

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"snowglobe/handlers/data/primary"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	webhooks "snowglobe/sim/webhook"
)

// Envelope wraps each message.
type Envelope struct {
	WebhookID string `json:"webhookId"`
	EventType string `json:"eventType"`
	MessageID string `json:"messageId"`
	Event     any    `json:"event"`
}

// writer writes messages from a world's history.
type writer struct {
	world *sim.World
	views *primary.Views
}

// errVoid reports that there is nothing to send: a balance did not fall below its threshold.
var errVoid = errors.New("there is nothing to tell")

// write builds a message for sending.
func (m *writer) write(ctx context.Context, w *outbox.Webhook, v *outbox.Message) ([]byte, error) {
	f, err := webhooks.ParseFilter(w.Filter)
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
