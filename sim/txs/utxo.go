package txs

import (
	"encoding/binary"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// UTXO is an output that no transaction has spent yet, with its transaction and index.
type UTXO struct {
	UTXOID  `serialize:"true"`
	AssetID ids.ID `serialize:"true" json:"assetID"`
	Out     Output `serialize:"true" json:"output"`
}

// Owners returns the owners who can spend the UTXO.
func (u *UTXO) Owners() *OutputOwners { return u.Out.Owners() }

// Amount returns the UTXO's amount of its asset, or 0 if it holds none.
func (u *UTXO) Amount() uint64 { return AmountOf(u.Out) }

// StakeableUntil returns the time before which the amount can only be staked; 0 without such a lock.
func (u *UTXO) StakeableUntil() uint64 {
	if lock, ok := u.Out.(*StakeableLockOut); ok {
		return lock.Locktime
	}
	return 0
}

// Bytes encodes the UTXO as the chain's getUTXOs does.
func (u *UTXO) Bytes(c Chain) ([]byte, error) { return c.Marshal(u) }

// ParseUTXO parses the output of Bytes.
func ParseUTXO(c Chain, b []byte) (*UTXO, error) {
	if u := parseTransferUTXO(b); u != nil {
		return u, nil
	}
	u := &UTXO{}
	if err := c.Unmarshal(b, u); err != nil {
		return nil, fmt.Errorf("utxo: %w", err)
	}
	return u, nil
}

// transferOutputID is the type id of a TransferOutput on every chain.
const transferOutputID = 7

// parseTransferUTXO parses a UTXO with a TransferOutput and owners, as nearly all have, ten times as fast as the codec. It returns nil for
// every other, and for malformed bytes.
func parseTransferUTXO(b []byte) *UTXO {
	const head = versionBytes + ids.IDLen + 4 + ids.IDLen + 4 + 8 + 8 + 4 + 4
	if len(b) <= head || len(b) > MaxBytes || binary.BigEndian.Uint16(b) != codecVersion {
		return nil
	}
	u, out := &UTXO{}, &TransferOutput{}
	u.Out = out
	b = b[versionBytes+copy(u.TxID[:], b[versionBytes:]):]
	u.OutputIndex, b = binary.BigEndian.Uint32(b), b[4:]
	b = b[copy(u.AssetID[:], b):]
	kind, b := binary.BigEndian.Uint32(b), b[4:]
	out.Amount, b = binary.BigEndian.Uint64(b), b[8:]
	out.Locktime, b = binary.BigEndian.Uint64(b), b[8:]
	out.Threshold, b = binary.BigEndian.Uint32(b), b[4:]
	owners, b := binary.BigEndian.Uint32(b), b[4:]
	if kind != transferOutputID || uint64(len(b)) != uint64(owners)*ids.ShortIDLen {
		return nil
	}
	out.Addresses = make([]ids.ShortID, owners)
	for i := range out.Addresses {
		b = b[copy(out.Addresses[i][:], b):]
	}
	return u
}

// OutputBytes encodes an output with its asset, as platform.getStake does for staked outputs.
func OutputBytes(c Chain, out *TransferableOutput) ([]byte, error) { return c.Marshal(out) }

// OutBytes encodes the output alone with its type id, as at the end of Bytes.
func (u *UTXO) OutBytes(c Chain) ([]byte, error) {
	b, err := marshalOutput(c, u.Out)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return b[versionBytes:], nil
}
