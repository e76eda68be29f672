package handlers

import (
	"bytes"
	"net/http"

	"github.com/ethereum/go-ethereum/common/lru"
)

// Bounds of the answers that are kept: all together, one, and the target that asked for it.
const (
	keptAnswers = 8 << 20
	keptAnswer  = keptAnswers / 32
	keptTarget  = 1024
)

// question is all that an answer depends on.
type question struct {
	operation    *operation
	dialect      Dialect
	base, target string
	revision     int64 // of the world
	unix         int64 // its clock
}

// memo keeps the answers that were given lately. A change of the world or of its clock makes new questions of the same
// requests, so an answer is never older than what it tells of.
type memo struct {
	answers *lru.SizeConstrainedCache[question, []byte]
}

func newMemo() *memo { return &memo{lru.NewSizeConstrainedCache[question, []byte](keptAnswers)} }

// question is what a request asks, and whether its answer lasts as long as the world stays as it is.
func (x *exchange) question(r *Request) (question, bool) {
	o := &x.server.opts
	if o.Revision == nil || x.op.Live || x.op.Answer == nil || x.op.Method != http.MethodGet || len(r.HTTP.URL.Path)+len(r.HTTP.URL.RawQuery) > keptTarget {
		return question{}, false
	}
	return question{x.op, x.dialect, r.BaseURL(), r.HTTP.URL.Path + "?" + r.HTTP.URL.RawQuery, o.Revision(), o.Clock.Unix()}, true
}

// answer is the body of the JSON that was the answer before.
func (m *memo) answer(q question) ([]byte, bool) { return m.answers.Get(q) }

func (m *memo) keep(q question, body []byte) {
	if len(body) <= keptAnswer {
		m.answers.Add(q, bytes.Clone(body))
	}
}
