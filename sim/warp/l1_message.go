package warp

import (
	"errors"
	"fmt"
	"math"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// L1Message is one of the messages between an L1's manager and the P-Chain (ACP-77).
type L1Message interface{ event() }

// PChainOwner is an owner in L1 messages (ACP-77). Its addresses are sorted.
type PChainOwner struct {
	Threshold uint32        `serialize:"true" json:"threshold"`
	Addresses []ids.ShortID `serialize:"true" json:"addresses"`
}

// SubnetToL1Conversion is the P-Chain's confirmation of the conversion that a manager expects.
type SubnetToL1Conversion struct {
	ID ids.ID `serialize:"true"`
}

// RegisterL1Validator is a manager's request to add a validator.
type RegisterL1Validator struct {
	SubnetID              ids.ID             `serialize:"true"`
	NodeID                []byte             `serialize:"true"`
	PublicKey             [PublicKeyLen]byte `serialize:"true"`
	Expiry                uint64             `serialize:"true"`
	RemainingBalanceOwner PChainOwner        `serialize:"true"`
	DisableOwner          PChainOwner        `serialize:"true"`
	Weight                uint64             `serialize:"true"`
}

// L1ValidatorRegistration is the P-Chain's message that a validator is registered, or never will be (again).
type L1ValidatorRegistration struct {
	ValidationID ids.ID `serialize:"true"`
	Registered   bool   `serialize:"true"`
}

// L1ValidatorWeight is a manager's request for a weight, and the P-Chain's message that it was set.
type L1ValidatorWeight struct {
	ValidationID ids.ID `serialize:"true"`
	Nonce        uint64 `serialize:"true"`
	Weight       uint64 `serialize:"true"`
}

func (*SubnetToL1Conversion) event()    {}
func (*RegisterL1Validator) event()     {}
func (*L1ValidatorRegistration) event() {}
func (*L1ValidatorWeight) event()       {}

// L1MessageBytes encodes an L1 message as the body of an addressed call.
func L1MessageBytes(e L1Message) ([]byte, error) {
	b, err := l1MessageCodec.Marshal(codecVersion, &e)
	if err != nil {
		return nil, fmt.Errorf("l1 message: %w", err)
	}
	return b, nil
}

// ParseL1Message parses an L1 message.
func ParseL1Message(b []byte) (L1Message, error) {
	var e L1Message
	if _, err := l1MessageCodec.Unmarshal(b, &e); err != nil {
		return nil, err
	}
	return e, nil
}

// NewL1Message wraps an L1 message in an unsigned warp message. From the P-Chain, source is the zero id and sender empty.
func NewL1Message(networkID uint32, source ids.ID, sender []byte, e L1Message) (*UnsignedMessage, error) {
	body, err := L1MessageBytes(e)
	if err != nil {
		return nil, err
	}
	call, err := AddressedCall(sender, body)
	if err != nil {
		return nil, err
	}
	return &UnsignedMessage{NetworkID: networkID, SourceChainID: source, Payload: call}, nil
}

// L1Message parses the L1 message in a warp message, and returns its sender.
func (m *UnsignedMessage) L1Message() (sender []byte, e L1Message, err error) {
	sender, body, err := ParseAddressedCall(m.Payload)
	if err != nil {
		return nil, nil, err
	}
	e, err = ParseL1Message(body)
	return sender, e, err
}

// ValidationID returns the id of the requested validator: the hash of the request.
func (r *RegisterL1Validator) ValidationID() (ids.ID, error) {
	b, err := L1MessageBytes(r)
	if err != nil {
		return ids.Empty, err
	}
	return hashing.ComputeHash256Array(b), nil
}

// ConversionValidationID returns the id of the i-th validator of a conversion.
func ConversionValidationID(subnetID ids.ID, i uint32) ids.ID { return subnetID.Append(i) }

// SubnetToL1ConversionData is the data whose hash is a conversion's id.
type SubnetToL1ConversionData struct {
	SubnetID       ids.ID                              `serialize:"true"`
	ManagerChainID ids.ID                              `serialize:"true"`
	ManagerAddress []byte                              `serialize:"true"`
	Validators     []SubnetToL1ConversionValidatorData `serialize:"true"`
}

// SubnetToL1ConversionValidatorData is an initial validator of an L1.
type SubnetToL1ConversionValidatorData struct {
	NodeID    []byte             `serialize:"true"`
	PublicKey [PublicKeyLen]byte `serialize:"true"`
	Weight    uint64             `serialize:"true"`
}

// ID returns the conversion's id; the manager contract computes it, too, to check it.
func (d *SubnetToL1ConversionData) ID() (ids.ID, error) {
	b, err := l1MessageCodec.Marshal(codecVersion, d)
	if err != nil {
		return ids.Empty, fmt.Errorf("conversion: %w", err)
	}
	return hashing.ComputeHash256Array(b), nil
}

// Errors of an L1 message, in avalanchego's words.
var (
	errSubnetID = errors.New("invalid subnet ID")
	errWeight   = errors.New("invalid weight")
	errNodeID   = errors.New("invalid node ID")
	errNonce    = errors.New("maxUint64 nonce is reserved for removal")
)

// Verify runs the checks that need no state.
func (r *RegisterL1Validator) Verify() error {
	switch id, err := ids.ToNodeID(r.NodeID); {
	case r.SubnetID == ids.Empty:
		return errSubnetID
	case r.Weight == 0:
		return errWeight
	case err != nil:
		return fmt.Errorf("%w: %w", errNodeID, err)
	case id == ids.EmptyNodeID:
		return fmt.Errorf("%w: empty nodeID is disallowed", errNodeID)
	}
	return nil
}

// Verify runs the checks that need no state.
func (w *L1ValidatorWeight) Verify() error {
	if w.Nonce == math.MaxUint64 && w.Weight != 0 {
		return errNonce
	}
	return nil
}
