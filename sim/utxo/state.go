package utxo

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// UTXOState holds the state that a network's three chains share: unspent outputs, the chain's part of shared memory and, on the P-Chain and
// the X-Chain, the last accepted block. Every change goes through the chain's Journal and into its Diff.
type UTXOState struct {
	Network *rules.Network

	journal *Journal
	chain   txs.Chain
	shared  *SharedMemory
	utxos   map[ids.ID]*txs.UTXO // by input id; with stored, what changed since: nil if it is spent
	stored  Stored
	tip     ids.ID
	height  uint64
	time    uint64
	diff    *Diff
}

// Reasons why a block does not continue its chain, in the node's words.
var (
	errParent     = errors.New("block's parent is not the last accepted block")
	errHeight     = errors.New("incorrect block height")
	errTimeBefore = errors.New("proposed timestamp before current chain time")
)

// NewUTXOState begins with these unspent outputs.
func NewUTXOState(n *rules.Network, c txs.Chain, shared *SharedMemory, journal *Journal, utxos []*txs.UTXO) UTXOState {
	s := UTXOState{Network: n, chain: c, shared: shared, journal: journal, utxos: make(map[ids.ID]*txs.UTXO, len(utxos))}
	for _, u := range utxos {
		s.utxos[u.InputID()] = u
	}
	return s
}

// Tip returns the id of the last accepted block.
func (s *UTXOState) Tip() ids.ID { return s.tip }

// Chain returns the chain of this state.
func (s *UTXOState) Chain() txs.Chain { return s.chain }

// Height returns the height of the last accepted block.
func (s *UTXOState) Height() uint64 { return s.height }

// Time returns the time of the last accepted block, in seconds.
func (s *UTXOState) Time() uint64 { return s.time }

// Stored finds the unspent outputs of a chain in a file. A large network has so many that a state does better without them.
type Stored interface {
	UTXO(inputID ids.ID) (*txs.UTXO, error) // or ErrNotFound
	UTXOs() iter.Seq2[*txs.UTXO, error]
}

// SetStored makes a state begin with the outputs in a file, to which its blocks may be written as they are accepted.
func (s *UTXOState) SetStored(stored Stored) { s.stored = stored }

// UTXO finds an unspent output, or returns ErrNotFound.
func (s *UTXOState) UTXO(inputID ids.ID) (*txs.UTXO, error) {
	u, known := s.utxos[inputID]
	switch {
	case u != nil:
		return u, nil
	case known || s.stored == nil:
		return nil, ErrNotFound
	}
	return s.stored.UTXO(inputID)
}

// UTXOs visits all unspent outputs, in no order.
func (s *UTXOState) UTXOs() iter.Seq2[*txs.UTXO, error] {
	return func(yield func(*txs.UTXO, error) bool) {
		for _, u := range s.utxos {
			if u != nil && !yield(u, nil) {
				return
			}
		}
		if s.stored == nil {
			return
		}
		for u, err := range s.stored.UTXOs() {
			if err == nil {
				if _, known := s.utxos[u.InputID()]; known {
					continue
				}
			}
			if !yield(u, err) {
				return
			}
		}
	}
}

// Count returns the number of unspent outputs of a state that begins with none in a file.
func (s *UTXOState) Count() int { return len(s.utxos) }

// SetTip sets the last accepted block of a state loaded from storage.
func (s *UTXOState) SetTip(tip ids.ID, height, time uint64) {
	s.tip, s.height, s.time = tip, height, time
}

// SetTime moves the chain's time before the block that does so is accepted.
func (s *UTXOState) SetTime(time uint64) { Set(s.journal, &s.time, time) }

// VerifyParent checks that a block continues the chain.
func (s *UTXOState) VerifyParent(b *txs.Block) error {
	switch {
	case b.Parent() != s.tip:
		return fmt.Errorf("%w: %s != %s", errParent, b.Parent(), s.tip)
	case b.Height() != s.height+1:
		return fmt.Errorf("%w: expected %d but found %d", errHeight, s.height+1, b.Height())
	case b.Time() < s.time:
		return fmt.Errorf("%w: proposed timestamp (%d), chain time (%d)", errTimeBefore, b.Time(), s.time)
	}
	return nil
}

// SetLastAccepted makes a block the chain's last.
func (s *UTXOState) SetLastAccepted(b *txs.Block) {
	Set(s.journal, &s.tip, b.ID())
	Set(s.journal, &s.height, b.Height())
	Set(s.journal, &s.time, b.Time())
}

// SetDiff directs all further changes of outputs to this Diff.
func (s *UTXOState) SetDiff(d *Diff) { s.diff = d }

// AddUTXO creates an output on this chain.
func (s *UTXOState) AddUTXO(u *txs.UTXO) {
	Put(s.journal, s.utxos, u.InputID(), u)
	s.diff.Created = append(s.diff.Created, u)
}

// DeleteUTXO spends an output of this chain.
func (s *UTXOState) DeleteUTXO(u *txs.UTXO) {
	if s.stored == nil {
		Delete(s.journal, s.utxos, u.InputID())
	} else {
		Put(s.journal, s.utxos, u.InputID(), nil)
	}
	s.diff.Spent = append(s.diff.Spent, u)
}

// importUTXO spends an output that another chain exported to this one.
func (s *UTXOState) importUTXO(from ids.ID, u *txs.UTXO) {
	Delete(s.journal, s.shared.exported(from, s.Network.BlockchainID(s.chain)), u.InputID())
	s.diff.Peer = from
	s.diff.Imported = append(s.diff.Imported, u)
}

// exportUTXO exports an output to another chain, through shared memory.
func (s *UTXOState) exportUTXO(to ids.ID, u *txs.UTXO) {
	Put(s.journal, s.shared.exported(s.Network.BlockchainID(s.chain), to), u.InputID(), u)
	s.diff.Peer = to
	s.diff.Exported = append(s.diff.Exported, u)
}

// MoveUTXOs moves the outputs of a valid transaction: avalanchego's avax.Consume and avax.Produce, and the requests to shared memory.
func (s *UTXOState) MoveUTXOs(tx *txs.Tx, spent []*txs.UTXO) {
	source, imports := importSource(tx)
	own := len(spent) - imports
	for _, u := range spent[:own] {
		s.DeleteUTXO(u)
	}
	for _, u := range spent[own:] {
		s.importUTXO(source, u)
	}
	for _, u := range tx.Produced() {
		s.AddUTXO(u)
	}
	destination, exported := tx.Exported()
	for _, u := range exported {
		s.exportUTXO(destination, u)
	}
}

// importSource returns the chain that a transaction imports from, and the number of outputs.
func importSource(tx *txs.Tx) (ids.ID, int) {
	switch u := tx.Unsigned.(type) {
	case *txs.ImportTx:
		return u.SourceChain, len(u.ImportedInputs)
	case *txs.AtomicImportTx:
		return u.SourceChain, len(u.ImportedInputs)
	}
	return ids.Empty, 0
}
