package webhook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"snowglobe/handlers/data"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	webhooks "snowglobe/sim/webhook"
)

// Webhook describes a webhook.
type Webhook struct {
	ID                 string   `json:"id" format:"uuid"`
	URL                string   `json:"url"`
	ChainID            string   `json:"chainId"`
	Status             string   `json:"status" enum:"active,inactive"`
	CreatedAt          int64    `json:"createdAt" doc:"Unix milliseconds of the world's clock."`
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	EventType          string   `json:"eventType" enum:"address_activity,primary_network_address_activity,validator_activity"`
	Metadata           Metadata `json:"metadata"`
	IncludeInternalTxs *bool    `json:"includeInternalTxs,omitempty" doc:"Only for address_activity."`
	IncludeLogs        *bool    `json:"includeLogs,omitempty" doc:"Only for address_activity."`
}

// Metadata describes the addresses, contracts or validators that a webhook watches.
type Metadata struct {
	EventSignatures        []string                `json:"eventSignatures,omitzero" doc:"For address_activity: only transactions with a log whose first topic is one of these."`
	Addresses              []string                `json:"addresses,omitzero" doc:"Only for address_activity."`
	KeyType                string                  `json:"keyType,omitempty" enum:"addresses,nodeId,subnetId"`
	Keys                   []string                `json:"keys,omitzero"`
	SubEvents              *SubEvents              `json:"subEvents,omitempty"`
	BalanceThresholdFilter *BalanceThresholdFilter `json:"balanceThresholdFilter,omitempty" doc:"Only for balance_threshold."`
	NodeIDs                []string                `json:"nodeIds,omitzero"`
	SubnetIDs              []string                `json:"subnetIds,omitzero"`
	L1BalanceThreshold     string                  `json:"l1ValidatorFeeBalanceThreshold,omitempty" format:"uint" doc:"nAVAX; only for l1_validator_balance_threshold."`
}

// SubEvents lists the events about addresses or validators.
type SubEvents struct {
	Addresses  []string `json:"addressActivitySubEvents,omitzero" enum:"balance_change,balance_threshold,reward_distribution"`
	Validators []string `json:"validatorActivitySubEvents,omitzero" enum:"validator_stake,delegator_stake,reward_distribution,l1_validator_balance_increased,l1_validator_disabled,l1_validator_removed,l1_validator_balance_threshold"`
}

// BalanceThresholdFilter states the threshold below which an address's balance must fall.
type BalanceThresholdFilter struct {
	BalanceType      string `json:"balanceType" enum:"unlockedUnstaked,unlockedStaked,lockedPlatform,lockedStakeable,lockedStaked,pendingStaked,unlocked,locked,atomicMemoryUnlocked,atomicMemoryLocked"`
	BalanceThreshold string `json:"balanceThreshold" format:"uint" doc:"nAVAX."`
}

type webhookList struct {
	NextPageToken string    `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Webhooks      []Webhook `json:"webhooks"`
}

type addressList struct {
	NextPageToken  string   `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Addresses      []string `json:"addresses"`
	TotalAddresses int64    `json:"totalAddresses"`
}

type sharedSecret struct {
	Secret string `json:"secret" doc:"32 bytes, hexadecimal. A message's x-signature is their HMAC-SHA256 over its canonical JSON (RFC 8785), in base64."`
}

// api serves the webhooks of a world.
type api struct {
	*Deliverer
	targets Targets
}

var idParam = rest.Param{Name: "id", Kind: schema.KindUUID}

