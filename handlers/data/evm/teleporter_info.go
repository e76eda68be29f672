package evm

import (
	"bytes"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// TeleporterMessageInfo describes the cross-chain message that a transaction sent or delivered.
type TeleporterMessageInfo struct {
	TeleporterMessageID string `json:"teleporterMessageId" format:"hash"`
	Direction           string `json:"direction" enum:"SOURCE_TRANSACTION,DESTINATION_TRANSACTION"`
	SourceChainID       string `json:"sourceChainId,omitempty" doc:"The EVM chain id, or the blockchain id of a chain that the world does not simulate; in the upstream dialect, only for a destination transaction."`
	DestinationChainID  string `json:"destinationChainId,omitempty" doc:"The same; in the upstream dialect, only for a source transaction."`
}

// Directions of messages.
const (
	sourceTransaction      = "SOURCE_TRANSACTION"
	destinationTransaction = "DESTINATION_TRANSACTION"
)

// in returns the message in a dialect's shape: the live service names the other chain only.
func (m *TeleporterMessageInfo) in(d schema.Dialect) *TeleporterMessageInfo {
	if m == nil || d != schema.Upstream {
		return m
	}
	shown := *m
	if shown.Direction == sourceTransaction {
		shown.SourceChainID = ""
	} else {
		shown.DestinationChainID = ""
	}
	return &shown
}

// messageInfo returns the first message that a transaction sent or delivered, or nil.
func (a *chainAPI) messageInfo(r *rest.Request, at store.Position) (*TeleporterMessageInfo, error) {
	sent, err := a.World.DB.MessagesIn(r.Context(), at)
	if err != nil {
		return nil, err
	}
	here := a.World.ChainAt(at).Row.BlockchainID
	for i := range sent {
		if m := &sent[i]; m.Transaction() == at && bytes.Equal(m.Source, here) {
			return &TeleporterMessageInfo{TeleporterMessageID: data.Hash(m.Hash), Direction: sourceTransaction,
				SourceChainID: a.nameOf(here), DestinationChainID: a.nameOf(m.Destination)}, nil
		}
	}
	events, err := a.World.DB.MessageEventsIn(r.Context(), at)
	if err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		if e.Kind != store.MessageReceived || e.Transaction() != at {
			continue
		}
		source, err := a.sourceOf(r, e)
		if err != nil {
			return nil, err
		}
		return &TeleporterMessageInfo{TeleporterMessageID: data.Hash(e.Hash), Direction: destinationTransaction,
			SourceChainID: a.nameOf(source[:]), DestinationChainID: a.nameOf(here)}, nil
	}
	return nil, nil
}

// sourceOf returns the blockchain that sent a received message.
func (a *chainAPI) sourceOf(r *rest.Request, e *store.MessageEvent) (ids.ID, error) {
	logs, err := a.World.DB.LogsBetween(r.Context(), e.ID, e.ID, 1)
	if err != nil {
		return ids.Empty, err
	}
	if len(logs) == 0 {
		return ids.Empty, fmt.Errorf("log %d: %w", e.ID, store.ErrNotFound)
	}
	m := index.ParseTeleporterLog(&logs[0])
	if m == nil {
		return ids.Empty, fmt.Errorf("log %d belongs to no message", e.ID)
	}
	return m.Peer, nil
}

// nameOf returns the EVM chain id of a chain, or its blockchain id if the world does not simulate it.
func (a *chainAPI) nameOf(blockchain []byte) string {
	if name := a.EVMID(ids.ID(blockchain)); name != "" {
		return name
	}
	return data.CB58(blockchain)
}
