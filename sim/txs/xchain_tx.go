package txs

import (
	"bytes"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// InitialState is a new asset's initial outputs within one feature extension.
type InitialState struct {
	FxIndex uint32   `serialize:"true" json:"fxIndex"`
	Outs    []Output `serialize:"true" json:"outputs"`
}

// CreateAssetTx creates an asset on the X-Chain with the transaction's id.
type CreateAssetTx struct {
	BaseTx       `serialize:"true"`
	Name         string          `serialize:"true" json:"name"`
	Symbol       string          `serialize:"true" json:"symbol"`
	Denomination byte            `serialize:"true" json:"denomination"`
	States       []*InitialState `serialize:"true" json:"initialStates"`
}

// OperationTx mints, transfers or burns outputs other than amounts.
type OperationTx struct {
	BaseTx `serialize:"true"`
	Ops    []*Operation `serialize:"true" json:"operations"`
}

// SortStates sorts initial states, and the outputs of each, in the network's order.
func SortStates(states []*InitialState) error {
	slices.SortFunc(states, compareStates)
	for _, state := range states {
		outs := make([]*TransferableOutput, len(state.Outs))
		for i, out := range state.Outs {
			outs[i] = &TransferableOutput{Out: out}
		}
		if err := SortOutputs(XChain, outs); err != nil {
			return err
		}
		for i, out := range outs {
			state.Outs[i] = out.Out
		}
	}
	return nil
}

// SortedStates reports whether initial states are in the order of SortStates, one for each feature extension.
func SortedStates(states []*InitialState) bool { return SortedUnique(states, compareStates) }

// Sorted reports whether a state's outputs are in the order of SortStates.
func (s *InitialState) Sorted() bool {
	keys := make([][]byte, len(s.Outs))
	for i := range s.Outs {
		b, err := XChain.Marshal(&s.Outs[i])
		if err != nil {
			return false
		}
		keys[i] = b
	}
	return slices.IsSortedFunc(keys, bytes.Compare)
}

// Consumed returns the ids of all UTXOs of its own chain that an X-Chain or P-Chain transaction spends.
func (tx *Tx) Consumed() []ids.ID {
	var spent []ids.ID
	if base := tx.Unsigned.Base(); base != nil {
		for _, in := range base.Ins {
			spent = append(spent, in.InputID())
		}
	}
	if op, ok := tx.Unsigned.(*OperationTx); ok {
		for _, o := range op.Ops {
			for _, id := range o.UTXOIDs {
				spent = append(spent, id.InputID())
			}
		}
	}
	return spent
}
