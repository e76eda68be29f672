package metrics

import (
	"testing"

	"snowglobe/sim"
)

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	var moment sim.Moment
	for i := range 100_000 {
		m.put(moment, i, &page{text: make([]byte, i%3000)})
		if m.get(moment, i) == nil {
			t.Fatalf("answer %d is not kept", i)
		}
		if i%997 > 0 {
			continue
		}
		kept := 0
		for _, p := range m.pages {
			kept += len(p.text) + keptWith
		}
		if kept > mostKept {
			t.Fatalf("after %d answers %d bytes are kept", i, kept)
		}
	}
}
