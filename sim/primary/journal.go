package primary

// journal remembers how to take back what a block did to a state, newest last, so that a block changes everything or
// nothing, and so that a block whose storing failed can be taken back.
type journal struct {
	undos []func()
}

func (j *journal) onRevert(undo func()) { j.undos = append(j.undos, undo) }

func (j *journal) begin() { j.undos = j.undos[:0] }

func (j *journal) revert() {
	for i := len(j.undos) - 1; i >= 0; i-- {
		j.undos[i]()
	}
	j.undos = nil
}

// set assigns a scalar of the state.
func set[T any](j *journal, target *T, value T) {
	old := *target
	j.onRevert(func() { *target = old })
	*target = value
}

// put assigns an entry of one of the state's maps.
func put[K comparable, V any](j *journal, m map[K]V, key K, value V) {
	old, had := m[key]
	j.onRevert(func() { restore(m, key, old, had) })
	m[key] = value
}

// remove deletes an entry of one of the state's maps.
func remove[K comparable, V any](j *journal, m map[K]V, key K) {
	old, had := m[key]
	j.onRevert(func() { restore(m, key, old, had) })
	delete(m, key)
}

func restore[K comparable, V any](m map[K]V, key K, old V, had bool) {
	if !had {
		delete(m, key)
		return
	}
	m[key] = old
}
