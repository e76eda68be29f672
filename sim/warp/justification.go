package warp

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/ava-labs/avalanchego/ids"
)

// Justification is the evidence that a P-Chain validator needs to sign an L1ValidatorRegistration (ACP-77): the validator's index in a
// conversion, or the request that registered it. It is a protocol buffer with one of two fields.
type Justification struct {
	SubnetID ids.ID // of the conversion
	Index    uint32
	Request  []byte // the RegisterL1Validator message; nil for a conversion
}

var errJustification = errors.New("invalid justification")

// Fields of L1ValidatorRegistrationJustification, and of the SubnetIDIndex in it.
const (
	fieldConversion = 1
	fieldRequest    = 2
	fieldSubnet     = 1
	fieldIndex      = 2
)

// Wire types of the fields.
const (
	wireVarint = 0
	wireBytes  = 2
)

// ParseJustification parses the justification of an L1ValidatorRegistration.
func ParseJustification(b []byte) (*Justification, error) {
	var j *Justification
	err := fields(b, func(number, _ uint64, value []byte) (err error) {
		switch {
		case number == fieldConversion && value != nil:
			j, err = parseConversionIndex(value)
		case number == fieldRequest && value != nil:
			j = &Justification{Request: value}
		default:
			err = errJustification
		}
		return err
	})
	if err == nil && j == nil {
		err = errJustification
	}
	return j, err
}

// parseConversionIndex parses a SubnetIDIndex, which omits an index of 0.
func parseConversionIndex(b []byte) (*Justification, error) {
	j := &Justification{}
	err := fields(b, func(number, n uint64, value []byte) (err error) {
		switch {
		case number == fieldSubnet && value != nil:
			j.SubnetID, err = ids.ToID(value)
		case number == fieldIndex && value == nil && n <= math.MaxUint32:
			j.Index = uint32(n)
		default:
			err = errJustification
		}
		return err
	})
	if err == nil && j.SubnetID == ids.Empty {
		err = errJustification
	}
	return j, err
}

// fields calls a function for each field of a protocol buffer; value is nil for a number.
func fields(b []byte, each func(number, n uint64, value []byte) error) error {
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 {
			return errJustification
		}
		b = b[size:]
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return errJustification
		}
		b = b[size:]
		var value []byte
		switch tag & 7 {
		case wireVarint:
		case wireBytes:
			if n > uint64(len(b)) {
				return errJustification
			}
			value, b = b[:n:n], b[n:]
		default:
			return errJustification
		}
		if err := each(tag>>3, n, value); err != nil {
			return err
		}
	}
	return nil
}

// Bytes encodes the protocol buffer.
func (j *Justification) Bytes() []byte {
	if j.Request != nil {
		return appendBytes(nil, fieldRequest, j.Request)
	}
	index := appendBytes(nil, fieldSubnet, j.SubnetID[:])
	if j.Index != 0 {
		index = binary.AppendUvarint(append(index, fieldIndex<<3|wireVarint), uint64(j.Index))
	}
	return appendBytes(nil, fieldConversion, index)
}

func appendBytes(b []byte, field byte, value []byte) []byte {
	b = binary.AppendUvarint(append(b, field<<3|wireBytes), uint64(len(value)))
	return append(b, value...)
}

// ValidationID returns the id of the validator in the justification.
func (j *Justification) ValidationID() (ids.ID, error) {
	if j.Request == nil {
		return ConversionValidationID(j.SubnetID, j.Index), nil
	}
	r, err := j.Registration()
	if err != nil {
		return ids.Empty, err
	}
	return r.ValidationID()
}

// Registration returns the request, if the justification is one.
func (j *Justification) Registration() (*RegisterL1Validator, error) {
	e, err := ParseL1Message(j.Request)
	if err != nil {
		return nil, err
	}
	r, ok := e.(*RegisterL1Validator)
	if !ok {
		return nil, errJustification
	}
	return r, nil
}
