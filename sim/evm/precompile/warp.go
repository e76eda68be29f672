package precompile

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/warp"
)

// WarpAddress is the address of the warp precompile.
var WarpAddress = common.HexToAddress("0x0200000000000000000000000000000000000005")

// Warp is the warp precompile: it sends messages to other chains, and returns the verified messages in the predicates of the
// transaction.
var Warp = declare(WarpAddress, "warpConfig", nil,
	Function{Signature: "getBlockchainID()", Gas: costs(chainIDGas), Run: func(c *Call) ([]byte, error) { return common.Hash(c.Warp.ChainID).Bytes(), nil }},
	Function{Signature: "getVerifiedWarpMessage(uint32)", Gas: readMessageGas, BadInput: errIndexInput, Run: verifiedMessage},
	Function{Signature: "getVerifiedWarpBlockHash(uint32)", Gas: readMessageGas, BadInput: errIndexInput, Run: verifiedBlockHash},
	Function{Signature: "sendWarpMessage(bytes)", Gas: sendGas, Writes: true, BadInput: errSendInput, Run: sendWarpMessage},
)

// The gas of the warp precompile since Granite (subnet-evm precompile/contracts/warp, graniteGasConfig).
const (
	chainIDGas    = 200
	readGasBase   = 750
	chunkGas      = 512 // for each 32 bytes of a message that is carried or read
	predicateGas  = 125_000
	signerGas     = 250
	addMessageGas = 20_000
)

// WarpInput holds the warp precompile's inputs: its chain, and the current transaction.
type WarpInput struct {
	NetworkID  uint32
	ChainID    ids.ID
	Predicates []Predicate
	Failed     *big.Int // a bit for each refused predicate; nil for none
}

// Predicate is a signed message as a transaction's access list carries it: in chunks, followed by a delimiter and zeros.
type Predicate []common.Hash

const delimiter = 0xff

// NewPredicate packs the bytes of a message.
func NewPredicate(message []byte) Predicate {
	p := make(Predicate, len(message)/wordBytes+1)
	for i := range p {
		copy(p[i][:], message[i*wordBytes:])
	}
	p[len(p)-1][len(message)%wordBytes] = delimiter
	return p
}

// These errors, in the network's words, reject a transaction because of its predicates.
var (
	errPredicateBytes = errors.New("cannot unpack predicate bytes")
	errWarpMessage    = errors.New("cannot unpack warp message")
	errWarpPayload    = errors.New("cannot unpack warp message payload")
	errSigners        = errors.New("cannot fetch num signers from warp message")
	errSendInput      = errors.New("invalid sendWarpMessage input")
	errIndexInput     = errors.New("invalid index to specify warp message")
	errAddressedCall  = errors.New("cannot unpack addressed payload")
	errBlockHash      = errors.New("cannot unpack block hash payload")
)

// Message unpacks the message.
func (p Predicate) Message() (*warp.Message, error) {
	last := len(p) - 1
	if last < 0 {
		return nil, fmt.Errorf("%w: no delimiter found: length (0)", errPredicateBytes)
	}
	end := wordBytes - 1
	for end >= 0 && p[last][end] == 0 {
		end--
	}
	switch {
	case end < 0:
		return nil, fmt.Errorf("%w: predicate included excess padding: got length (%d)", errPredicateBytes, len(p))
	case p[last][end] != delimiter:
		return nil, fmt.Errorf("%w: wrong delimiter", errPredicateBytes)
	}
	raw := make([]byte, 0, len(p)*wordBytes)
	for _, chunk := range p {
		raw = append(raw, chunk[:]...)
	}
	m, err := warp.ParseMessage(raw[:last*wordBytes+end])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWarpMessage, err)
	}
	return m, nil
}

// Gas returns the cost of carrying the message (subnet-evm precompile/contracts/warp.Config.PredicateGas). An error makes the transaction invalid.
func (p Predicate) Gas() (uint64, error) {
	m, err := p.Message()
	if err != nil {
		return 0, err
	}
	if err := warp.CheckPayload(m.Payload); err != nil {
		return 0, fmt.Errorf("%w: %w", errWarpPayload, err)
	}
	signers, err := warp.SignerIndices(m.Signature.Signers)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errSigners, err)
	}
	return predicateGas + uint64(len(p))*chunkGas + uint64(len(signers))*signerGas, nil
}

// sendGas charges for the whole input, as the network does before it parses it.
func sendGas(c *Call) uint64 {
	return eventGas(3, uint64(len(c.Input))) + addMessageGas + writeGas
}

