package webhook

import (
	"bytes"
	"context"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
)

// Promiser promises messages to the webhooks of a world.
type Promiser struct {
	world *sim.World
	name  func() [16]byte // makes the id of each message
}

// Start promises messages from now on. name gives each its UUID.
func Start(w *sim.World, name func() [16]byte) { w.SetOutbox(&Promiser{w, name}) }

// Promise writes the messages about a commit.
func (p *Promiser) Promise(b *store.Batch, added *sim.Added) error {
	active, err := outbox.Active(context.Background(), b)
	if err != nil || len(active) == 0 {
		return err
	}
	if added.Block != nil {
		if err := p.block(b, active, added.Chain.Row.ID, added.Block); err != nil {
			return err
		}
	}
	for _, n := range p.world.Networks {
		var deltas []*store.PrimaryDelta
		for _, a := range added.Primary {
			if a.Network == n {
				deltas = a.Deltas
			}
		}
		if err := p.primary(b, active, n, deltas, added); err != nil {
			return err
		}
	}
	return nil
}

// watcher is a webhook with its filter.
type watcher struct {
	*outbox.Webhook
	*Filter
}

// watchers returns the active webhooks about an EVM chain or about a primary chain, by number.
func watchers(active []outbox.Webhook, evm bool, chain int) (map[int64]*watcher, error) {
	all := map[int64]*watcher{}
	for i := range active {
		if w := &active[i]; w.Chain == chain && (w.Event == outbox.AddressActivity) == evm {
			f, err := ParseFilter(w.Filter)
			if err != nil {
				return nil, store.Damaged(err)
			}
			all[w.ID] = &watcher{w, f}
		}
	}
	return all, nil
}

// watching returns the watchers that watch any of some keys, by number.
func watching(b *store.Batch, all map[int64]*watcher, keys [][]byte) ([]*watcher, error) {
	var found []*watcher
	seen := map[int64]bool{}
	for _, key := range keys {
		numbers, err := outbox.WatchersOf(b, key)
		if err != nil {
			return nil, err
		}
		for _, number := range numbers {
			if w := all[number]; w != nil && !seen[number] {
				seen[number] = true
				found = append(found, w)
			}
		}
	}
	slices.SortFunc(found, func(x, y *watcher) int { return int(x.ID - y.ID) })
	return found, nil
}

// block promises messages about the transactions of a block of an EVM chain.
func (p *Promiser) block(b *store.Batch, active []outbox.Webhook, chain int, d *store.Delta) error {
	all, err := watchers(active, true, chain)
	if err != nil || len(all) == 0 {
		return err
	}
	for i := range d.Transactions {
		tx := &d.Transactions[i]
		found, err := watching(b, all, Participants(d, tx))
		if err != nil {
			return err
		}
		for _, w := range found {
			if !w.emits(d, tx) {
				continue
			}
			if err := p.promise(b, w, &outbox.Message{Event: transactionActivity, Tx: tx.ID, Time: d.Block.Time}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Promiser) promise(b *store.Batch, w *watcher, m *outbox.Message) error {
	name := p.name()
	m.Webhook, m.UUID = w.ID, name[:]
	return outbox.Promise(b, m)
}

// Participants returns the addresses that took part in a transaction, each once.
func Participants(d *store.Delta, tx *store.Transaction) [][]byte {
	index := tx.ID.Index()
	all := [][]byte{tx.Sender}
	for _, address := range [][]byte{tx.Recipient, tx.Created} {
		if address != nil {
			all = append(all, address)
		}
	}
	for i := range d.Logs {
		if d.Logs[i].Tx == index {
			all = append(all, d.Logs[i].Address)
		}
	}
	for i := range d.Transfers {
		if t := &d.Transfers[i]; t.Tx == index {
			all = append(all, t.Sender, t.Recipient)
		}
	}
	for i := range d.Calls {
		if c := &d.Calls[i]; c.Tx == index && !c.Reverted {
			all = append(all, c.Sender, c.Recipient)
		}
	}
	for i := range d.Called {
		if c := &d.Called[i]; c.Tx == index {
			all = append(all, c.Address[:])
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// emits reports whether a transaction emitted a log with one of the webhook's signatures, or the webhook asks for none.
func (w *watcher) emits(d *store.Delta, tx *store.Transaction) bool {
	if len(w.EventSignatures) == 0 {
		return true
	}
	return slices.ContainsFunc(d.Logs, func(l store.Log) bool {
		return l.Tx == tx.ID.Index() && len(l.Topic) > 0 && slices.Contains(w.EventSignatures, common.BytesToHash(l.Topic))
	})
}