// Register registers the operations about webhooks, the Data API's and the simulator's.
func Register(s *rest.Server, d *Deliverer, t Targets) error {
	a := &api{d, t}
	if err := s.Register(rest.Sim, a.controlOperations()...); err != nil {
		return err
	}
	one, changed := reflect.TypeFor[Webhook](), reflect.TypeFor[addressChange]()
	return s.Register(rest.Data,
		rest.Operation{ID: "createWebhook", Method: http.MethodPost, Path: "/v1/webhooks", Summary: "Create a webhook", Status: http.StatusCreated,
			Doc:  "The webhook belongs to the request's API key; requests without a key share their webhooks. url must name this machine or a host in --webhook-hosts.",
			Body: reflect.TypeFor[createBody](), Class: permit.Control, Answer: one, Handle: a.create},
		rest.Operation{ID: "listWebhooks", Path: "/v1/webhooks", Summary: "List the webhooks of an API key", Live: true,
			Params: data.JoinParams(rest.Paging(10, 100), rest.Param{Name: "status", Kind: schema.KindEnum, Enum: []string{"active", "inactive"}}),
			Answer: reflect.TypeFor[webhookList](), Handle: a.list},
		rest.Operation{ID: "getWebhook", Path: "/v1/webhooks/{id}", Summary: "Get a webhook", Live: true, Params: []rest.Param{idParam},
			Answer: one, Handle: rest.With(a.ownWebhook, func(r *rest.Request, w *outbox.Webhook) (any, error) { return a.show(r.Context(), a.world.DB, w) })},
		rest.Operation{ID: "updateWebhook", Method: http.MethodPatch, Path: "/v1/webhooks/{id}", Summary: "Change a webhook", Params: []rest.Param{idParam},
			Body: reflect.TypeFor[updateBody](), Class: permit.Control, Answer: one, Handle: rest.With(a.ownWebhook, a.update)},
		rest.Operation{ID: "deactivateWebhook", Method: http.MethodDelete, Path: "/v1/webhooks/{id}", Summary: "Deactivate a webhook",
			Doc: "You can still read the webhook. Activating it again delivers its pending messages.", Params: []rest.Param{idParam},
			Class: permit.Control, Answer: one, Handle: rest.With(a.ownWebhook, a.deactivate)},
		rest.Operation{ID: "getAddressesFromWebhook", Path: "/v1/webhooks/{id}/addresses", Summary: "List the addresses of a webhook about an EVM chain", Live: true,
			Params: data.JoinParams(idParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[addressList](), Handle: rest.With(a.ownWebhook, a.listAddresses)},
		rest.Operation{ID: "addAddressesToWebhook", Method: http.MethodPatch, Path: "/v1/webhooks/{id}/addresses", Summary: "Add addresses to a webhook about an EVM chain",
			Params: []rest.Param{idParam}, Body: changed, Class: permit.Control, Answer: one, Handle: rest.With(a.ownWebhook, a.changeAddresses(a.addAddresses))},
		rest.Operation{ID: "removeAddressesFromWebhook", Method: http.MethodDelete, Path: "/v1/webhooks/{id}/addresses", Summary: "Remove addresses from a webhook about an EVM chain",
			Params: []rest.Param{idParam}, Body: changed, Class: permit.Control, Answer: one, Handle: rest.With(a.ownWebhook, a.changeAddresses(outbox.DropKeys))},
		rest.Operation{ID: "generateOrRotateSharedSecret", Method: http.MethodPost, Path: "/v1/webhooks:generateOrRotateSharedSecret", Status: http.StatusCreated,
			Summary: "Make a new secret for an API key's webhooks", Doc: "It signs all messages sent from now on.",
			Class: permit.Control, Answer: reflect.TypeFor[sharedSecret](), Handle: a.rotateSecret},
		rest.Operation{ID: "getSharedSecret", Path: "/v1/webhooks:getSharedSecret", Summary: "Get the secret of an API key's webhooks", Live: true,
			Class: permit.Control, Answer: reflect.TypeFor[sharedSecret](), Handle: a.getSecret},
	)
}

// ownWebhook finds a webhook of the client's account.
func (a *api) ownWebhook(r *rest.Request) (*outbox.Webhook, error) {
	id := uuid.MustParse(r.Text("id"))
	w, err := outbox.ByUUID(r.Context(), a.world.DB, id[:])
	missing := rest.NotFound("webhook %s does not exist, or belongs to another API key", id)
	if err == nil && [32]byte(w.Account) != r.Account() {
		return nil, missing
	}
	return w, data.OrNotFound(err, missing)
}

func (a *api) create(r *rest.Request) (any, error) {
	w, keys, problems, err := rest.Body[createBody](r).read(a)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, rest.BadRequest(problems...)
	}
	account, id := r.Account(), uuid.New()
	w.UUID, w.Account, w.Active, w.Created = id[:], account[:], true, a.world.Clock.UnixMilli()
	secret, err := a.secretOrNew(r)
	if err != nil {
		return nil, err
	}
	return a.changed(r, w, func(b *store.Batch) error {
		if err := outbox.Put(b, w); err != nil {
			return err
		}
		if err := outbox.SetSecret(b, w.Account, secret); err != nil {
			return err
		}
		return outbox.AddKeys(b, w.ID, keys)
	})
}

