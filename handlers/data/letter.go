package data

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// TeleporterMessageInfo says that a transaction sent or delivered a cross-chain message.
type TeleporterMessageInfo struct {
	TeleporterMessageID string `json:"teleporterMessageId" format:"hash"`
	Direction           string `json:"direction" enum:"SOURCE_TRANSACTION,DESTINATION_TRANSACTION"`
	SourceChainID       string `json:"sourceChainId,omitempty" doc:"Of a destination transaction: the EVM chain id, or the blockchain id of a chain that the world does not simulate."`
	DestinationChainID  string `json:"destinationChainId,omitempty" doc:"Of a source transaction."`
}

// letterFacts is a message as it is shown, under whichever name.
type letterFacts struct {
	body     MessageBody
	contract string
}

func (f *letterFacts) icm() IcmMessage { return IcmMessage{f.body, f.contract} }

func (f *letterFacts) teleporter() TeleporterMessage { return TeleporterMessage{f.icm(), f.contract} }

func chainNumber(c *evm.Chain) string { return strconv.FormatUint(c.Row.EVMID, 10) }

// chainAt is the chain of a position.
func (a *api) chainAt(at store.Position) *evm.Chain {
	for _, c := range a.world.Chains {
		if c.Row.ID == at.Chain() {
			return c
		}
	}
	return nil
}

// letterLog reads the log at a position, which must be about a message.
func (a *api) letterLog(r *handlers.Request, at store.Position) (*store.Log, *evm.Letter, error) {
	logs, err := a.world.DB.LogsBetween(r.Context(), at, at, 1)
	if err != nil {
		return nil, nil, err
	}
	if len(logs) == 0 {
		return nil, nil, fmt.Errorf("log %d: %w", at, store.ErrNotFound)
	}
	m := evm.ReadLetter(&logs[0])
	if m == nil {
		return nil, nil, fmt.Errorf("log %d is of no message", at)
	}
	return &logs[0], m, nil
}

// letter is a message with what became of it.
func (a *api) letter(r *handlers.Request, row *store.Message) (*letterFacts, error) {
	log, m, err := a.letterLog(r, row.ID)
	if err != nil {
		return nil, err
	}
	source, destination := ids.ID(row.Source), ids.ID(row.Destination)
	f := &letterFacts{contract: common.BytesToAddress(log.Address).Hex(), body: MessageBody{
		MessageID: m.ID.Hex(), SourceBlockchainID: source.String(), DestinationBlockchainID: destination.String(),
		SourceEVMChainID: a.evmID(source), DestinationEVMChainID: a.evmID(destination), MessageNonce: m.Message.MessageNonce.String(),
		From: m.Message.OriginSenderAddress.Hex(), To: m.Message.DestinationAddress.Hex(), Status: "pending",
		Receipts: list(m.Message.Receipts, func(e *evm.TeleporterReceipt) IcmReceipt {
			return IcmReceipt{e.ReceivedMessageNonce.String(), e.RelayerRewardAddress.Hex()}
		}),
	}}
	if len(m.Message.Message) > 0 {
		f.body.Data = hexutil.Encode(m.Message.Message)
	}
	if f.body.RewardDetails, err = a.reward(r, row, m); err != nil {
		return nil, err
	}
	if bytes.Equal(a.chainAt(row.ID).Row.BlockchainID, row.Source) {
		sent, err := a.spending(r, row.Transaction())
		if err != nil {
			return nil, err
		}
		f.body.SourceTransaction = &sent
	}
	return f, a.follow(r, row, log, f)
}

