package cache

import "sync"

// Derived is a value that is made of something else, once as long as that is as it was: it is one value, which no budget counts. The zero value
// has made none.
type Derived[F comparable, V any] struct {
	mu    sync.Mutex // held while the value is made, so that nobody else makes it
	made  bool
	from  F
	value V
}

// Of is the value made of something that from stands for.
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
