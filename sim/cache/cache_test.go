package cache

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type row struct {
	name  string
	parts [][]byte
	sum   *big.Int
	next  *row
	more  any
	named map[string]*row
}

// TestSizes compares the counted sizes of values of several types with the bytes they contain.
func TestSizes(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		value any
		least int
	}{
		"a number": {7, 0}, "nothing": {(*row)(nil), 0}, "a text": {text, 1000}, "bytes": {[]byte(text), 1000},
		"a struct":      {row{name: text}, 1000},
		"a pointer":     {&row{name: text}, 1000 + int(reflect.TypeFor[row]().Size())},
		"parts":         {row{parts: [][]byte{[]byte(text), []byte(text)}}, 2048},
		"a big number":  {row{sum: new(big.Int).Lsh(big.NewInt(1), 8000)}, 1000},
		"a chain":       {&row{next: &row{next: &row{name: text}}}, 1000 + 3*int(reflect.TypeFor[row]().Size())},
		"an interface":  {row{more: &row{name: text}}, 1000},
		"a map":         {row{named: map[string]*row{text: {name: text}}}, 2000},
		"long keys":     {map[string]int{text: 1}, 1000},
		"long values":   {map[int]string{1: text}, 1000},
		"large slots":   {map[[1000]byte][1000]byte{{1}: {}, {2}: {}}, 4000},
		"room for more": {make([]byte, 1, 1000), 1000},
		"an array":      {[2]string{text, text}, 2000},
	} {
		if got := sizerOf(reflect.TypeOf(c.value)).beyond(c.value); got < c.least || got > c.least+c.least/4+200 {
			t.Errorf("%s: %d bytes, want %d", name, got, c.least)
		}
	}
}

// TestTheBudgetHolds fills caches of several kinds, with long keys and large values, and reads some again.
func TestTheBudgetHolds(t *testing.T) {
	const limit = 1 << 20
	m := NewMemory(limit)
	texts, rows, numbers := NewIn[string, []byte](m), NewIn[int, *row](m), NewIn[int, int](m)
	random := rand.New(rand.NewPCG(1, 2))
	kept := func() (sum int) {
		for key, e := range texts.entries {
			sum += len(key) + len(e.value)
		}
		for _, e := range rows.entries {
			sum += len(e.value.name)
		}
		return sum
	}
	for i := range 4_000 {
		switch random.IntN(4) {
		case 0:
			texts.Add(strings.Repeat("k", random.IntN(60_000)), make([]byte, random.IntN(5_000)))
		case 1:
			rows.Add(random.IntN(50), &row{name: strings.Repeat("n", random.IntN(3_000))})
		case 2:
			numbers.Add(i, i)
		case 3:
			rows.Get(random.IntN(50))
		}
		if used := m.Used(); used > limit {
			t.Fatalf("%d bytes are used, the limit is %d", used, limit)
		}
	}
	if sum := kept(); sum > m.Used() || m.Used() < limit/2 {
		t.Errorf("%d bytes are counted for %d in keys and values", m.Used(), sum)
	}
	if n := len(texts.entries) + len(rows.entries) + len(numbers.entries); n == 0 || n != ring(m) {
		t.Errorf("%d entries, %d in the ring", n, ring(m))
	}
}

func ring(m *Memory) (n int) {
	for l := m.hand; l != nil; l = l.next {
		if n++; l.next == m.hand {
			break
		}
	}
	return n
}

// TestWhatIsAskedForStays adds far more entries than fit while some are used repeatedly.
func TestWhatIsAskedForStays(t *testing.T) {
	c := NewIn[string, []byte](NewMemory(1 << 16))
	for i := range 10 {
		c.Add(fmt.Sprint("wanted ", i), make([]byte, 100))
	}
	for i := range 10_000 {
		c.Add(fmt.Sprint(i), make([]byte, 100))
		for i := range 10 {
			if _, found := c.Get(fmt.Sprint("wanted ", i)); !found {
				t.Fatalf("entry %d is gone", i)
			}
		}
	}
	c.Add("wanted 0", []byte("new"))
	if value, _ := c.Get("wanted 0"); string(value) != "new" {
		t.Errorf("%q after another was added under its key", value)
	}
	c.Add("large", make([]byte, 1<<14))
	if _, found := c.Get("large"); found {
		t.Error("an entry that takes a quarter of the memory is kept")
	}
}

