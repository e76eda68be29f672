package txs

import (
	"encoding/binary"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// UTXO is an output that no transaction has spent yet, with the transaction and the index that it came from.
type UTXO struct {
	UTXOID  `serialize:"true"`
	AssetID ids.ID `serialize:"true" json:"assetID"`
	Out     Output `serialize:"true" json:"output"`
}

// Owners says who may spend the UTXO.
func (u *UTXO) Owners() *OutputOwners { return u.Out.Owners() }

// Amount is what the UTXO holds of its asset; 0 when it holds something else than an amount.
func (u *UTXO) Amount() uint64 { return AmountOf(u.Out) }

// StakeableUntil is the time before which the amount may only be staked; 0 when it is not locked that way.
func (u *UTXO) StakeableUntil() uint64 {
	if lock, ok := u.Out.(*StakeableLockOut); ok {
		return lock.Locktime
	}
	return 0
}

// Bytes is the UTXO as the chain's getUTXOs gives it.
func (u *UTXO) Bytes(c Chain) ([]byte, error) { return c.Marshal(u) }

// ParseUTXO reads what Bytes wrote.
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

// parseTransferUTXO reads a UTXO that holds a TransferOutput with owners, as nearly all do: the codec takes ten times as long.
// It returns nil for every other, and for bytes that are not one.
func parseTransferUTXO(b []byte) *UTXO {
	const head = versionBytes + ids.IDLen + 4 + ids.IDLen + 4 + 8 + 8 + 4 + 4
	if len(b) <= head || len(b) > maxBytes || binary.BigEndian.Uint16(b) != codecVersion {
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

// OutputBytes is an output with its asset, as platform.getStake gives staked outputs.
func OutputBytes(c Chain, out *TransferableOutput) ([]byte, error) { return c.Marshal(out) }

// OutBytes is the output alone with its type id, as Bytes ends with it.
func (u *UTXO) OutBytes(c Chain) ([]byte, error) {
	b, err := marshalOutput(c, u.Out)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return b[versionBytes:], nil
}
