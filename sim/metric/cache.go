package metric

// Cache holds rows of one table while they change, so that each is read and written once however many blocks touch it.
type Cache[K comparable, V any] struct {
	Read  func(K) (row V, ok bool, err error)
	Write func(K, *V) error
	Keep  int // how many rows flush keeps at most, for what is added next

	rows    map[K]*row[V]
	changed []K // in which order rows changed first, which is the order of writing
}

type row[V any] struct {
	value          V
	known, changed bool // whether the file has it, or will; whether it must be written
}

// row is the row of a key; a key without one gets an empty row that is not known.
func (c *Cache[K, V]) row(key K, fresh bool) (*row[V], error) {
	if r := c.rows[key]; r != nil {
		return r, nil
	}
	r := &row[V]{}
	if !fresh {
		var err error
		if r.value, r.known, err = c.Read(key); err != nil {
			return nil, err
		}
	}
	if c.rows == nil {
		c.rows = map[K]*row[V]{}
	}
	c.rows[key] = r
	return r, nil
}

// change notes that a row must be written.
func (c *Cache[K, V]) change(key K, r *row[V]) {
	if !r.changed {
		r.changed = true
		c.changed = append(c.changed, key)
	}
}

// flush writes what changed and forgets everything, unless that is little.
func (c *Cache[K, V]) flush() error {
	for _, key := range c.changed {
		r := c.rows[key]
		if err := c.Write(key, &r.value); err != nil {
			return err
		}
		r.changed = false
	}
	c.changed = c.changed[:0]
	if len(c.rows) > c.Keep {
		clear(c.rows)
	}
	return nil
}
