package primary

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// State is what the P-chain and the X-chain have in common: unspent outputs and a chain of blocks.
type State struct {
	Network *Network

	journal
	chain  Chain
	shared *SharedMemory
	utxos  map[ids.ID]*UTXO
	tip    ids.ID
	height uint64
	time   uint64
	diff   *Diff
}

// The reasons why a block does not continue its chain.
var (
	errParent     = errors.New("block's parent is not the last accepted block")
	errHeight     = errors.New("incorrect block height")
	errTimeBefore = errors.New("proposed timestamp before current chain time")
	errBlockType  = errors.New("unexpected block type")
)

func newState(n *Network, c Chain, shared *SharedMemory, utxos []*UTXO) State {
	s := State{Network: n, chain: c, shared: shared, utxos: make(map[ids.ID]*UTXO, len(utxos))}
	for _, u := range utxos {
		s.utxos[u.InputID()] = u
	}
	return s
}

// Tip is the id of the last accepted block.
func (s *State) Tip() ids.ID { return s.tip }

// Height is the height of the last accepted block.
func (s *State) Height() uint64 { return s.height }

// Time is the chain's time: that of its last accepted block, in seconds.
func (s *State) Time() uint64 { return s.time }

// UTXO finds an unspent output.
func (s *State) UTXO(inputID ids.ID) (*UTXO, bool) {
	u, found := s.utxos[inputID]
	return u, found
}

// Count is the number of unspent outputs.
func (s *State) Count() int { return len(s.utxos) }

// Rollback takes back the last accepted block, for when it could not be stored. It works once after each Accept.
func (s *State) Rollback() { s.revert() }

// SetTip tells a state that was loaded from storage where its chain stands.
func (s *State) SetTip(tip ids.ID, height, time uint64) { s.tip, s.height, s.time = tip, height, time }

// links checks that a block continues the chain.
func (s *State) links(b *Block) error {
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

// link makes a block the chain's last.
func (s *State) link(b *Block) {
	set(&s.journal, &s.tip, b.ID())
	set(&s.journal, &s.height, b.Height())
	set(&s.journal, &s.time, b.Time())
}

// start begins a new Diff.
func (s *State) start(txID ids.ID) *Diff {
	s.diff = &Diff{TxID: txID}
	return s.diff
}

func (s *State) create(u *UTXO) {
	put(&s.journal, s.utxos, u.InputID(), u)
	s.diff.Created = append(s.diff.Created, u)
}

func (s *State) spend(u *UTXO) {
	remove(&s.journal, s.utxos, u.InputID())
	s.diff.Spent = append(s.diff.Spent, u)
}

func (s *State) take(from ids.ID, u *UTXO) {
	remove(&s.journal, s.shared.box(from, s.Network.BlockchainID(s.chain)), u.InputID())
	s.diff.Peer = from
	s.diff.Imported = append(s.diff.Imported, u)
}

func (s *State) hand(to ids.ID, u *UTXO) {
	put(&s.journal, s.shared.box(s.Network.BlockchainID(s.chain), to), u.InputID(), u)
	s.diff.Peer = to
	s.diff.Exported = append(s.diff.Exported, u)
}

// settle moves the outputs of a transaction that was found valid.
func (s *State) settle(tx *Tx, spent []*UTXO) {
	source, imports := importSource(tx)
	own := len(spent) - imports
	for _, u := range spent[:own] {
		s.spend(u)
	}
	for _, u := range spent[own:] {
		s.take(source, u)
	}
	for _, u := range tx.Produced() {
		s.create(u)
	}
	destination, exported := tx.Exported()
	for _, u := range exported {
		s.hand(destination, u)
	}
}

// importSource is the chain that a transaction imports from, and how many outputs.
func importSource(tx *Tx) (ids.ID, int) {
	switch u := tx.Unsigned.(type) {
	case *ImportTx:
		return u.SourceChain, len(u.ImportedInputs)
	case *AtomicImportTx:
		return u.SourceChain, len(u.ImportedInputs)
	}
	return ids.Empty, 0
}
