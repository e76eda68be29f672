package outbox_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
)

// model is what the tables should have.
type model struct {
	webhooks []outbox.Webhook
	keys     map[int64][]outbox.Key
	messages map[int64][]outbox.View
	attempts map[string][]outbox.Attempt
	secrets  map[string][]byte
}

// TestAgainstAModel makes random changes, and reads everything in every way after some of them.
func TestAgainstAModel(t *testing.T) {
	db := seedtest.Copy(t, 1).DB
	random := rand.New(rand.NewPCG(5, 6))
	m := &model{keys: map[int64][]outbox.Key{}, messages: map[int64][]outbox.View{}, attempts: map[string][]outbox.Attempt{}, secrets: map[string][]byte{}}
	accounts := [][]byte{bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)}
	uuid := func() []byte {
		id := make([]byte, 16)
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		return id
	}
	for step := range 400 {
		b, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.End(m.change(b, random, uuid, accounts)); err != nil {
			t.Fatal(err)
		}
		if step%40 == 39 {
			m.compare(t, db, accounts)
		}
	}
}

func (m *model) change(b *store.Batch, random *rand.Rand, uuid func() []byte, accounts [][]byte) error {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	kind := random.IntN(8)
	if len(m.webhooks) == 0 {
		kind = 0
	}
	var hook *outbox.Webhook
	if kind > 0 {
		hook = &m.webhooks[random.IntN(len(m.webhooks))]
	}
	key := func() []byte { return append(make([]byte, 19), byte(random.IntN(20))) }
	switch kind {
	case 0:
		w := outbox.Webhook{UUID: uuid(), Account: accounts[random.IntN(2)], Event: pick(outbox.AddressActivity, outbox.ValidatorActivity), Chain: 1 + random.IntN(5), Active: random.IntN(3) > 0,
			Created: random.Int64N(1e13), URL: pick("http://a", "http://b"), Name: pick("", "n"), Description: pick("", "d"), Internal: random.IntN(2) > 0, Logs: random.IntN(2) > 0, Filter: pick("{}", `{"a":1}`)}
		if err := outbox.Put(b, &w); err != nil {
			return err
		}
		if w.ID != int64(len(m.webhooks))+1 {
			return fmt.Errorf("webhook %d gets the number %d", len(m.webhooks)+1, w.ID)
		}
		m.webhooks = append(m.webhooks, w)
	case 1:
		hook.Name, hook.Active = pick("x", "y"), true
		return outbox.Put(b, hook)
	case 2:
		hook.Active = false
		return outbox.Deactivate(b, hook.ID)
	case 3:
		all := [][]byte{key(), key(), key()}
		last := int64(0)
		for _, k := range m.keys[hook.ID] {
			last = max(last, k.Number)
		}
		for i, k := range all {
			if !slices.ContainsFunc(m.keys[hook.ID], func(known outbox.Key) bool { return bytes.Equal(known.Watched, k) }) {
				m.keys[hook.ID] = append(m.keys[hook.ID], outbox.Key{Number: last + int64(i) + 1, Watched: k})
			}
		}
		return outbox.AddKeys(b, hook.ID, all)
	case 4:
		gone := [][]byte{key(), key()}
		m.keys[hook.ID] = slices.DeleteFunc(m.keys[hook.ID], func(k outbox.Key) bool { return bytes.Equal(k.Watched, gone[0]) || bytes.Equal(k.Watched, gone[1]) })
		return outbox.DropKeys(b, hook.ID, gone)
	case 5:
		v := outbox.View{Message: outbox.Message{Webhook: hook.ID, UUID: uuid(), Event: pick("a", "b"), Tx: store.At(1, uint64(random.IntN(9)), 2), Subject: [][]byte{nil, bytes.Repeat([]byte{9}, 32)}[random.IntN(2)], Time: random.Int64N(1e9)},
			State: outbox.State{Status: outbox.Undelivered}}
		err := outbox.Promise(b, &v.Message)
		v.Number = int64(len(m.messages[hook.ID])) + 1
		m.messages[hook.ID] = append(m.messages[hook.ID], v)
		return err
	case 6:
		if all := m.messages[hook.ID]; len(all) > 0 {
			v := &all[random.IntN(len(all))]
			v.State = outbox.State{Status: pick(outbox.Undelivered, outbox.Delivered, outbox.Failed, outbox.Void), Attempts: random.IntN(9), Next: random.Int64N(1e13)}
			a := outbox.Attempt{Started: random.Int64N(1e13), Took: random.Int64N(1e4), Status: random.IntN(600), Error: pick("", "e"), Answer: pick("", "ok")}
			if err := errors.Join(outbox.SetState(b, v.UUID, &v.State), outbox.AddAttempt(b, v.UUID, &a)); err != nil {
				return err
			}
			if a.Number != len(m.attempts[string(v.UUID)])+1 {
				return fmt.Errorf("attempt %d gets the number %d", len(m.attempts[string(v.UUID)])+1, a.Number)
			}
			m.attempts[string(v.UUID)] = append(m.attempts[string(v.UUID)], a)
		}
	case 7:
		account, secret := accounts[random.IntN(2)], append(uuid(), uuid()...)
		m.secrets[string(account)] = secret
		return outbox.SetSecret(b, account, secret)
	}
	return nil
}

