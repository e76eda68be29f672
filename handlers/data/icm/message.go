package icm

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// icmMessage is a message under either name.
type icmMessage struct {
	body     MessageBody
	contract string
}

func (f *icmMessage) icm() IcmMessage { return IcmMessage{f.body, f.contract} }

func (f *icmMessage) teleporter() TeleporterMessage { return TeleporterMessage{f.icm(), f.contract} }

// teleporterLog is a log about a message.
type teleporterLog struct {
	address common.Address
	message *index.TeleporterLog // a sent or received message, nil for other logs
}

// messageReader holds the rows for some messages, read in four statements however many they are.
type messageReader struct {
	*data.PriceView
	api    *icmAPI
	events map[string][]store.MessageEvent // by message id
	logs   map[store.Position]*teleporterLog
	spent  map[store.Position]IcmSourceTransaction // by transaction
}

// messages returns messages with their delivery.
func (a *icmAPI) messages(r *rest.Request, rows []store.Message) ([]*icmMessage, error) {
	prices, err := a.Prices(r, 0)
	if err != nil {
		return nil, err
	}
	m := &messageReader{PriceView: prices, api: a, logs: map[store.Position]*teleporterLog{}, spent: map[store.Position]IcmSourceTransaction{}}
	if err := m.read(rows); err != nil {
		return nil, err
	}
	return data.TryList(rows, func(row store.Message) (*icmMessage, error) { return m.message(&row) })
}

// read reads the messages' events, the logs of those events, and the transactions that sent and delivered the messages.
func (m *messageReader) read(rows []store.Message) (err error) {
	var hashes [][]byte
	var logs, transactions []store.Position
	for i := range rows {
		hashes, logs = append(hashes, rows[i].Hash), append(logs, rows[i].ID)
		if m.sentHere(&rows[i]) {
			transactions = append(transactions, rows[i].Transaction())
		}
	}
	if m.events, err = m.api.World.DB.MessageEventsOf(m.Context(), hashes); err != nil {
		return err
	}
	for _, events := range m.events {
		for i := range events {
			logs = append(logs, events[i].ID)
			if events[i].Kind == store.MessageReceived {
				transactions = append(transactions, events[i].Transaction())
			}
		}
	}
	if err := m.readLogs(logs); err != nil {
		return err
	}
	return m.readTransactions(transactions)
}

// readLogs reads the logs missing from the cache.
func (m *messageReader) readLogs(at []store.Position) error {
	var missing []store.Position
	for _, p := range at {
		if log, ok := m.api.logs.Get(p); ok {
			m.logs[p] = log
		} else {
			missing = append(missing, p)
		}
	}
	rows, err := m.api.World.DB.LogsAt(m.Context(), missing)
	for i := range rows {
		log := &teleporterLog{common.BytesToAddress(rows[i].Address), index.ParseTeleporterLog(&rows[i])}
		m.logs[rows[i].ID] = log
		m.api.logs.Add(rows[i].ID, log)
	}
	return err
}

// readTransactions reads the transactions missing from the cache.
func (m *messageReader) readTransactions(at []store.Position) error {
	var missing []store.Position
	for _, p := range at {
		if tx, ok := m.api.spent.Get(p); ok {
			m.spent[p] = tx
		} else {
			missing = append(missing, p)
		}
	}
	for some := range slices.Chunk(missing, store.MaxTransactionsAt) {
		rows, err := m.api.World.DB.TransactionsAt(m.Context(), some)
		if err != nil {
			return err
		}
		for i := range rows {
			tx, err := gasSpent(m.api.World.ChainAt(rows[i].ID), &rows[i])
			if err != nil {
				return err
			}
			m.spent[rows[i].ID] = tx
			m.api.spent.Add(rows[i].ID, tx)
		}
	}
	return nil
}

