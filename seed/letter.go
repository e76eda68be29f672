package seed

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/warp"
)

// office is a chain as the mail sees it.
type icmEndpoint struct {
	evmChain *evmChain // nil for a chain that the world does not simulate
	l1       *l1       // of an L1
	mail     []icmTx
	next     int
}

// posting is something that somebody does with the messenger of a chain, or with its manager, at a time. Postings happen in
// their order.
type icmTx struct {
	at    uint64
	do    func(*evmChain, *evm.Pending) (*types.Transaction, *account, error)
	early bool // it needs no messenger

	sends, takes *icmMessage
	says         *validatorChange
}

// message is what the chain sends with the posting, or nil.
func (m *icmTx) message() *warp.UnsignedMessage {
	switch {
	case m.sends != nil:
		return m.sends.message
	case m.says != nil:
		return m.says.message
	}
	return nil
}

// letter is a message from one chain to another. What it says, down to its bytes, is settled before any chain sends it: the
// chains' histories are made side by side, and the one that receives it must not wait for the one that sends it.
type icmMessage struct {
	from, to        *icmEndpoint
	by              *account // who sends it, through the greeter
	paid            bool     // himself, with a fee
	fromConstructor bool     // by deploying a contract
	text            string
	due             uint64 // when it is delivered; 0 for never

	nonce    int64
	receipts []receipt
	message  *warp.UnsignedMessage
	signed   []byte
	ready    chan struct{} // closed once it is signed
}

// The messenger's own types, as its interface packs them.
type (
	receipt struct {
		ReceivedMessageNonce *big.Int
		RelayerRewardAddress common.Address
	}
	feeInfo struct {
		FeeTokenAddress common.Address
		Amount          *big.Int
	}
	sealed struct {
		MessageNonce            *big.Int
		OriginSenderAddress     common.Address
		DestinationBlockchainID [32]byte
		DestinationAddress      common.Address
		RequiredGasLimit        *big.Int
		AllowedRelayerAddresses []common.Address
		Receipts                []receipt
		Message                 []byte
	}
	input struct {
		DestinationBlockchainID [32]byte
		DestinationAddress      common.Address
		FeeInfo                 feeInfo
		RequiredGasLimit        *big.Int
		AllowedRelayerAddresses []common.Address
		Message                 []byte
	}
)

const (
	deliveryGas = 200_000 // that the greeter asks for
	gasSend     = 900_000
	gasTake     = 1_600_000
	letterFee   = 1_000_000 // of the fee token
)

// messengerNonce and greeterNonce are where in the deployer's life the two contracts come to be, so that they have the same
// address on every chain.
const messengerNonce, greeterNonce = 0, 18

func (s *evmChain) messengerAt() common.Address {
	return crypto.CreateAddress(s.people["deployer"].address, messengerNonce)
}

func (s *evmChain) greeterAt() common.Address {
	return crypto.CreateAddress(s.people["deployer"].address, greeterNonce)
}

var errContractMoved = errors.New("the messenger or the greeter is not where it is expected")

// settled refuses a chain whose messenger or greeter is not in its place.
func (s *evmChain) settled() error {
	if s.places["messenger"] != s.messengerAt() || s.places["greeter"] != s.greeterAt() {
		return errContractMoved
	}
	return nil
}

// seal writes the message, once it is known where it comes in its chain's mail.
func (l *icmMessage) seal(network uint32, some *evmChain) error {
	messenger, err := contracts.Load("Messenger")
	if err != nil {
		return err
	}
	body, err := textBytes(l.text)
	if err != nil {
		return err
	}
	origin := some.greeterAt()
	if l.paid {
		origin = l.by.address
	}
	form := abi.Arguments{{Type: messenger.ABI.Events["SendCrossChainMessage"].Inputs[2].Type}}
	payload, err := form.Pack(sealed{
		big.NewInt(l.nonce), origin, l.to.id(), some.greeterAt(), big.NewInt(deliveryGas), []common.Address{}, l.receipts, body,
	})
	if err != nil {
		return fmt.Errorf("letter: %w", err)
	}
	call, err := warp.AddressedCall(some.messengerAt().Bytes(), payload)
	l.message = &warp.UnsignedMessage{NetworkID: network, SourceChainID: l.from.id(), Payload: call}
	return err
}

func textBytes(text string) ([]byte, error) {
	kind, err := abi.NewType("string", "", nil)
	if err != nil {
		return nil, err
	}
	return abi.Arguments{{Type: kind}}.Pack(text)
}

func (o *icmEndpoint) id() ids.ID {
	if o.l1 != nil {
		return o.l1.chain
	}
	return ids.ID(o.evmChain.chain.BlockchainID)
}

func (o *icmEndpoint) subnet() ids.ID {
	if o.l1 != nil {
		return o.l1.subnet
	}
	return ids.Empty
}

// send is the transaction that sends a letter.
func (l *icmMessage) send(s *evmChain, p *evm.Pending) (*types.Transaction, *account, error) {
	if l.fromConstructor {
		i, err := create(l.by, "herald", "Herald", s.greeterAt(), l.to.id(), s.greeterAt(), l.text)
		return s.signScheduled(p, i, 2*gasSend, nil, err)
	}
	if !l.paid {
		i, err := s.call(l.by, "greeter", "Greeter", "greet", l.to.id(), s.greeterAt(), l.text)
		return s.signScheduled(p, i, gasSend, nil, err)
	}
	body, err := textBytes(l.text)
	if err != nil {
		return nil, nil, err
	}
	i, err := s.call(l.by, "messenger", "Messenger", "sendCrossChainMessage", input{
		l.to.id(), s.greeterAt(), feeInfo{s.places["usdx"], big.NewInt(letterFee)}, big.NewInt(deliveryGas), []common.Address{}, body,
	})
	return s.signScheduled(p, i, gasSend, nil, err)
}

// take is the transaction that delivers a letter.
func (l *icmMessage) take(s *evmChain, p *evm.Pending) (*types.Transaction, *account, error) {
	relayer := s.relayer()
	i, err := s.call(relayer, "messenger", "Messenger", "receiveCrossChainMessage", uint32(0), relayer.address)
	list := types.AccessList{{Address: precompile.WarpAddress, StorageKeys: precompile.NewPredicate(l.signed)}}
	return s.signScheduled(p, i, gasTake, list, err)
}

// allow lets the messenger take fees from the deployer.
func allow(s *evmChain, p *evm.Pending) (*types.Transaction, *account, error) {
	i, err := s.call(s.people["deployer"], "usdx", "Token", "approve", s.messengerAt(), units(1_000_000, 6))
	return s.signScheduled(p, i, gasCall, nil, err)
}

// carrier is who delivers letters on a chain.
func (s *evmChain) relayer() *account { return s.accounts[4] }

// stamp signs the transaction of a posting.
func (s *evmChain) signScheduled(p *evm.Pending, i *txRequest, gas uint64, list types.AccessList, err error) (*types.Transaction, *account, error) {
	if err != nil {
		return nil, nil, err
	}
	base, tip := p.Header().BaseFee, big.NewInt(gwei)
	limit := new(big.Int).Add(new(big.Int).Mul(base, big.NewInt(2)), tip)
	tx, err := types.SignTx(types.NewTx(&types.DynamicFeeTx{
		ChainID: s.signer.ChainID(), Nonce: p.Nonce(i.from.address), GasTipCap: tip, GasFeeCap: limit, Gas: gas, To: i.to,
		Value: new(big.Int), Data: i.data, AccessList: list,
	}), s.signer, i.from.key)
	return tx, i.from, err
}
