package rest

import (
	"context"
	"math/big"
	"net/http"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/rest/schema"
)

// Request is what a handler works with: parameters that are parsed and allowed, the body, the page and the dialect.
type Request struct {
	HTTP *http.Request

	server   *Server
	op       *operation
	values   []any
	given    []bool
	body     any
	dialect  schema.Dialect
	base     string
	prefixed bool

	position []byte
	resumed  bool
}

// Context ends when the client goes away.
func (r *Request) Context() context.Context { return r.HTTP.Context() }

// Dialect is the one that the answer must be rendered in.
func (r *Request) Dialect() schema.Dialect { return r.dialect }

func (r *Request) value(name string) any {
	for i, p := range r.op.params {
		if p.Name == name {
			return r.values[i]
		}
	}
	return nil
}

// Given reports whether the client sent the parameter; a default does not count.
func (r *Request) Given(name string) bool {
	for i, p := range r.op.params {
		if p.Name == name {
			return r.given[i]
		}
	}
	return false
}

// Value is the parameter's value as the type of its kind, or the zero value if it was not given and has no default.
func Value[T any](r *Request, name string) T {
	v, _ := r.value(name).(T)
	return v
}

// List is the values of a list parameter, nil if it was not given.
func List[T any](r *Request, name string) []T {
	return typed[T](r.value(name))
}

func typed[T any](value any) []T {
	items, _ := value.([]any)
	list := make([]T, 0, len(items))
	for _, item := range items {
		if v, ok := item.(T); ok {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// Body is the decoded JSON body; T is the type that the operation declares.
func Body[T any](r *Request) *T {
	b, ok := r.body.(*T)
	if !ok {
		return new(T)
	}
	return b
}

// Int is an integer, a timestamp or a page size.
func (r *Request) Int(name string) int64 { return Value[int64](r, name) }

// Text is a text, an enum value, a network, a currency or a UUID.
func (r *Request) Text(name string) string { return Value[string](r, name) }

// Bool is a boolean.
func (r *Request) Bool(name string) bool { return Value[bool](r, name) }

// Amount is an integer of up to 256 bits, nil if absent.
func (r *Request) Amount(name string) *big.Int { return Value[*big.Int](r, name) }

// Number is a decimal number, exact, nil if absent.
func (r *Request) Number(name string) *big.Rat { return Value[*big.Rat](r, name) }

// Address is an EVM address.
func (r *Request) Address(name string) common.Address { return Value[common.Address](r, name) }

// Hash is a 32-byte hash.
func (r *Request) Hash(name string) common.Hash { return Value[common.Hash](r, name) }

// Chain is an EVM chain's id.
func (r *Request) Chain(name string) schema.ChainID { return Value[schema.ChainID](r, name) }

// Block is an EVM block's number or hash.
func (r *Request) Block(name string) schema.BlockID { return Value[schema.BlockID](r, name) }
