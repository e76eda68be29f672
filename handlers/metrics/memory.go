package metrics

import (
	"bytes"
	"encoding/json"
	"sync"

	"snowglobe/handlers"
	"snowglobe/sim"
)

const (
	mostKept = 8 << 20 // bytes of answers that stay in memory,
	keptWith = 512     // of which each has about so many beside its text
)

// memory holds the answers of the present moment: with a new block or a moved clock it begins anew.
type memory struct {
	world *sim.World

	mu     sync.Mutex
	moment sim.Moment
	pages  map[any]*page // by query
	size   int           // bytes
}

// page is an answer without what closes it, and where the next page begins, nil after the last one.
type page struct{ text, next []byte }

// opened is the page with an answer that has no next page.
func opened(answer any) (*page, error) {
	text, err := json.Marshal(answer)
	return &page{text: bytes.TrimSuffix(text, []byte{'}'})}, err
}

// answer is a page with the token of the next one, which is empty after the last one.
type answer struct {
	*page
	token string
}

// WriteJSON writes the page, then the token.
func (a answer) WriteJSON(b *bytes.Buffer) error {
	b.Write(a.text)
	if a.token != "" {
		b.WriteString(`,"nextPageToken":"` + a.token + `"`)
	}
	return b.WriteByte('}')
}

// answer is the page that a query asks for, remembered or read. Two queries that are equal must ask for the same.
func (m *memory) answer(r *handlers.Request, query any, read func() (*page, error)) (any, error) {
	moment, settled := m.world.Moment()
	p := m.get(moment, query)
	if p == nil || !settled {
		var err error
		if p, err = read(); err != nil {
			return nil, err
		}
		// What was read while the world changed may be of before or after.
		if after, _ := m.world.Moment(); settled && after == moment {
			m.put(moment, query, p)
		}
	}
	a := answer{page: p}
	if p.next != nil {
		a.token = r.NextPageToken(p.next)
	}
	return a, nil
}

func (m *memory) get(moment sim.Moment, query any) *page {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moment != moment {
		return nil
	}
	return m.pages[query]
}

func (m *memory) put(moment sim.Moment, query any, p *page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := len(p.text) + keptWith
	if m.size += size; m.moment != moment || m.pages == nil || m.size > mostKept {
		m.moment, m.pages, m.size = moment, map[any]*page{}, size
	}
	m.pages[query] = p
}
