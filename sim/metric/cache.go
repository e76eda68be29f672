package metric

// Cache holds rows of one table while they change, so that each is read and written once however many blocks touch it.
type Cache[K comparable, V any] struct {
	Read  func(K) (row V, ok bool, err error)
	Write func(K, *V) error
	Keep  int // how many rows flush keeps at most, for what is added next

	rows  map[K]*row[V]
	order []K // in which rows came, which is the order of writing
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
	c.order = append(c.order, key)
	return r, nil
}

// flush writes what changed and forgets everything, unless that is little.
func (c *Cache[K, V]) flush() error {
	for _, key := range c.order {
		if r := c.rows[key]; r.changed {
			if err := c.Write(key, &r.value); err != nil {
				return err
			}
			r.changed = false
		}
	}
	if len(c.order) <= c.Keep {
		return nil
	}
	clear(c.rows)
	c.order = c.order[:0]
	return nil
}