// changed changes a webhook and returns the new state. If the response cannot be built, nothing changes.
func (a *api) changed(r *rest.Request, w *outbox.Webhook, change func(*store.Batch) error) (shown *Webhook, err error) {
	err = a.world.Write(r.Context(), func(b *store.Batch) error {
		if err := change(b); err != nil {
			return err
		}
		shown, err = a.show(r.Context(), b, w)
		return err
	})
	return shown, err
}

func (a *api) list(r *rest.Request) (any, error) {
	before, account := data.Before(r), r.Account()
	var page []outbox.Webhook
	for {
		rows, err := outbox.OfAccount(r.Context(), a.world.DB, account[:], before, r.PageSize()+1)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if status := r.Text("status"); status == "" || status == statusText(&rows[i]) {
				page = append(page, rows[i])
			}
		}
		if len(rows) <= r.PageSize() || len(page) > r.PageSize() {
			break
		}
		before = rows[len(rows)-1].ID
	}
	answer := &webhookList{Webhooks: []Webhook{}}
	page, answer.NextPageToken = data.CutPage(r, page, func(w *outbox.Webhook) []byte { return rest.Position(uint64(w.ID)) })
	for i := range page {
		shown, err := a.show(r.Context(), a.world.DB, &page[i])
		if err != nil {
			return nil, err
		}
		answer.Webhooks = append(answer.Webhooks, *shown)
	}
	return answer, nil
}

func (a *api) update(r *rest.Request, w *outbox.Webhook) (any, error) {
	b := rest.Body[updateBody](r)
	if b.URL != nil {
		if err := a.checkTarget(*b.URL); err != nil {
			return nil, err
		}
	}
	if (b.IncludeInternalTxs != nil || b.IncludeLogs != nil) && w.Event != outbox.AddressActivity {
		return nil, rest.BadRequest("includeInternalTxs and includeLogs are for webhooks about " + outbox.AddressActivity)
	}
	set(&w.Name, b.Name)
	set(&w.Description, b.Description)
	set(&w.URL, b.URL)
	set(&w.Internal, b.IncludeInternalTxs)
	set(&w.Logs, b.IncludeLogs)
	if b.Status != nil {
		w.Active = *b.Status == statusActive
	}
	defer a.Wake()
	return a.changed(r, w, func(b *store.Batch) error { return outbox.Put(b, w) })
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

func (a *api) deactivate(r *rest.Request, w *outbox.Webhook) (any, error) {
	w.Active = false
	return a.changed(r, w, func(b *store.Batch) error { return outbox.Deactivate(b, w.ID) })
}

func (a *api) listAddresses(r *rest.Request, w *outbox.Webhook) (any, error) {
	if w.Event != outbox.AddressActivity {
		return nil, errNotEVM
	}
	after, _ := r.PositionNumber()
	keys, err := outbox.Keys(r.Context(), a.world.DB, w.ID, int64(after), r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	answer := &addressList{Addresses: []string{}}
	keys, answer.NextPageToken = data.CutPage(r, keys, func(k *outbox.Key) []byte { return rest.Position(uint64(k.Number)) })
	for _, key := range keys {
		answer.Addresses = append(answer.Addresses, common.BytesToAddress(key.Watched).Hex())
	}
	answer.TotalAddresses, err = outbox.KeyCount(r.Context(), a.world.DB, w.ID)
	return answer, err
}

var errNotEVM = rest.BadRequest("only webhooks about " + outbox.AddressActivity + " have addresses that can be changed")

// changeAddresses adds addresses to a webhook or removes some.
func (a *api) changeAddresses(change func(b *store.Batch, webhook int64, keys [][]byte) error) func(*rest.Request, *outbox.Webhook) (any, error) {
	return func(r *rest.Request, w *outbox.Webhook) (any, error) {
		if w.Event != outbox.AddressActivity {
			return nil, errNotEVM
		}
		keys, problems := readAddresses("addresses", rest.Body[addressChange](r).Addresses)
		if len(problems) > 0 {
			return nil, rest.BadRequest(problems...)
		}
		return a.changed(r, w, func(b *store.Batch) error { return change(b, w.ID, keys) })
	}
}

var errManyKeys = rest.BadRequest("a webhook has at most 10000 addresses")

func (a *api) addAddresses(b *store.Batch, webhook int64, keys [][]byte) error {
	if err := outbox.AddKeys(b, webhook, keys); err != nil {
		return err
	}
	if n, err := outbox.KeyCount(context.Background(), b, webhook); err != nil || n > maxKeys {
		return errors.Join(err, errManyKeys)
	}
	return nil
}

func newSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret)
	return secret
}