func (m *model) compare(t *testing.T, db *store.DB, accounts [][]byte) {
	t.Helper()
	same := func(what string, have any, err error, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(have, want) {
			t.Fatalf("%s: %+v %v, want %+v", what, have, err, want)
		}
	}
	var active []outbox.Webhook
	for i := range m.webhooks {
		w := &m.webhooks[i]
		have, err := outbox.ByUUID(t.Context(), db, w.UUID)
		same("by UUID", have, err, w)
		have, err = outbox.ByID(t.Context(), db, w.ID)
		same("by number", have, err, w)
		if w.Active {
			active = append(active, *w)
		}
		m.compareKeys(t, db, w.ID, same)
		m.compareMessages(t, db, w.ID, same)
	}
	all, err := outbox.Active(t.Context(), db)
	same("active", all, err, active)
	for _, account := range accounts {
		var own []outbox.Webhook
		for _, w := range slices.Backward(m.webhooks) {
			if bytes.Equal(w.Account, account) {
				own = append(own, w)
			}
		}
		var paged []outbox.Webhook
		for before := int64(1 << 40); ; before = paged[len(paged)-1].ID {
			page, err := outbox.OfAccount(t.Context(), db, account, before, 2)
			if err != nil || len(page) > 2 {
				t.Fatal(page, err)
			}
			if paged = append(paged, page...); len(page) < 2 {
				break
			}
		}
		same("of an account", paged, nil, own)
		secret, err := outbox.Secret(t.Context(), db, account)
		if known := m.secrets[string(account)]; known == nil {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("an account without a secret has %x %v", secret, err)
			}
		} else {
			same("secret", secret, err, known)
		}
	}
	for _, err := range []error{second(outbox.ByUUID(t.Context(), db, accounts[0][:16])), second(outbox.ByID(t.Context(), db, 1<<40)),
		second(outbox.Named(t.Context(), db, accounts[0][:16])), second(outbox.Numbered(t.Context(), db, 1, 1<<40))} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what is not there: %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func (m *model) compareKeys(t *testing.T, db *store.DB, webhook int64, same func(string, any, error, any)) {
	t.Helper()
	want := slices.SortedFunc(slices.Values(m.keys[webhook]), func(a, b outbox.Key) int { return cmp.Compare(a.Number, b.Number) })
	var keys []outbox.Key
	for after := int64(0); ; after = keys[len(keys)-1].Number {
		page, err := outbox.Keys(t.Context(), db, webhook, after, 3)
		if err != nil || len(page) > 3 {
			t.Fatal(page, err)
		}
		if keys = append(keys, page...); len(page) < 3 {
			break
		}
	}
	same("keys", len(keys), nil, len(want))
	for i := range want {
		same("key", keys[i], nil, want[i])
	}
	n, err := outbox.KeyCount(t.Context(), db, webhook)
	same("count of keys", n, err, int64(len(want)))
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rollback()
	for _, k := range want {
		var watchers []int64
		for id := range m.keys {
			if slices.ContainsFunc(m.keys[id], func(other outbox.Key) bool { return bytes.Equal(other.Watched, k.Watched) }) {
				watchers = append(watchers, id)
			}
		}
		slices.Sort(watchers)
		have, err := outbox.WatchersOf(b, k.Watched)
		same("watchers", have, err, watchers)
	}
}

func (m *model) compareMessages(t *testing.T, db *store.DB, webhook int64, same func(string, any, error, any)) {
	t.Helper()
	all := m.messages[webhook]
	var paged []outbox.View
	for before := int64(1 << 40); ; before = paged[len(paged)-1].Number {
		page, err := outbox.Messages(t.Context(), db, webhook, before, 2)
		if err != nil || len(page) > 2 {
			t.Fatal(page, err)
		}
		if paged = append(paged, page...); len(page) < 2 {
			break
		}
	}
	same("messages", len(paged), nil, len(all))
	for i := range all {
		v := &all[i]
		same("message of a page", paged[len(all)-1-i], nil, *v)
		have, err := outbox.Numbered(t.Context(), db, webhook, v.Number)
		same("numbered", have, err, v)
		have, err = outbox.Named(t.Context(), db, v.UUID)
		same("named", have, err, v)
		attempts, err := outbox.Attempts(t.Context(), db, v.UUID)
		same("attempts", attempts, err, m.attempts[string(v.UUID)])
	}
	for after := int64(0); after <= int64(len(all)); after++ {
		have, err := outbox.NextUndelivered(t.Context(), db, webhook, after)
		next := slices.IndexFunc(all, func(v outbox.View) bool { return v.Number > after && v.Status == outbox.Undelivered })
		if next < 0 {
			same("nothing to deliver", errors.Is(err, store.ErrNotFound), nil, true)
		} else {
			same("next", have, err, &all[next])
		}
	}
}
