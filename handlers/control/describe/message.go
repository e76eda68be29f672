package describe

import (
	"context"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Message is a cross-chain message of a chain's: one that was delivered, and one that was not.
type Message struct {
	ID          []byte // nil when there is none
	Source      []byte // hash of the transaction that sent it
	Destination []byte // hash of the transaction that delivered it on the other chain
	Chain       uint64 // EVM chain id of the other chain
	Pending     []byte // the id of one that waits, nil when there is none
}

// newestMessages is how many of a chain's messages are searched for one of each kind.
const newestMessages = 50

func readMessages(ctx context.Context, w *sim.World, c *reader.Chain) (d Message, err error) {
	newest := store.MessageCursor{Time: 1<<63 - 1, ID: 1<<63 - 1}
	all, err := w.DB.Messages(ctx, store.MessageFilter{Source: c.Row.BlockchainID}, newest, newestMessages)
	for i := range all {
		if err == nil && (d.ID == nil || d.Pending == nil) {
			err = readMessage(ctx, w, &all[i], &d)
		}
	}
	return d, err
}

func readMessage(ctx context.Context, w *sim.World, m *store.Message, d *Message) error {
	events, err := w.DB.MessageEvents(ctx, m.Hash)
	if err != nil {
		return err
	}
	for i := range events {
		if events[i].Kind != store.MessageReceived {
			continue
		}
		if d.ID != nil {
			return nil
		}
		d.ID = m.Hash
		if d.Source, err = hashOf(w.DB.Transaction(ctx, m.Transaction())); err == nil {
			d.Chain = w.ChainAt(events[i].Transaction()).Row.EVMID
			d.Destination, err = hashOf(w.DB.Transaction(ctx, events[i].Transaction()))
		}
		return err
	}
	if d.Pending == nil {
		d.Pending = m.Hash
	}
	return nil
}
