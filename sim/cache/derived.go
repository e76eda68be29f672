package cache

import "sync"

// Derived is a single value derived from something else, and remade when that changes. It counts against no budget. The zero value is
// empty.
type Derived[F comparable, V any] struct {
	mu    sync.Mutex // held while the value is made, so that it is made once
	made  bool
	from  F
	value V
}

// Of returns the value derived from the state that from identifies.
func (d *Derived[F, V]) Of(from F, make func() (V, error)) (V, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made && d.from == from {
		return d.value, nil
	}
	value, err := make()
	if err == nil {
		d.made, d.from, d.value = true, from, value
	}
	return value, err
}
