package metric

// Cache holds rows of one table while they change, so that each is read and written once, however many blocks touch it.
type Cache[K comparable, V any] struct {
	Read  func(K) (row V, ok bool, err error)
	Write func(K, *V) error
	Keep  int // rows that flush may leave in memory for later additions

	numbers map[K]int
	rows    [][]row[K, V] // by number, in chunks that stay where they are
	changed []int         // in order of first change, which is the order of writing
}

const chunk = 256

type row[K comparable, V any] struct {
	key            K
	number         int
	value          V
	known, changed bool // whether the file has it, or will; whether it must be written
}

func (c *Cache[K, V]) size() int { return len(c.numbers) }

func (c *Cache[K, V]) at(number int) *row[K, V] { return &c.rows[number/chunk][number%chunk] }

// row returns a key's row, or a new one that is not known.
func (c *Cache[K, V]) row(key K, fresh bool) (*row[K, V], error) {
	if number, there := c.numbers[key]; there {
		return c.at(number), nil
	}
	r := row[K, V]{key: key, number: len(c.numbers)}
	if !fresh {
		var err error
		if r.value, r.known, err = c.Read(key); err != nil {
			return nil, err
		}
	}
	if c.numbers == nil {
		c.numbers = map[K]int{}
	}
	c.numbers[key] = r.number
	if r.number%chunk == 0 {
		c.rows = append(c.rows, make([]row[K, V], 0, chunk))
	}
	last := &c.rows[r.number/chunk]
	*last = append(*last, r)
	return c.at(r.number), nil
}

// change marks a row to be written.
func (c *Cache[K, V]) change(r *row[K, V]) {
	if !r.changed {
		r.changed = true
		c.changed = append(c.changed, r.number)
	}
}

// flush writes the changes and forgets everything, unless that is little.
func (c *Cache[K, V]) flush() error {
	for _, number := range c.changed {
		r := c.at(number)
		if err := c.Write(r.key, &r.value); err != nil {
			return err
		}
		r.changed = false
	}
	c.changed = c.changed[:0]
	if c.size() > c.Keep {
		clear(c.numbers)
		c.rows = nil
	}
	return nil
}
