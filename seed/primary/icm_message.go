package primary

import (
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/warp"
)

// icmMessage is a message from one chain to another. Its bytes are known before any chain sends it: the chains' histories are made in
// parallel, and the receiving one must not wait for the sending one.
type icmMessage struct {
	from, to        *icmEndpoint
	by              *population.Account // the sender, through the greeter
	paysFee         bool                // and then sends it itself
	fromConstructor bool                // of a deployed contract
	text            string
	due             uint64 // delivery time; 0 for never

	nonce       int64
	receipts    []teleporterReceipt
	message     *warp.UnsignedMessage
	signed      []byte
	signedReady chan struct{} // closed once it is signed
}

// The messenger's own types, as its interface packs them.
type (
	teleporterReceipt struct {
		ReceivedMessageNonce *big.Int
		RelayerRewardAddress common.Address
	}
	teleporterFeeInfo struct {
		FeeTokenAddress common.Address
		Amount          *big.Int
	}
	teleporterMessage struct {
		MessageNonce            *big.Int
		OriginSenderAddress     common.Address
		DestinationBlockchainID [32]byte
		DestinationAddress      common.Address
		RequiredGasLimit        *big.Int
		AllowedRelayerAddresses []common.Address
		Receipts                []teleporterReceipt
		Message                 []byte
	}
	teleporterMessageInput struct {
		DestinationBlockchainID [32]byte
		DestinationAddress      common.Address
		FeeInfo                 teleporterFeeInfo
		RequiredGasLimit        *big.Int
		AllowedRelayerAddresses []common.Address
		Message                 []byte
	}
)

const (
	requiredGas        = 200_000 // as the greeter requires
	gasSend            = 900_000
	messageFee         = 1_000_000 // of the fee token
	receiptsPerMessage = 5         // the messenger's limit
)

// writeReceipts writes a chain's messages with their receipts, in the order of its transactions.
func (t *ICM) writeReceipts(e *icmEndpoint) error {
	waiting := map[*icmEndpoint][]teleporterReceipt{}
	for _, tx := range e.txs {
		switch {
		case tx.delivers != nil:
			from := tx.delivers.from
			waiting[from] = append(waiting[from], teleporterReceipt{big.NewInt(tx.delivers.nonce), t.network.personas.Relayer.Address})
		case tx.sends != nil:
			queue := waiting[tx.sends.to]
			count := min(len(queue), receiptsPerMessage)
			tx.sends.receipts, waiting[tx.sends.to] = append([]teleporterReceipt{}, queue[:count]...), queue[count:]
			if err := tx.sends.write(t.network.rules.NetworkID, t.network.personas); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the message, once its nonce and its receipts are known.
func (m *icmMessage) write(network uint32, w *population.Personas) error {
	messenger, err := contracts.Load("Messenger")
	if err != nil {
		return err
	}
	body, err := packText(m.text)
	if err != nil {
		return err
	}
	greeter := evm.GreeterAddress(w)
	origin := greeter
	if m.paysFee {
		origin = m.by.Address
	}
	form := abi.Arguments{{Type: messenger.ABI.Events["SendCrossChainMessage"].Inputs[2].Type}}
	payload, err := form.Pack(teleporterMessage{
		big.NewInt(m.nonce), origin, m.to.id(), greeter, big.NewInt(requiredGas), []common.Address{}, m.receipts, body,
	})
	if err != nil {
		return fmt.Errorf("ICM message: %w", err)
	}
	call, err := warp.AddressedCall(fixtures.TeleporterMessenger.Bytes(), payload)
	m.message = &warp.UnsignedMessage{NetworkID: network, SourceChainID: m.from.id(), Payload: call}
	return err
}

func packText(text string) ([]byte, error) {
	kind, err := abi.NewType("string", "", nil)
	if err != nil {
		return nil, err
	}
	return abi.Arguments{{Type: kind}}.Pack(text)
}

func (e *icmEndpoint) id() ids.ID {
	if e.l1 != nil {
		return e.l1.chain
	}
	return ids.ID(e.chain.Row.BlockchainID)
}

func (e *icmEndpoint) subnet() ids.ID {
	if e.l1 != nil {
		return e.l1.subnet
	}
	return ids.Empty
}

func (m *icmMessage) sending(at uint64) icmTx {
	return icmTx{sends: m, ScheduledTx: evm.ScheduledTx{At: at, Request: m.send, Message: func() *warp.UnsignedMessage { return m.message }}}
}

func (m *icmMessage) delivery() icmTx {
	return icmTx{delivers: m, ScheduledTx: evm.ScheduledTx{At: m.due, Request: m.deliver, Ready: m.signedReady}}
}

func (m *icmMessage) send(c *evm.Chain) (*evm.TxRequest, error) {
	greeter := evm.GreeterAddress(c.Personas)
	if m.fromConstructor {
		request, err := evm.Deploy(m.by, "herald", "Herald", greeter, m.to.id(), greeter, m.text)
		if err != nil {
			return nil, err
		}
		request.Gas = 2 * gasSend
		return request, nil
	}
	if !m.paysFee {
		return c.CallWith(m.by, "greeter", "Greeter", "greet", nil, gasSend, m.to.id(), greeter, m.text)
	}
	body, err := packText(m.text)
	if err != nil {
		return nil, err
	}
	return c.CallWith(m.by, "messenger", "Messenger", "sendCrossChainMessage", nil, gasSend, teleporterMessageInput{
		m.to.id(), greeter, teleporterFeeInfo{c.Contract("usdx"), big.NewInt(messageFee)}, big.NewInt(requiredGas), []common.Address{}, body,
	})
}

func (m *icmMessage) deliver(c *evm.Chain) (*evm.TxRequest, error) {
	relayer := c.Personas.Relayer
	request, err := c.CallWith(relayer, "messenger", "Messenger", "receiveCrossChainMessage", nil, evm.GasDeliver, uint32(0), relayer.Address)
	if err != nil {
		return nil, err
	}
	request.AccessList = types.AccessList{{Address: precompile.WarpAddress, StorageKeys: precompile.NewPredicate(m.signed)}}
	return request, nil
}

// approveFees lets the messenger take fees from the deployer.
func approveFees(c *evm.Chain) (*evm.TxRequest, error) {
	return c.Call(c.Personas.Deployer, "usdx", "Token", "approve", fixtures.TeleporterMessenger, population.Units(1_000_000, 6))
}