// TestAllThatFitsStays: entries fill a memory to its last byte, and one of them takes as much as an eighth of it.
func TestAllThatFitsStays(t *testing.T) {
	first := NewMemory(1 << 20)
	NewIn[int, int](first).Add(0, 0)
	size := first.Used()
	if least := int(reflect.TypeFor[entry[int, int]]().Size() + reflect.TypeFor[[2]int]().Size()); size < least {
		t.Errorf("an entry takes %d bytes, at least %d", size, least)
	}
	for _, c := range []struct{ limit, added, kept int }{{16 * size, 16, 16}, {16*size - 1, 16, 15}, {16 * size, 17, 16}, {8 * size, 1, 1}, {8*size - 1, 1, 0}} {
		m := NewMemory(c.limit)
		numbers := NewIn[int, int](m)
		for i := range c.added {
			numbers.Add(i, i)
		}
		if n := len(numbers.entries); n != c.kept || m.Used() != n*size {
			t.Errorf("%d of %d entries of %d bytes stay in %d, which take %d", n, c.added, size, c.limit, m.Used())
		}
		if numbers.clear(); m.Used() != 0 || ring(m) != 0 {
			t.Errorf("%d bytes in %d entries are left of none", m.Used(), ring(m))
		}
	}
}

// TestAGroupIsEmptyWhileSuspended: nothing that was added before or meanwhile is found later, and other groups keep theirs.
func TestAGroupIsEmptyWhileSuspended(t *testing.T) {
	before, limit := InUse()
	g, other := new(Group), new(Group)
	names, sized, apart, forever := New[int, string](g), NewCounted[int](g, func(size int) int { return size }), New[int, int](other), New[int, int](nil)
	found := func() (all []bool) {
		_, name := names.Get(1)
		_, counted := sized.Get(1)
		_, alone := apart.Get(1)
		_, always := forever.Get(1)
		return []bool{name, counted, alone, always}
	}
	add := func() {
		names.Add(1, "name")
		sized.Add(1, 1000)
	}
	add()
	apart.Add(1, 1)
	forever.Add(1, 1)
	used, _ := InUse()
	if sized.Add(2, Largest); !slices.Equal(found(), []bool{true, true, true, true}) || used < before+1000 || limit != Budget {
		t.Fatalf("%v, %d of %d bytes are used", found(), used-before, limit)
	}
	if _, there := sized.Get(2); there {
		t.Error("a value that counts too many bytes is kept")
	}
	g.Suspend()
	if add(); !slices.Equal(found(), []bool{false, false, true, true}) {
		t.Errorf("%v while suspended", found())
	}
	if g.Resume(); !slices.Equal(found(), []bool{false, false, true, true}) {
		t.Errorf("%v after it", found())
	}
	if add(); !slices.Equal(found(), []bool{true, true, true, true}) {
		t.Errorf("%v are found when they are added again", found())
	}
	g.Suspend()
	other.Suspend()
	forever.clear()
	if left, _ := InUse(); left != before {
		t.Errorf("%d bytes are used for nothing", left-before)
	}
}

// TestSomeOfWhatIsAskedForInTurnStays reads 1.5 times as much as fits, again and again in the same order.
func TestSomeOfWhatIsAskedForInTurnStays(t *testing.T) {
	const limit, bytes, rounds = 1 << 20, 1000, 10
	c := NewIn[int, []byte](NewMemory(limit))
	found := 0
	for range rounds {
		for key := range limit / bytes * 3 / 2 {
			if _, there := c.Get(key); there {
				found++
			} else {
				c.Add(key, make([]byte, bytes))
			}
		}
	}
	if asked := rounds * limit / bytes * 3 / 2; found < asked/5 {
		t.Errorf("%d of %d entries are found", found, asked)
	}
}

// TestWhatIsAddedAgainIsKept: a cache of repeated values forgets what is added once, and keeps what is added twice, even if some others are added in
// between.
func TestWhatIsAddedAgainIsKept(t *testing.T) {
	g := new(Group)
	c, other := NewRepeated[int, string](g), NewRepeated[int, string](g)
	const keys, between = 1_000, 100
	for key := range keys {
		c.Add(key, "first")
		if _, there := c.Get(key); there {
			t.Fatalf("%d is kept at once", key)
		}
		if other.Add(key, "other"); key >= between {
			c.Add(key-between, "second")
		}
	}
	kept := 0
	for key := range keys - between {
		if value, there := c.Get(key); there && value == "second" {
			kept++
		}
	}
	if kept < keys*3/4 {
		t.Errorf("%d of %d values are kept", kept, keys-between)
	}
}
