package rest_test

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// counted serves operations that return how often they have run.
type counted struct {
	*rest.Server
	clock    *sim.Clock
	revision int64
	calls    int
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	c := &counted{clock: sim.NewClock(noon)}
	c.Server = newServer(t, func(o *rest.Options) { o.Clock, o.Revision = c.clock, func() int64 { return c.revision } })
	count := func(size int) func(*rest.Request) (any, error) {
		return func(r *rest.Request) (any, error) {
			c.calls++
			if r.Text("text") == "wrong" {
				return nil, rest.NotFound("call %d", c.calls)
			}
			return echo{[]string{strconv.Itoa(c.calls), strings.Repeat("x", size)}}, nil
		}
	}
	text := []rest.Param{{Name: "text", Kind: schema.KindText}}
	err := c.Register(rest.Data,
		rest.Operation{ID: "count", Path: "/v1/count", Params: text, Answer: reflect.TypeFor[echo](), Handle: count(0)},
		rest.Operation{ID: "countLive", Path: "/v1/countLive", Live: true, Answer: reflect.TypeFor[echo](), Handle: count(0)},
		rest.Operation{ID: "countLarge", Path: "/v1/countLarge", Answer: reflect.TypeFor[echo](), Handle: count(1 << 20)},
		rest.Operation{ID: "countPost", Method: http.MethodPost, Path: "/v1/count", Answer: reflect.TypeFor[echo](), Handle: count(0)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnswersLastAsLongAsTheWorldStays requests twice after each change, and also responses that are never cached.
func TestAnswersLastAsLongAsTheWorldStays(t *testing.T) {
	c := newCounted(t)
	for _, step := range []struct {
		name, method, target string
		change               func()
		header               []string
		calls                int // for two requests
	}{
		{"first", "GET", "/v1/count", nil, nil, 1},
		{"a commit", "GET", "/v1/count", func() { c.revision++ }, nil, 1},
		{"the clock", "GET", "/v1/count", func() { c.clock.Set(noon.Add(time.Second)) }, nil, 1},
		{"another query", "GET", "/v1/count?text=a", nil, nil, 1},
		{"another dialect", "GET", "/upstream/v1/count", nil, nil, 1},
		{"another host", "GET", "http://globe.example/v1/count", nil, nil, 1},
		{"the same again", "GET", "/v1/count", nil, nil, 0},
		{"without the body", "HEAD", "/v1/count", nil, nil, 0},
		{"compressed", "GET", "/v1/count", nil, []string{"Accept-Encoding", "gzip"}, 0},
		{"an error", "GET", "/v1/count?text=wrong", nil, nil, 2},
		{"a live operation", "GET", "/v1/countLive", nil, nil, 2},
		{"too large to keep", "GET", "/v1/countLarge", nil, nil, 2},
		{"a long target", "GET", "/v1/count?rltoken=" + strings.Repeat("a", 2000), nil, nil, 2},
		{"a long host", "GET", "http://" + strings.Repeat("a", 2000) + ".example/v1/count", nil, nil, 2},
		{"what changes the world", "POST", "/v1/count", nil, nil, 2},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.change != nil {
				step.change()
			}
			before := c.calls
			first, second := ask(t, c.Server, step.method, step.target, "", step.header...), ask(t, c.Server, step.method, step.target, "", step.header...)
			if got := c.calls - before; got != step.calls {
				t.Errorf("carried out %d times, want %d", got, step.calls)
			}
			if step.calls < 2 && (first.Body.String() != second.Body.String() || !reflect.DeepEqual(first.Header()["Etag"], second.Header()["Etag"])) {
				t.Errorf("%s %v, then %s %v", first.Body, first.Header(), second.Body, second.Header())
			}
		})
	}
}
