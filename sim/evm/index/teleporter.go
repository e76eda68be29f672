package index

import (
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/store"
)

// These TeleporterMessenger events are indexed, whichever contract emits them.
var (
	eventSendMessage     = crypto.Keccak256(teleporterEvent("SendCrossChainMessage(bytes32,bytes32,%s,(address,uint256))"))
	eventReceiveMessage  = crypto.Keccak256(teleporterEvent("ReceiveCrossChainMessage(bytes32,bytes32,address,address,%s)"))
	eventMessageExecuted = crypto.Keccak256([]byte("MessageExecuted(bytes32,bytes32)"))
	eventReceiptReceived = crypto.Keccak256([]byte("ReceiptReceived(bytes32,bytes32,address,(address,uint256))"))
)

func teleporterEvent(signature string) []byte {
	return fmt.Appendf(nil, signature, "(uint256,address,bytes32,address,uint256,address[],(uint256,address)[],bytes)")
}

// TeleporterLog is a message as the messenger's logs show it.
type TeleporterLog struct {
	ID             common.Hash
	Peer           ids.ID // the chain at the other end: destination or source
	Message        TeleporterMessage
	FeeInfo        TeleporterFee  // of a sent message
	Relayer        common.Address // of a received message: who delivered it
	RewardRedeemer common.Address // who may claim the fee
}

// TeleporterMessage is the message in the payload of a warp message (the contract's struct TeleporterMessage).
type TeleporterMessage struct {
	MessageNonce            *big.Int
	OriginSenderAddress     common.Address
	DestinationBlockchainID [32]byte
	DestinationAddress      common.Address
	RequiredGasLimit        *big.Int
	AllowedRelayerAddresses []common.Address
	Receipts                []TeleporterReceipt
	Message                 []byte
}

// TeleporterReceipt confirms the delivery of a message and names who may claim its fee.
type TeleporterReceipt struct {
	ReceivedMessageNonce *big.Int
	RelayerRewardAddress common.Address
}

// TeleporterFee is the fee that a sender pays for the delivery of a message.
type TeleporterFee struct {
	FeeTokenAddress common.Address
	Amount          *big.Int
}

// ParseTeleporterLog parses the log of a sent or received message; it returns nil for any other log.
func ParseTeleporterLog(l *store.Log) *TeleporterLog {
	switch {
	case string(l.Topic) == string(eventSendMessage) && len(l.Topics) == 2*common.HashLength:
		return parseSent(l)
	case string(l.Topic) == string(eventReceiveMessage) && len(l.Topics) == 3*common.HashLength:
		return parseReceived(l)
	}
	return nil
}

func parseSent(l *store.Log) *TeleporterLog {
	var body struct {
		Message TeleporterMessage
		FeeInfo TeleporterFee
	}
	if !unpack(&body, "SendCrossChainMessage", l.Data) {
		return nil
	}
	return &TeleporterLog{ID: common.Hash(l.Topics[:32]), Peer: ids.ID(l.Topics[32:]), Message: body.Message, FeeInfo: body.FeeInfo}
}

func parseReceived(l *store.Log) *TeleporterLog {
	var body struct {
		RewardRedeemer common.Address
		Message        TeleporterMessage
	}
	if !unpack(&body, "ReceiveCrossChainMessage", l.Data) {
		return nil
	}
	return &TeleporterLog{ID: common.Hash(l.Topics[:32]), Peer: ids.ID(l.Topics[32:64]), Message: body.Message,
		Relayer: common.BytesToAddress(l.Topics[64:]), RewardRedeemer: body.RewardRedeemer}
}

// unpack decodes the data of an event. Anybody may emit a log that only looks like one.
func unpack(into any, event string, data []byte) bool {
	messenger, err := contracts.Load("Messenger")
	return err == nil && messenger.ABI.UnpackIntoInterface(into, event, data) == nil
}

// addTeleporterLog adds the message or the message event of a log.
func (w *blockIndex) addTeleporterLog(l *store.Log) {
	var kind int
	switch string(l.Topic) {
	case string(eventSendMessage):
		if m := ParseTeleporterLog(l); m != nil {
			w.addMessage(l, m, w.blockchain, m.Peer)
		}
		return
	case string(eventReceiveMessage):
		m := ParseTeleporterLog(l)
		if m == nil {
			return
		}
		if w.network != nil && !w.network.Simulates(m.Peer) {
			w.addMessage(l, m, m.Peer, w.blockchain)
		}
		kind = store.MessageReceived
	case string(eventMessageExecuted):
		kind = store.MessageExecuted
	case string(eventReceiptReceived):
		kind = store.MessageReceipt
	default:
		return
	}
	if len(l.Topics) >= common.HashLength {
		w.delta.MessageEvents = append(w.delta.MessageEvents, store.MessageEvent{
			ID: l.ID, Tx: l.Tx, Kind: kind, Hash: l.Topics[:common.HashLength],
		})
	}
}

func (w *blockIndex) addMessage(l *store.Log, m *TeleporterLog, source, destination ids.ID) {
	w.delta.Messages = append(w.delta.Messages, store.Message{
		ID: l.ID, Tx: l.Tx, Time: w.time, Hash: m.ID.Bytes(), Source: source[:], Destination: destination[:],
		Sender: m.Message.OriginSenderAddress.Bytes(), Recipient: m.Message.DestinationAddress.Bytes(),
	})
}
