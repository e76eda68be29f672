package rpc

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
	"snowglobe/sim/cache"
)

// polled counts how often its methods are called.
type polled struct {
	calls     int
	meanwhile func() // happens during a call
}

func (p *polled) Get(text string) string {
	p.calls++
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return text
}

func (p *polled) Fail() error {
	p.calls++
	return errInvalid
}

// Count is Get for services.
func (p *polled) Count(_ *http.Request, args *FuzzedArgs, reply *FuzzedReply) error {
	p.calls++
	reply.Said = *args
	return nil
}

// TestResultsAreRemembered sends each call twice, and then with other ids, in batches and after changes of all kinds. Over both protocols, the method
// is not called again while the revision is the same.
func TestResultsAreRemembered(t *testing.T) {
	at, p := Revision{}, &polled{}
	memory := func() *Memory {
		return NewMemory(new(cache.Group), map[string]bool{"t_get": true, "t_fail": true, "s.count": true}, func(context.Context) (Revision, error) { return at, nil })
	}
	chain := New(Options{MaxBody: 1 << 20, Memory: memory(), Permit: &permit.Rule{}}, Namespace{Name: "t", Methods: p})
	services, err := NewServices(Options{MaxBody: 1 << 20, Memory: memory()}, Service{"s", p})
	if err != nil {
		t.Fatal(err)
	}
	get, count := `{"jsonrpc":"2.0","id":%s,"method":"t_get","params":[%q]}`, `{"jsonrpc":"2.0","id":%s,"method":"s.count","params":{"name":%q}}`
	long := strings.Repeat("x", longestParams)
	for _, c := range []struct {
		name   string
		server *Server
		change func()
		body   string
		calls  int // that reach the method
	}{
		{"first", chain, nil, fmt.Sprintf(get, "1", "a"), 1},
		{"second, which is kept", chain, nil, fmt.Sprintf(get, "1", "a"), 1},
		{"third", chain, nil, fmt.Sprintf(get, "1", "a"), 0},
		{"another id", chain, nil, fmt.Sprintf(get, `"b"`, "a"), 0},
		{"in a batch", chain, nil, "[" + fmt.Sprintf(get, "1", "a") + "," + fmt.Sprintf(get, "2", "b") + "]", 1},
		{"commit", chain, func() { at.Commits++ }, fmt.Sprintf(get, "1", "a"), 1},
		{"again", chain, nil, fmt.Sprintf(get, "1", "a"), 0},
		{"change of state", chain, func() { at.Changes++ }, fmt.Sprintf(get, "1", "a"), 1},
		{"head", chain, func() { at.Head[0]++ }, fmt.Sprintf(get, "1", "a"), 1},
		{"clock", chain, func() { at.Unix++ }, fmt.Sprintf(get, "1", "a"), 1},
		{"pending, twice", chain, nil, "[" + fmt.Sprintf(get, "1", "pending") + "," + fmt.Sprintf(get, "1", "pending") + "," + fmt.Sprintf(get, "1", "pending") + "]", 3},
		{"escaped", chain, nil, "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"t_get","params":["\u0061"]},`, 2) + `{"jsonrpc":"2.0","id":1,"method":"t_get","params":["\u0061"]}]`, 3},
		{"too long", chain, nil, "[" + strings.Repeat(fmt.Sprintf(get, "1", long)+",", 2) + fmt.Sprintf(get, "1", long) + "]", 3},
		{"errors", chain, nil, "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"t_fail"},`, 2) + `{"jsonrpc":"2.0","id":1,"method":"t_fail"}]`, 3},
		{"service", services, nil, fmt.Sprintf(count, "1", "a"), 1},
		{"service again", services, nil, fmt.Sprintf(count, "1", "a"), 1},
		{"service remembers", services, nil, fmt.Sprintf(count, "3", "a"), 0},
	} {
		if c.change != nil {
			c.change()
		}
		before := p.calls
		fresh := answered(c.server, http.MethodPost, "/", "application/json", c.body).Body.String()
		if got := p.calls - before; got != c.calls {
			t.Errorf("%s: the method was called %d times, want %d: %s", c.name, got, c.calls, fresh)
		}
		if !strings.Contains(fresh, `"result":`) != (c.name == "errors") {
			t.Errorf("%s: %s", c.name, fresh)
		}
	}
	if n := chain.Repeated() + services.Repeated(); n != 5 {
		t.Errorf("%d results were given again", n)
	}
}

// TestWhatChangesMeanwhileIsNotKept changes the world during a call whose result could be cached: the call may have read the earlier state, and after
// a revert the revision is the same as before.
func TestWhatChangesMeanwhileIsNotKept(t *testing.T) {
	at, p := Revision{}, &polled{}
	s := New(Options{MaxBody: 1 << 20, Memory: NewMemory(new(cache.Group), map[string]bool{"t_get": true}, func(context.Context) (Revision, error) { return at, nil })}, Namespace{Name: "t", Methods: p})
	p.meanwhile = func() { at.Head[0]++ }
	for range 5 {
		at = Revision{}
		answered(s, http.MethodPost, "/", "application/json", `{"jsonrpc":"2.0","id":1,"method":"t_get","params":["a"]}`)
	}
	if p.calls != 5 {
		t.Errorf("%d of 5 calls reached the method", p.calls)
	}
}

// TestCallsAskedAgain: repeated calls are recognised among any number of single ones.
func TestCallsAskedAgain(t *testing.T) {
	m, known := NewMemory(new(cache.Group), nil, nil), 0
	for i := range 10 * lastAsked {
		if m.askedBefore(&memoryKey{method: fmt.Sprint(i)}) {
			t.Errorf("call %d was not asked before", i)
		}
		if m.askedBefore(&memoryKey{method: "t_get"}) {
			known++
		}
	}
	if known < 9*lastAsked {
		t.Errorf("a call that was asked all the time was known %d times of %d", known, 10*lastAsked)
	}
}