// follow adds what became of a message. Only what the same contract tells on the right chain counts.
func (a *api) follow(r *handlers.Request, row *store.Message, first *store.Log, f *letterFacts) error {
	events, err := a.world.DB.MessageEvents(r.Context(), row.Hash)
	if err != nil {
		return err
	}
	for i := range events {
		e := &events[i]
		logs, err := a.world.DB.LogsBetween(r.Context(), e.ID, e.ID, 1)
		if err != nil {
			return err
		}
		if len(logs) == 0 || !bytes.Equal(logs[0].Address, first.Address) {
			continue
		}
		here := a.chainAt(e.ID).Row.BlockchainID
		atSource, atEnd := bytes.Equal(here, row.Source), bytes.Equal(here, row.Destination)
		switch {
		case e.Kind == store.MessageReceipt && atSource:
			f.body.ReceiptDelivered = true
		case e.Kind == store.MessageExecuted && atEnd:
			f.body.MessageExecuted = true
		case e.Kind == store.MessageReceived && atEnd && f.body.DestinationTransaction == nil:
			if err := a.delivered(r, e, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *api) delivered(r *handlers.Request, e *store.MessageEvent, f *letterFacts) error {
	_, m, err := a.letterLog(r, e.ID)
	if err != nil {
		return err
	}
	spent, err := a.spending(r, e.Transaction())
	if err != nil {
		return err
	}
	f.body.DestinationTransaction = &IcmDestination{spent, m.Redeemer.Hex(), m.Carrier.Hex()}
	if f.body.Status = "delivered"; f.body.SourceTransaction == nil {
		f.body.Status = "delivered_source_not_indexed"
	}
	return nil
}

// spending is a transaction with what its gas cost.
func (a *api) spending(r *handlers.Request, at store.Position) (IcmSourceTransaction, error) {
	row, err := a.world.DB.TransactionViewAt(r.Context(), at)
	if err != nil {
		return IcmSourceTransaction{}, err
	}
	tx, err := a.remembered(a.chainAt(at), row)
	if err != nil {
		return IcmSourceTransaction{}, err
	}
	price, _ := new(big.Int).SetString(tx.shown.GasPrice, 10)
	cost := price.Mul(price, new(big.Int).SetUint64(row.GasUsed))
	return IcmSourceTransaction{tx.shown.TxHash, tx.shown.BlockTimestamp, cost.String()}, nil
}

// reward is the fee of a message that was sent. A chain that receives one does not know its fee.
func (a *api) reward(r *handlers.Request, row *store.Message, m *evm.Letter) (IcmRewardDetails, error) {
	s, err := a.scene(r, row.ID.Chain())
	if err != nil {
		return IcmRewardDetails{}, err
	}
	d := IcmRewardDetails{Address: m.FeeInfo.FeeTokenAddress.Hex(), ErcType: "ERC-20", Value: "0"}
	if m.FeeInfo.Amount != nil {
		d.Value = m.FeeInfo.Amount.String()
	}
	if t := s.at(row.ID.Chain(), m.FeeInfo.FeeTokenAddress); t != nil && t.ID.Standard() == store.ERC20 {
		token := s.erc20Token(t)
		d.Name, d.Symbol, d.Decimals, d.LogoURI, d.Price = token.Name, token.Symbol, token.Decimals, token.LogoURI, token.Price
	}
	return d, nil
}

// messageInfo is the first message that a transaction sent or delivered, nil for none.
func (a *api) messageInfo(r *handlers.Request, at store.Position) (*TeleporterMessageInfo, error) {
	sent, err := a.world.DB.MessagesIn(r.Context(), at)
	if err != nil {
		return nil, err
	}
	here := a.chainAt(at).Row.BlockchainID
	for i := range sent {
		if m := &sent[i]; m.Transaction() == at && bytes.Equal(m.Source, here) {
			return &TeleporterMessageInfo{TeleporterMessageID: hash(m.Hash), Direction: "SOURCE_TRANSACTION", DestinationChainID: a.nameOf(m.Destination)}, nil
		}
	}
	events, err := a.world.DB.MessageEventsIn(r.Context(), at)
	if err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		if e.Kind != store.MessageReceived || e.Transaction() != at {
			continue
		}
		_, m, err := a.letterLog(r, e.ID)
		if err != nil {
			return nil, err
		}
		return &TeleporterMessageInfo{TeleporterMessageID: hash(e.Hash), Direction: "DESTINATION_TRANSACTION", SourceChainID: a.nameOf(m.Peer[:])}, nil
	}
	return nil, nil
}

// nameOf is the EVM chain id of a chain, or its blockchain id if the world does not simulate it.
func (a *api) nameOf(blockchain []byte) string {
	if name := a.evmID(ids.ID(blockchain)); name != "" {
		return name
	}
	return cb58(blockchain)
}
