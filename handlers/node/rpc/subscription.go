package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/rpc"
)

// ID names a filter, or a connection's subscription.
type ID string

// NewID returns an id that nobody can guess.
func NewID() ID { return ID(rpc.NewID()) }

// Subscription is the result of a method that sends events until the client leaves or unsubscribes.
type Subscription struct {
	run func(ctx context.Context, notify func(event any) error) error
}

// Subscribe starts run, which sends events, once the client knows its subscription. run ends with its context. An error of its own closes
// the connection, so that the client learns that it missed something.
func Subscribe(run func(ctx context.Context, notify func(event any) error) error) *Subscription {
	return &Subscription{run}
}

var errNoSubscription = errors.New("subscription not found")

// subscriptions holds a connection's subscriptions.
type subscriptions struct {
	mu   sync.Mutex
	ends map[ID]context.CancelFunc
}

func (s *subscriptions) add(id ID, end context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = map[ID]context.CancelFunc{}
	}
	s.ends[id] = end
}

// end ends a subscription and reports whether it existed.
func (s *subscriptions) end(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, found := s.ends[id]
	if found {
		end()
		delete(s.ends, id)
	}
	return found
}

// subscriptionNameOf returns the first argument of a subscribing call.
func subscriptionNameOf(params json.RawMessage) (string, error) {
	text := skipSpace(params)
	if len(text) == 0 || text[0] != '[' {
		return "", &Error{Code: codeParams, Message: "non-array args"}
	}
	for item := range elements(text) {
		var name string
		if item[0] == '"' && json.Unmarshal(item, &name) == nil {
			return name, nil
		}
		break
	}
	return "", &Error{Code: codeParams, Message: "expected subscription name as first argument"}
}

// subscribe prepares a subscription, which starts once its call was answered.
func (p *positional) subscribe(x *exchange, ctx context.Context, c *Call) (any, error) {
	if x.conn == nil {
		return nil, errNotifications
	}
	name, err := subscriptionNameOf(c.Params)
	if err != nil {
		return nil, err
	}
	namespace, _, _ := strings.Cut(c.Method, "_")
	m := p.subscriptions[namespace+"_"+name]
	if m == nil {
		return nil, &Error{Code: codeMethod, Message: fmt.Sprintf("no %q subscription in %s namespace", name, namespace)}
	}
	result, err := m.call(ctx, c.Params)
	s, ok := result.(*Subscription)
	if err != nil || !ok {
		return nil, err
	}
	id := NewID()
	x.begin = append(x.begin, x.conn.subscribe(id, namespace, name, s))
	return id, nil
}

// unsubscribed is the signature of every unsubscribe method.
var unsubscribed = &signature{params: []reflect.Type{reflect.TypeFor[ID]()}}

// unsubscribe ends a subscription.
func (p *positional) unsubscribe(x *exchange, c *Call) (any, error) {
	args, err := unsubscribed.arguments(c.Params)
	if err != nil {
		return nil, &Error{Code: codeParams, Message: err.Error()}
	}
	if x.conn == nil || !x.conn.subscriptions.end(ID(args[0].String())) {
		return nil, errNoSubscription
	}
	return true, nil
}
