package warp

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/payload"
)

// UnsignedMessage is a payload from a source chain of a network.
type UnsignedMessage struct {
	NetworkID     uint32 `serialize:"true"`
	SourceChainID ids.ID `serialize:"true"`
	Payload       []byte `serialize:"true"`
}

// BitSetSignature is an aggregate signature with a bit for each signer's index in the canonical set.
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

// Bytes returns the bytes that validators sign.
func (m *UnsignedMessage) Bytes() ([]byte, error) { return messageCodec.Marshal(codecVersion, m) }

// ID returns the hash of the unsigned bytes; the EVM precompile logs it.
func (m *UnsignedMessage) ID() (ids.ID, error) {
	b, err := m.Bytes()
	if err != nil {
		return ids.Empty, fmt.Errorf("warp message: %w", err)
	}
	return hashing.ComputeHash256Array(b), nil
}

// ParseUnsigned parses an unsigned message.
func ParseUnsigned(b []byte) (*UnsignedMessage, error) {
	m := &UnsignedMessage{}
	if _, err := messageCodec.Unmarshal(b, m); err != nil {
		return nil, err
	}
	return m, nil
}

// word is the size of a value in the EVM's ABI encoding.
const word = 32

// ParseSent parses an unsigned message, bare or as in the data of the precompile's event: behind its offset and its length.
func ParseSent(b []byte) (*UnsignedMessage, error) {
	if offset := (ids.ID{word - 1: word}); len(b) > 2*word && bytes.Equal(b[:word], offset[:]) {
		size := new(big.Int).SetBytes(b[word : 2*word])
		if data := b[2*word:]; size.IsInt64() && size.Int64() <= int64(len(data)) {
			b = data[:size.Int64()]
		}
	}
	return ParseUnsigned(b)
}

// Bytes returns the signed message on the wire.
func (m *Message) Bytes() ([]byte, error) {
	return messageCodec.Marshal(codecVersion, &wireMessage{m.UnsignedMessage, &m.Signature})
}

// ParseMessage parses a signed message.
func ParseMessage(b []byte) (*Message, error) {
	var wire wireMessage
	if _, err := messageCodec.Unmarshal(b, &wire); err != nil {
		return nil, err
	}
	sig, ok := wire.Signature.(*BitSetSignature)
	if !ok {
		return nil, ErrParseSignature
	}
	return &Message{wire.UnsignedMessage, *sig}, nil
}

// AddressedCall returns the payload of a message from an address of the source chain.
func AddressedCall(sender, body []byte) ([]byte, error) {
	call, err := payload.NewAddressedCall(sender, body)
	if err != nil {
		return nil, fmt.Errorf("addressed call: %w", err)
	}
	return call.Bytes(), nil
}

// ParseAddressedCall parses a message's sender and payload.
func ParseAddressedCall(b []byte) (sender, body []byte, err error) {
	call, err := payload.ParseAddressedCall(b)
	if err != nil {
		return nil, nil, err
	}
	return call.SourceAddress, call.Payload, nil
}

// HashPayload returns the payload of a message about a block: its hash.
func HashPayload(id ids.ID) ([]byte, error) {
	hash, err := payload.NewHash(id)
	if err != nil {
		return nil, fmt.Errorf("hash payload: %w", err)
	}
	return hash.Bytes(), nil
}

// ParseHashPayload parses the block hash in a message.
func ParseHashPayload(b []byte) (ids.ID, error) {
	hash, err := payload.ParseHash(b)
	if err != nil {
		return ids.Empty, fmt.Errorf("hash payload: %w", err)
	}
	return hash.Hash, nil
}

// CheckPayload refuses a payload other than an addressed call or a hash.
func CheckPayload(b []byte) error {
	if _, err := payload.Parse(b); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return nil
}