func sendWarpMessage(c *Call) ([]byte, error) {
	body, err := bytesArgument(c.Input)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSendInput, err)
	}
	payload, err := warp.AddressedCall(c.Caller[:], body)
	if err != nil {
		return nil, err
	}
	m := &warp.UnsignedMessage{NetworkID: c.Warp.NetworkID, SourceChainID: c.Warp.ChainID, Payload: payload}
	raw, err := m.Bytes()
	if err != nil {
		return nil, err
	}
	id, err := m.ID()
	if err != nil {
		return nil, err
	}
	c.emit(WarpAddress, append(number(wordBytes), dynamic(raw)...), eventSendWarpMessage, common.BytesToHash(c.Caller[:]), common.Hash(id))
	return id[:], nil
}

var eventSendWarpMessage = eventTopic("SendWarpMessage(address,bytes32,bytes)")

// readMessageGas returns the gas of reading a message of the transaction; an index without a message costs less.
func readMessageGas(c *Call) uint64 {
	if len(c.Input) < wordBytes {
		return readGasBase
	}
	p, err := c.predicate()
	if err != nil {
		return readGasBase
	}
	return readGasBase + uint64(len(p))*chunkGas
}

// predicate returns the predicate that the argument names, nil if there is none or if it was refused.
func (c *Call) predicate() (Predicate, error) {
	n := c.number(0)
	switch {
	case !n.IsUint64() || n.Uint64() > math.MaxUint32:
		return nil, fmt.Errorf("%w: abi: improperly encoded uint32 value", errIndexInput)
	case n.Uint64() > math.MaxInt32:
		return nil, fmt.Errorf("%w: larger than MaxInt32", errIndexInput)
	case n.Uint64() >= uint64(len(c.Warp.Predicates)):
		return nil, nil
	}
	i := int(n.Uint64())
	if c.Warp.Failed != nil && c.Warp.Failed.Bit(i) == 1 {
		return nil, nil
	}
	return c.Warp.Predicates[i], nil
}

// verifiedMessage returns (WarpMessage, valid), where a WarpMessage is (sourceChainID, originSenderAddress, payload).
func verifiedMessage(c *Call) ([]byte, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	var source ids.ID
	var sender common.Address
	var body []byte
	if m != nil {
		from, payload, err := warp.ParseAddressedCall(m.Payload)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errAddressedCall, err)
		}
		source, sender, body = m.SourceChainID, common.BytesToAddress(from), payload
	}
	out := append(number(2*wordBytes), flag(m != nil)...)
	out = append(append(out, source[:]...), common.LeftPadBytes(sender[:], wordBytes)...)
	return append(append(out, number(3*wordBytes)...), dynamic(body)...), nil
}

// verifiedBlockHash returns (WarpBlockHash, valid), where a WarpBlockHash is (sourceChainID, blockHash).
func verifiedBlockHash(c *Call) ([]byte, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}
	var source, block ids.ID
	if m != nil {
		if block, err = warp.ParseHashPayload(m.Payload); err != nil {
			return nil, fmt.Errorf("%w: %w", errBlockHash, err)
		}
		source = m.SourceChainID
	}
	return append(append(source[:], block[:]...), flag(m != nil)...), nil
}

func (c *Call) message() (*warp.Message, error) {
	p, err := c.predicate()
	if err != nil || p == nil {
		return nil, err
	}
	return p.Message()
}

// number, flag and dynamic encode values as EVM contracts do.
func number(n uint64) []byte { return common.BigToHash(new(big.Int).SetUint64(n)).Bytes() }

func flag(set bool) []byte {
	if set {
		return number(1)
	}
	return number(0)
}

func dynamic(b []byte) []byte {
	padded := (len(b) + wordBytes - 1) / wordBytes * wordBytes
	return append(number(uint64(len(b))), common.RightPadBytes(b, padded)...)
}

// bytesArgument reads the only argument of a function that takes bytes.
func bytesArgument(input []byte) ([]byte, error) {
	offset := new(big.Int).SetBytes(input[:wordBytes])
	if !offset.IsInt64() || offset.Int64() > int64(len(input)-wordBytes) {
		return nil, fmt.Errorf("abi: cannot marshal in to go slice: offset %v would go over slice boundary (len=%d)", offset, len(input))
	}
	rest := input[offset.Int64():]
	size := new(big.Int).SetBytes(rest[:wordBytes])
	if !size.IsInt64() || size.Int64() > int64(len(rest)-wordBytes) {
		return nil, fmt.Errorf("abi: cannot marshal in to go type: length insufficient %d require %v", len(input), size)
	}
	return rest[wordBytes:][:size.Int64()], nil
}

// HasWarp reports whether the warp precompile is in force at a time, so that access lists carry predicates.
func (s *Upgrades) HasWarp(time uint64) bool {
	_, active := s.configAt(Warp, time)
	return active
}
