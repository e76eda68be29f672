package webhook

import (
	"context"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/sim/store/outbox"
)

// overtakingTime is how long a message waits for the next one to overtake it.
const overtakingTime = time.Second

// disturb applies a fault to a message before its first attempt, and returns how many times the message is sent.
func (d *Deliverer) disturb(ctx context.Context, w *outbox.Webhook, v *outbox.View) (copies int, err error) {
	if v.Attempts > 0 || !d.opts.Faults.Any() {
		return 1, nil
	}
	body, err := d.writer.write(ctx, w, &v.Message)
	if err != nil {
		return 1, nil // the attempt reports it
	}
	a, delay := d.opts.Faults.DecideEvent(&fault.Event{Webhook: w.Event, Text: string(body), Number: v.Number}, &fault.Request{Interface: "webhook"})
	if !fault.Sleep(ctx, delay) {
		return 0, ctx.Err()
	}
	switch {
	case a == nil:
	case a.Reorder > 0:
		return 1, d.deliverNext(ctx, w, v)
	default:
		return 1 + a.Double, nil
	}
	return 1, nil
}

// deliverNext delivers the message after a given one, if it comes in time.
func (d *Deliverer) deliverNext(ctx context.Context, w *outbox.Webhook, v *outbox.View) error {
	for end := time.Now().Add(overtakingTime); time.Now().Before(end); {
		next, err := outbox.NextUndelivered(ctx, d.world.DB, w.ID, v.Number)
		if err == nil && next.Attempts == 0 {
			return d.attempt(ctx, w, next, outOfTurn, 1)
		}
		if !fault.Sleep(ctx, shortly) {
			return ctx.Err()
		}
	}
	return nil
}

// outOfTurn is never the number of requests to deliver again: messages before one that is delivered out of turn are unfinished.
const outOfTurn = -1
