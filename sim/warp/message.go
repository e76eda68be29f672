package warp

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/payload"
)

// UnsignedMessage is what a chain sends: a payload from a source chain of a network.
type UnsignedMessage struct {
	NetworkID     uint32 `serialize:"true"`
	SourceChainID ids.ID `serialize:"true"`
	Payload       []byte `serialize:"true"`
}

// BitSetSignature is an aggregate signature and the bits of the validators in it, by their index in the canonical set.
type BitSetSignature struct {
	Signers   []byte             `serialize:"true"`
	Signature [SignatureLen]byte `serialize:"true"`
}

func (*BitSetSignature) signature() {}

// anySignature is the interface that gives a signature its type id on the wire.
type anySignature interface{ signature() }

type wireMessage struct {
	UnsignedMessage `serialize:"true"`
	Signature       anySignature `serialize:"true"`
}

// Message is a signed message.
type Message struct {
	UnsignedMessage
	Signature BitSetSignature
}

// Bytes is what validators sign.
func (m *UnsignedMessage) Bytes() ([]byte, error) { return messageCodec.Marshal(codecVersion, m) }

// ID is the hash of the unsigned bytes; the EVM precompile logs it.
func (m *UnsignedMessage) ID() (ids.ID, error) {
	b, err := m.Bytes()
	if err != nil {
		return ids.Empty, fmt.Errorf("warp message: %w", err)
	}
	return hashing.ComputeHash256Array(b), nil
}

// ParseUnsigned reads an unsigned message.
func ParseUnsigned(b []byte) (*UnsignedMessage, error) {
	m := &UnsignedMessage{}
	if _, err := messageCodec.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("warp message: %w", err)
	}
	return m, nil
}

// word is the size of a value in the EVM's encoding of data.
const word = 32

// ParseSent reads an unsigned message as it is, or as it stands in the data of the event by which a chain's precompile
// sent it: behind its offset and its length.
func ParseSent(b []byte) (*UnsignedMessage, error) {
	if offset := (ids.ID{word - 1: word}); len(b) > 2*word && bytes.Equal(b[:word], offset[:]) {
		size := new(big.Int).SetBytes(b[word : 2*word])
		if data := b[2*word:]; size.IsInt64() && size.Int64() <= int64(len(data)) {
			b = data[:size.Int64()]
		}
	}
	return ParseUnsigned(b)
}

// Bytes is the signed message on the wire.
func (m *Message) Bytes() ([]byte, error) {
	return messageCodec.Marshal(codecVersion, &wireMessage{m.UnsignedMessage, &m.Signature})
}

// ParseMessage reads a signed message.
func ParseMessage(b []byte) (*Message, error) {
	var wire wireMessage
	if _, err := messageCodec.Unmarshal(b, &wire); err != nil {
		return nil, fmt.Errorf("warp message: %w", err)
	}
	sig, ok := wire.Signature.(*BitSetSignature)
	if !ok {
		return nil, fmt.Errorf("warp message: %w", ErrParseSignature)
	}
	return &Message{wire.UnsignedMessage, *sig}, nil
}

// AddressedCall is the payload of a message that an address of the source chain sent.
func AddressedCall(sender, body []byte) ([]byte, error) {
	call, err := payload.NewAddressedCall(sender, body)
	if err != nil {
		return nil, fmt.Errorf("addressed call: %w", err)
	}
	return call.Bytes(), nil
}

// ParseAddressedCall reads who sent a message and what it says.
func ParseAddressedCall(b []byte) (sender, body []byte, err error) {
	call, err := payload.ParseAddressedCall(b)
	if err != nil {
		return nil, nil, fmt.Errorf("addressed call: %w", err)
	}
	return call.SourceAddress, call.Payload, nil
}

// HashPayload is the payload of a message about a block: its hash.
func HashPayload(id ids.ID) ([]byte, error) {
	hash, err := payload.NewHash(id)
	if err != nil {
		return nil, fmt.Errorf("hash payload: %w", err)
	}
	return hash.Bytes(), nil
}

// ParseHashPayload reads the block hash that a message is about.
func ParseHashPayload(b []byte) (ids.ID, error) {
	hash, err := payload.ParseHash(b)
	if err != nil {
		return ids.Empty, fmt.Errorf("hash payload: %w", err)
	}
	return hash.Hash, nil
}

// CheckPayload refuses what is neither an addressed call nor a hash.
func CheckPayload(b []byte) error {
	if _, err := payload.Parse(b); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return nil
}
