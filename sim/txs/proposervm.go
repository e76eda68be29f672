package txs

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/binary"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// ProposerBlock is the ProposerVM block around a block of any chain: it holds the proposer, the time and the P-Chain height that the
// proposer saw. Its id leaves out the proposer's signature.
type ProposerBlock struct {
	ParentID    ids.ID // of the previous envelope
	Time        uint64
	PHeight     uint64
	Epoch       Epoch
	Certificate []byte // the proposer's; none for an option, which follows from its proposal
}

// Epoch is the span for which the ProposerVM keeps to one P-Chain height (ACP-181).
type Epoch struct {
	PHeight uint64
	Number  uint64
	Start   uint64
}

// epochSeconds is the length of an epoch on the public networks.
const epochSeconds = 5 * 60

// Next returns an envelope's epoch from the previous one's epoch, P-Chain height and time.
func (e Epoch) Next(pHeight, time uint64) Epoch {
	if e.Number > 0 && time < e.Start+epochSeconds {
		return e
	}
	return Epoch{PHeight: pHeight, Number: e.Number + 1, Start: time}
}

// Type ids of ProposerVM blocks.
const (
	optionEnvelope  = 1
	graniteEnvelope = 2
)

// ID returns the hash of the envelope around a block with these bytes.
func (e *ProposerBlock) ID(inner []byte) ids.ID {
	return hashing.ComputeHash256Array(e.unsigned(inner))
}

func (e *ProposerBlock) unsigned(inner []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, codecVersion)
	if len(e.Certificate) == 0 {
		b = binary.BigEndian.AppendUint32(b, optionEnvelope)
		b = append(b, e.ParentID[:]...)
		return appendBytes(b, inner)
	}
	b = binary.BigEndian.AppendUint32(b, graniteEnvelope)
	b = append(b, e.ParentID[:]...)
	b = binary.BigEndian.AppendUint64(b, e.Time)
	b = binary.BigEndian.AppendUint64(b, e.PHeight)
	b = appendBytes(b, e.Certificate)
	b = appendBytes(b, inner)
	for _, v := range []uint64{e.Epoch.PHeight, e.Epoch.Number, e.Epoch.Start} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// Bytes returns the envelope around a chain's block. Its proposer signs it with the key of its certificate; an option is unsigned.
func (e *ProposerBlock) Bytes(inner []byte, chain ids.ID, key *ecdsa.PrivateKey) ([]byte, error) {
	raw := e.unsigned(inner)
	if len(e.Certificate) == 0 {
		return raw, nil
	}
	id := hashing.ComputeHash256Array(raw)
	header := binary.BigEndian.AppendUint16(nil, codecVersion)
	header = append(append(append(header, chain[:]...), e.ParentID[:]...), id[:]...)
	signature, err := key.Sign(nil, hashing.ComputeHash256(header), crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return appendBytes(raw, signature), nil
}

func appendBytes(b, field []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}

// NodeIDOf returns the node id of a certificate: RIPEMD-160 of its SHA-256.
func NodeIDOf(certificate []byte) ids.NodeID {
	return ids.NodeID(hashing.ComputeHash160Array(hashing.ComputeHash256(certificate)))
}
