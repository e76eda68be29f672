package webhook

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/uuid"

	"snowglobe/handlers/data"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/parse"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	"snowglobe/sim/txs"
	webhooks "snowglobe/sim/webhook"
)

// Delivery is a webhook's message with its outcome.
type Delivery struct {
	MessageID   string            `json:"messageId" format:"uuid"`
	Number      int64             `json:"number" doc:"Numbers the webhook's messages in delivery order."`
	Event       string            `json:"event" doc:"transaction, or an event of a primary network."`
	TxHash      string            `json:"txHash,omitempty" doc:"Absent if no transaction caused the message."`
	Time        string            `json:"time" doc:"Of the world, RFC 3339."`
	Status      string            `json:"status" enum:"pending,delivered,failed,void" doc:"void: a balance did not fall below the threshold, so nothing was sent."`
	NextAttempt string            `json:"nextAttempt,omitempty" doc:"Wall-clock time of the next attempt, RFC 3339."`
	Attempts    []DeliveryAttempt `json:"attempts"`
}

// DeliveryAttempt is an attempt to deliver a message.
type DeliveryAttempt struct {
	Number  int    `json:"number"`
	Started string `json:"started" doc:"Wall-clock time, RFC 3339."`
	Took    int64  `json:"tookMilliseconds"`
	Status  int    `json:"status,omitempty" doc:"Status of the response; absent if there was none."`
	Error   string `json:"error,omitempty" doc:"Why it failed."`
	Answer  string `json:"answer,omitempty" doc:"The beginning of the response's body."`
}

type deliveryList struct {
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Deliveries    []Delivery `json:"deliveries"`
}

// testBody selects the event of a test message.
type testBody struct {
	TxHash string `json:"txHash" doc:"A transaction of the webhook's chain, however old."`
	Event  string `json:"event,omitempty" doc:"The event to send, for a webhook about a primary network. Default: its first."`
}

var messageParam = rest.Param{Name: "messageId", Kind: schema.KindUUID}

func (a *api) controlOperations() []rest.Operation {
	one := reflect.TypeFor[Delivery]()
	return []rest.Operation{
		{ID: "listDeliveries", Path: "/sim/webhooks/{id}/deliveries", Summary: "List a webhook's deliveries, past and due, newest first", Live: true,
			Params: data.JoinParams(idParam, rest.Paging(10, 100)), Class: permit.Control, Answer: reflect.TypeFor[deliveryList](), Handle: rest.With(a.anyWebhook, a.listDeliveries)},
		{ID: "getDelivery", Path: "/sim/webhooks/{id}/deliveries/{messageId}", Summary: "Get a delivery", Live: true,
			Params: []rest.Param{idParam, messageParam}, Class: permit.Control, Answer: one, Handle: rest.With(a.anyWebhook, a.getDelivery)},
		{ID: "redeliver", Method: http.MethodPost, Path: "/sim/webhooks/{id}/deliveries/{messageId}:redeliver", Summary: "Deliver a message again now",
			Params: []rest.Param{idParam, messageParam}, Class: permit.Control, Answer: one, Handle: rest.With(a.anyWebhook, a.redeliver)},
		{ID: "testWebhook", Method: http.MethodPost, Path: "/sim/webhooks/{id}:test", Summary: "Send a webhook a past transaction",
			Doc: "Sends it even if the webhook does not match it.", Params: []rest.Param{idParam}, Body: reflect.TypeFor[testBody](), Strict: true, Class: permit.Control, Answer: one, Handle: rest.With(a.anyWebhook, a.test)},
	}
}

// anyWebhook finds a webhook of any API key, for clients that control the simulator.
func (a *api) anyWebhook(r *rest.Request) (*outbox.Webhook, error) {
	id := uuid.MustParse(r.Text("id"))
	w, err := outbox.ByUUID(r.Context(), a.world.DB, id[:])
	return w, data.OrNotFound(err, rest.NotFound("webhook %s does not exist", id))
}