// gasSpent returns a transaction with the cost of its gas.
func gasSpent(c *reader.Chain, row *store.TransactionView) (IcmSourceTransaction, error) {
	baseFee, err := evm.PaidBaseFee(c.Kind, row.Header, row.Execution)
	if err != nil {
		return IcmSourceTransaction{}, err
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(row.Raw); err != nil {
		return IcmSourceTransaction{}, fmt.Errorf("transaction %x: %w", row.Transaction.Hash, err)
	}
	cost := new(big.Int).Mul(evm.EffectiveGasPrice(&tx, baseFee), new(big.Int).SetUint64(row.GasUsed))
	return IcmSourceTransaction{data.Hash(row.Transaction.Hash), row.BlockTime, cost.String()}, nil
}

// sentHere reports whether the message was sent by the log that names it, rather than received.
func (m *messageReader) sentHere(row *store.Message) bool {
	return bytes.Equal(m.api.World.ChainAt(row.ID).Row.BlockchainID, row.Source)
}

// log returns the log at a position, which must announce a sent or received message.
func (m *messageReader) log(at store.Position) (*teleporterLog, error) {
	log := m.logs[at]
	if log == nil {
		return nil, fmt.Errorf("log %d: %w", at, store.ErrNotFound)
	}
	if log.message == nil {
		return nil, fmt.Errorf("log %d belongs to no message", at)
	}
	return log, nil
}

// transaction returns a transaction already read, with the cost of its gas.
func (m *messageReader) transaction(at store.Position) (IcmSourceTransaction, error) {
	tx, ok := m.spent[at]
	if !ok {
		return tx, fmt.Errorf("transaction %d: %w", at, store.ErrNotFound)
	}
	return tx, nil
}

// message returns a message with its delivery.
func (m *messageReader) message(row *store.Message) (*icmMessage, error) {
	log, err := m.log(row.ID)
	if err != nil {
		return nil, err
	}
	source, destination, sent := ids.ID(row.Source), ids.ID(row.Destination), &log.message.Message
	f := &icmMessage{contract: log.address.Hex(), body: MessageBody{
		MessageID: log.message.ID.Hex(), SourceBlockchainID: source.String(), DestinationBlockchainID: destination.String(),
		SourceEVMChainID: m.api.EVMID(source), DestinationEVMChainID: m.api.EVMID(destination), MessageNonce: sent.MessageNonce.String(),
		From: sent.OriginSenderAddress.Hex(), To: sent.DestinationAddress.Hex(), Status: "pending",
		Receipts: data.List(sent.Receipts, func(e *index.TeleporterReceipt) IcmReceipt {
			return IcmReceipt{e.ReceivedMessageNonce.String(), e.RelayerRewardAddress.Hex()}
		}),
		RewardDetails: m.reward(row, log.message),
	}}
	if len(sent.Message) > 0 {
		f.body.Data = hexutil.Encode(sent.Message)
	}
	if m.sentHere(row) {
		tx, err := m.transaction(row.Transaction())
		if err != nil {
			return nil, err
		}
		f.body.SourceTransaction = &tx
	}
	return f, m.follow(row, log, f)
}

// follow adds a message's later events. Only events of the same contract on the right chain count.
func (m *messageReader) follow(row *store.Message, first *teleporterLog, f *icmMessage) error {
	for i := range m.events[string(row.Hash)] {
		e := &m.events[string(row.Hash)][i]
		if log := m.logs[e.ID]; log == nil || log.address != first.address {
			continue
		}
		here := m.api.World.ChainAt(e.ID).Row.BlockchainID
		atSource, atDestination := bytes.Equal(here, row.Source), bytes.Equal(here, row.Destination)
		switch {
		case e.Kind == store.MessageReceipt && atSource:
			f.body.ReceiptDelivered = true
		case e.Kind == store.MessageExecuted && atDestination:
			f.body.MessageExecuted = true
		case e.Kind == store.MessageReceived && atDestination && f.body.DestinationTransaction == nil:
			if err := m.delivered(e, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *messageReader) delivered(e *store.MessageEvent, f *icmMessage) error {
	log, err := m.log(e.ID)
	if err != nil {
		return err
	}
	tx, err := m.transaction(e.Transaction())
	if err != nil {
		return err
	}
	f.body.DestinationTransaction = &IcmDestination{tx, log.message.RewardRedeemer.Hex(), log.message.Relayer.Hex()}
	f.body.Status = "delivered"
	if f.body.SourceTransaction == nil {
		f.body.Status = "delivered_source_not_indexed"
	}
	return nil
}

// reward returns the fee of a sent message. A chain that receives a message does not know its fee.
func (m *messageReader) reward(row *store.Message, sent *index.TeleporterLog) IcmRewardDetails {
	d := IcmRewardDetails{Address: sent.FeeInfo.FeeTokenAddress.Hex(), ErcType: "ERC-20", Value: "0"}
	if sent.FeeInfo.Amount != nil {
		d.Value = sent.FeeInfo.Amount.String()
	}
	if t := m.At(row.ID.Chain(), sent.FeeInfo.FeeTokenAddress); t != nil && t.ID.Standard() == store.ERC20 {
		d.Name, d.Symbol, d.Decimals, d.LogoURI, d.Price = t.Name, t.Symbol, t.Decimals, t.Logo(m.Request), m.CurrentPrice(t.Series)
	}
	return d
}