func (a *api) rotateSecret(r *rest.Request) (any, error) {
	account, secret := r.Account(), newSecret()
	if err := a.world.Write(r.Context(), func(b *store.Batch) error { return outbox.SetSecret(b, account[:], secret) }); err != nil {
		return nil, err
	}
	return &sharedSecret{hex.EncodeToString(secret)}, nil
}

// secretOrNew returns the account's secret, or a new one if it has none yet, because every message is signed.
func (a *api) secretOrNew(r *rest.Request) ([]byte, error) {
	account := r.Account()
	secret, err := outbox.Secret(r.Context(), a.world.DB, account[:])
	if errors.Is(err, store.ErrNotFound) {
		return newSecret(), nil
	}
	return secret, err
}

func (a *api) getSecret(r *rest.Request) (any, error) {
	account := r.Account()
	secret, err := outbox.Secret(r.Context(), a.world.DB, account[:])
	if err != nil {
		return nil, data.OrNotFound(err, rest.NotFound("there is no secret yet: call POST /v1/webhooks:generateOrRotateSharedSecret, or create a webhook"))
	}
	return &sharedSecret{hex.EncodeToString(secret)}, nil
}

const statusActive = "active"

func statusText(w *outbox.Webhook) string {
	if w.Active {
		return statusActive
	}
	return "inactive"
}

// show renders a webhook for responses, with the keys that the file or a batch has.
func (a *api) show(ctx context.Context, from store.Preparer, w *outbox.Webhook) (*Webhook, error) {
	shown := &Webhook{ID: uuid.UUID(w.UUID).String(), URL: w.URL, Status: statusText(w), CreatedAt: w.Created, Name: w.Name, Description: w.Description, EventType: w.Event}
	f, err := webhooks.ParseFilter(w.Filter)
	if err != nil {
		return nil, store.Damaged(err)
	}
	keys, err := outbox.Keys(ctx, from, w.ID, 0, maxKeys)
	if err != nil {
		return nil, err
	}
	m := &shown.Metadata
	if w.Event == outbox.AddressActivity {
		c := a.world.ChainAt(store.First(w.Chain))
		shown.ChainID, shown.IncludeInternalTxs, shown.IncludeLogs = data.Decimals(c.Row.EVMID), &w.Internal, &w.Logs
		m.Addresses = []string{}
		for _, key := range keys {
			m.Addresses = append(m.Addresses, common.BytesToAddress(key.Watched).Hex())
		}
		for _, signature := range f.EventSignatures {
			m.EventSignatures = append(m.EventSignatures, signature.Hex())
		}
		return shown, nil
	}
	n, kind := a.writer.chainOf(w.Chain)
	shown.ChainID, m.KeyType, m.Keys = data.ChainNames[kind], f.KeyType, []string{}
	for _, key := range keys {
		m.Keys = append(m.Keys, keyText(n, f.KeyType, key.Watched))
	}
	showFilter(m, w, f)
	return shown, nil
}

func keyText(n *sim.Network, keyType string, key []byte) string {
	switch keyType {
	case webhooks.KeyNodeID:
		return ids.NodeID(key).String()
	case webhooks.KeySubnetID:
		return ids.ID(key).String()
	}
	return n.Rules.Bech32(ids.ShortID(key))
}

// showFilter renders the primary network events that a webhook watches.
func showFilter(m *Metadata, w *outbox.Webhook, f *webhooks.Filter) {
	if w.Event == outbox.PrimaryAddressActivity {
		m.SubEvents = &SubEvents{Addresses: f.SubEvents}
		if f.BalanceType != "" {
			m.BalanceThresholdFilter = &BalanceThresholdFilter{f.BalanceType, data.Decimals(f.BalanceThreshold)}
		}
		return
	}
	m.SubEvents = &SubEvents{Validators: f.SubEvents}
	for _, id := range f.NodeIDs {
		m.NodeIDs = append(m.NodeIDs, id.String())
	}
	for _, id := range f.SubnetIDs {
		m.SubnetIDs = append(m.SubnetIDs, id.String())
	}
	if f.L1BalanceThreshold > 0 {
		m.L1BalanceThreshold = data.Decimals(f.L1BalanceThreshold)
	}
}
