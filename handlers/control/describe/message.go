package describe

import (
	"context"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Message holds one delivered and one undelivered cross-chain message of a chain.
type Message struct {
	ID          []byte // nil if none was delivered
	Source      []byte // hash of the sending transaction
	Destination []byte // hash of the delivering transaction on the other chain
	Chain       uint64 // EVM chain id of the other chain
	Undelivered []byte // id of an undelivered message, nil if there is none
}

// newestMessages is the number of a chain's messages that the search for one of each kind reads.
const newestMessages = 50

func readMessages(ctx context.Context, w *sim.World, c *reader.Chain) (d Message, err error) {
	newest := store.MessageCursor{Time: 1<<63 - 1, ID: 1<<63 - 1}
	all, err := w.DB.Messages(ctx, store.MessageFilter{Source: c.Row.BlockchainID}, newest, newestMessages)
	for i := range all {
		if err == nil && (d.ID == nil || d.Undelivered == nil) {
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
	if d.Undelivered == nil {
		d.Undelivered = m.Hash
	}
	return nil
}