func (a *api) listDeliveries(r *rest.Request, w *outbox.Webhook) (any, error) {
	rows, err := outbox.Messages(r.Context(), a.world.DB, w.ID, data.Before(r), r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	answer := &deliveryList{Deliveries: []Delivery{}}
	rows, answer.NextPageToken = data.CutPage(r, rows, func(v *outbox.View) []byte { return rest.Position(uint64(v.Number)) })
	for i := range rows {
		shown, err := a.delivery(r.Context(), w, &rows[i])
		if err != nil {
			return nil, err
		}
		answer.Deliveries = append(answer.Deliveries, *shown)
	}
	return answer, nil
}

// delivery describes a message with its attempts.
func (a *api) delivery(ctx context.Context, w *outbox.Webhook, v *outbox.View) (*Delivery, error) {
	shown := &Delivery{MessageID: uuid.UUID(v.UUID).String(), Number: v.Number, Event: v.Event, Status: v.Status, Attempts: []DeliveryAttempt{},
		Time: time.Unix(v.Time, 0).UTC().Format(time.RFC3339)}
	if w.Event == outbox.AddressActivity {
		shown.Event = "transaction"
	}
	if v.Next > 0 && v.Status == outbox.Undelivered {
		shown.NextAttempt = wallTime(v.Next)
	}
	var err error
	if shown.TxHash, err = a.writer.txName(ctx, w, v.Tx); err != nil {
		return nil, err
	}
	attempts, err := outbox.Attempts(ctx, a.world.DB, v.UUID)
	for _, t := range attempts {
		shown.Attempts = append(shown.Attempts, DeliveryAttempt{t.Number, wallTime(t.Started), t.Took, t.Status, t.Error, t.Answer})
	}
	return shown, err
}

func wallTime(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func (a *api) messageOf(r *rest.Request, w *outbox.Webhook) (*outbox.View, error) {
	id := uuid.MustParse(r.Text("messageId"))
	v, err := outbox.Named(r.Context(), a.world.DB, id[:])
	missing := rest.NotFound("webhook %s has no message %s", uuid.UUID(w.UUID), id)
	if err == nil && v.Webhook != w.ID {
		return nil, missing
	}
	return v, data.OrNotFound(err, missing)
}

func (a *api) getDelivery(r *rest.Request, w *outbox.Webhook) (any, error) {
	v, err := a.messageOf(r, w)
	if err != nil {
		return nil, err
	}
	return a.delivery(r.Context(), w, v)
}

var errInactive = rest.BadRequest("the webhook is inactive: PATCH its status to active first")

func (a *api) redeliver(r *rest.Request, w *outbox.Webhook) (any, error) {
	v, err := a.messageOf(r, w)
	if err != nil {
		return nil, err
	}
	if !w.Active {
		return nil, errInactive
	}
	if err := a.Again(r.Context(), v); err != nil {
		return nil, err
	}
	v.Status, v.Next = outbox.Undelivered, 0
	return a.delivery(r.Context(), w, v)
}

func (a *api) test(r *rest.Request, w *outbox.Webhook) (any, error) {
	if !w.Active {
		return nil, errInactive
	}
	m, err := a.promiseOf(r.Context(), w, rest.Body[testBody](r))
	if err != nil {
		return nil, err
	}
	m.Webhook = w.ID
	v, err := a.Promise(r.Context(), m)
	if err != nil {
		return nil, err
	}
	return a.delivery(r.Context(), w, v)
}

// promiseOf makes the message about a past transaction.
func (a *api) promiseOf(ctx context.Context, w *outbox.Webhook, b *testBody) (*outbox.Message, error) {
	missing := rest.NotFound("transaction %s does not exist on the webhook's chain", schema.Shorten(b.TxHash))
	if w.Event == outbox.AddressActivity {
		hash, err := hexutil.Decode(b.TxHash)
		if err != nil || len(hash) != 32 {
			return nil, rest.BadRequest("txHash is not allowed: expected 0x and 64 hexadecimal digits")
		}
		row, err := a.world.DB.TransactionByHash(ctx, w.Chain, hash)
		if err != nil {
			return nil, data.OrNotFound(err, missing)
		}
		at, err := a.world.DB.BlockTime(ctx, row.ID.Block())
		return &outbox.Message{Tx: row.ID, Time: at}, err
	}
	f, err := webhooks.ParseFilter(w.Filter)
	if err != nil {
		return nil, store.Damaged(err)
	}
	id, err := parse.ID(b.TxHash)
	if err != nil {
		return nil, rest.BadRequest("txHash is not allowed: expected the id of a transaction in cb58")
	}
	row, err := a.world.DB.PrimaryTxByHash(ctx, w.Chain, id[:])
	if err != nil {
		return nil, data.OrNotFound(err, missing)
	}
	block, err := a.world.DB.PrimaryBlock(ctx, w.Chain, row.ID.Number())
	if err != nil {
		return nil, err
	}
	m := &outbox.Message{Tx: row.ID, Time: block.Time, Event: b.Event}
	if m.Event == "" {
		m.Event = f.SubEvents[0]
	}
	if !slices.Contains(f.SubEvents, m.Event) {
		return nil, rest.BadRequest("event is not allowed: expected one of the webhook's, " + strings.Join(f.SubEvents, ", "))
	}
	m.Subject, err = a.subjectOf(ctx, w, m, row)
	return m, err
}

// subjectOf returns the staker or the validation that a past transaction concerned.
func (a *api) subjectOf(ctx context.Context, w *outbox.Webhook, m *outbox.Message, row *store.PrimaryTx) ([]byte, error) {
	if w.Event == outbox.PrimaryAddressActivity && m.Event != webhooks.RewardDistribution {
		return nil, nil
	}
	if _, err := a.world.DB.StakerOfTx(ctx, row.Hash); !errors.Is(err, store.ErrNotFound) {
		return row.Hash, err
	}
	n, kind := a.writer.chainOf(w.Chain)
	tx, err := query.NewChainReaders(nil).Reader(ctx, n).Tx(kind, row.ID)
	if err != nil {
		return nil, err
	}
	if staker, ok := txs.Rewarded(tx.Unsigned); ok {
		return staker[:], nil
	}
	subject, err := outbox.ValidationAbout(ctx, a.world.DB, row.ID)
	return subject, data.OrNotFound(err, rest.NotFound("the transaction does not belong to a validator or delegator"))
}
