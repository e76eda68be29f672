package utxo

// Journal holds a function to revert each change that a block makes to a state, newest last, so that a block changes everything or nothing.
// It serves as go-ethereum's core/state journal.
type Journal struct {
	undos []func()
}

// OnRevert adds a function that reverts a change.
func (j *Journal) OnRevert(undo func()) { j.undos = append(j.undos, undo) }

// Begin forgets the previous block's changes.
func (j *Journal) Begin() { j.undos = j.undos[:0] }

// Revert undoes all changes since Begin.
func (j *Journal) Revert() {
	for i := len(j.undos) - 1; i >= 0; i-- {
		j.undos[i]()
	}
	j.undos = nil
}

// Set assigns a scalar of the state.
func Set[T any](j *Journal, target *T, value T) {
	old := *target
	j.OnRevert(func() { *target = old })
	*target = value
}

// Put assigns an entry of one of the state's maps.
func Put[K comparable, V any](j *Journal, m map[K]V, key K, value V) {
	old, had := m[key]
	j.OnRevert(func() { restore(m, key, old, had) })
	m[key] = value
}

// Delete removes an entry of one of the state's maps.
func Delete[K comparable, V any](j *Journal, m map[K]V, key K) {
	old, had := m[key]
	j.OnRevert(func() { restore(m, key, old, had) })
	delete(m, key)
}

func restore[K comparable, V any](m map[K]V, key K, old V, had bool) {
	if !had {
		delete(m, key)
		return
	}
	m[key] = old
}
