package artifacts

import (
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// signatures finds functions, errors and events by what calls, reverts and logs begin with.
type signatures struct {
	methods map[[4]byte][]of[abi.Method]
	errors  map[[4]byte][]of[abi.Error]
	events  map[common.Hash][]of[abi.Event]
}

// of is an entry of an interface with the name of its contract.
type of[T any] struct {
	entry    T
	contract string
}

func newSignatures() *signatures {
	return &signatures{map[[4]byte][]of[abi.Method]{}, map[[4]byte][]of[abi.Error]{}, map[common.Hash][]of[abi.Event]{}}
}

// mostAlike bounds the entries with the same selector.
const mostAlike = 4

func (s *signatures) add(all *abi.ABI, contract string) {
	for _, m := range all.Methods {
		if id := [4]byte(m.ID); len(s.methods[id]) < mostAlike {
			s.methods[id] = append(s.methods[id], of[abi.Method]{m, contract})
		}
	}
	for _, e := range all.Errors {
		if id := [4]byte(e.ID[:4]); len(s.errors[id]) < mostAlike {
			s.errors[id] = append(s.errors[id], of[abi.Error]{e, contract})
		}
	}
	for _, e := range all.Events {
		if len(s.events[e.ID]) < mostAlike {
			s.events[e.ID] = append(s.events[e.ID], of[abi.Event]{e, contract})
		}
	}
}

// Decoded is a call, error or event with its values.
type Decoded struct {
	Contract  string  // that declares it; empty for one of a standard
	Name      string  // such as transfer
	Signature string  // such as transfer(address,uint256)
	Values    []Value // by parameter
}

// Value is a decoded value.
type Value struct {
	Name, Type string
	Value      any // as go-ethereum's package abi decodes it
}

// String writes the name with its values: transfer(to: 0x…, value: 5).
func (d *Decoded) String() string {
	all := make([]string, len(d.Values))
	for i, v := range d.Values {
		all[i] = v.String()
	}
	return d.Name + "(" + strings.Join(all, ", ") + ")"
}

func (v Value) String() string {
	if v.Name == "" {
		return Text(v.Value)
	}
	return v.Name + ": " + Text(v.Value)
}

// Values pairs decoded values with their parameters.
func Values(inputs abi.Arguments, values []any) []Value {
	all := make([]Value, len(values))
	for i, v := range values {
		all[i] = Value{inputs[i].Name, inputs[i].Type.String(), v}
	}
	return all
}

// ownSignatures returns the signatures of one contract.
func (c *Contract) ownSignatures() *signatures {
	if c == nil {
		return newSignatures()
	}
	return c.own()
}

// allSignatures returns the signatures of all contracts.
func (r *Registry) allSignatures() *signatures {
	if r == nil {
		return newSignatures()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	if r.signatures == nil {
		r.signatures = newSignatures()
		for _, c := range r.all {
			r.signatures.add(c.Interface(), c.Name)
		}
	}
	return r.signatures
}

// each calls a function with the signatures of a contract, of all contracts and of the standards, until it returns something.
func (r *Registry) each(c *Contract, find func(*signatures) *Decoded) *Decoded {
	if d := find(c.ownSignatures()); d != nil {
		return d
	}
	if d := find(r.allSignatures()); d != nil {
		return d
	}
	return find(standards())
}

// Call decodes a call of a contract, which may be nil for an unknown one. It returns nil if no known function has the selector and such arguments.
func (r *Registry) Call(c *Contract, input []byte) *Decoded {
	if len(input) < 4 {
		return nil
	}
	return r.each(c, func(s *signatures) *Decoded {
		for _, m := range s.methods[[4]byte(input)] {
			if values, err := m.entry.Inputs.Unpack(input[4:]); err == nil {
				return &Decoded{m.contract, m.entry.RawName, m.entry.Sig, Values(m.entry.Inputs, values)}
			}
		}
		return nil
	})
}

// Error decodes the data of a revert with a custom error.
func (r *Registry) Error(c *Contract, data []byte) *Decoded {
	if len(data) < 4 {
		return nil
	}
	return r.each(c, func(s *signatures) *Decoded {
		for _, e := range s.errors[[4]byte(data)] {
			if values, err := e.entry.Inputs.Unpack(data[4:]); err == nil {
				return &Decoded{e.contract, e.entry.Name, e.entry.Sig, Values(e.entry.Inputs, values)}
			}
		}
		return nil
	})
}

// Event decodes a log of a contract.
func (r *Registry) Event(c *Contract, topics []common.Hash, data []byte) *Decoded {
	if len(topics) == 0 {
		return nil
	}
	return r.each(c, func(s *signatures) *Decoded {
		for _, e := range s.events[topics[0]] {
			if values, err := eventValues(&e.entry, topics[1:], data); err == nil {
				return &Decoded{e.contract, e.entry.RawName, e.entry.Sig, values}
			}
		}
		return nil
	})
}

func eventValues(e *abi.Event, topics []common.Hash, data []byte) ([]Value, error) {
	var indexed abi.Arguments
	for _, a := range e.Inputs {
		if a.Indexed {
			indexed = append(indexed, a)
		}
	}
	if len(indexed) != len(topics) {
		return nil, fmt.Errorf("%d topics for %d indexed arguments", len(topics), len(indexed))
	}
	fromTopics := make([]any, 0, len(indexed))
	for i, a := range indexed {
		a.Name = "a" // of its own map
		values := map[string]any{}
		if err := abi.ParseTopicsIntoMap(values, abi.Arguments{a}, topics[i:i+1]); err != nil {
			return nil, err
		}
		fromTopics = append(fromTopics, values["a"])
	}
	fromData, err := e.Inputs.NonIndexed().Unpack(data)
	if err != nil {
		return nil, err
	}
	var all []Value
	for _, a := range e.Inputs {
		from := &fromData
		if a.Indexed {
			from = &fromTopics
		}
		all = append(all, Value{a.Name, a.Type.String(), (*from)[0]})
		*from = (*from)[1:]
	}
	return all, nil
}

// Bounds of the text of one value.
const (
	mostText  = 400
	mostItems = 20
)

// Text writes a decoded value as Solidity would, long ones shortened.
func Text(v any) string {
	switch v := v.(type) {
	case common.Address:
		return v.Hex()
	case *big.Int:
		return v.String()
	case string:
		return shorten(strconv.Quote(v))
	case []byte:
		return shorten(hexutil.Encode(v))
	case bool:
		return strconv.FormatBool(v)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Array && r.Type().Elem().Kind() == reflect.Uint8:
		b := make([]byte, r.Len())
		reflect.Copy(reflect.ValueOf(b), r)
		return hexutil.Encode(b)
	case r.Kind() == reflect.Slice || r.Kind() == reflect.Array:
		var b strings.Builder
		for i := range min(r.Len(), mostItems) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(Text(r.Index(i).Interface()))
		}
		if r.Len() > mostItems {
			fmt.Fprintf(&b, ", … %d more", r.Len()-mostItems)
		}
		return shorten("[" + b.String() + "]")
	case r.Kind() == reflect.Struct:
		all := make([]string, r.NumField())
		for i := range all {
			all[i] = r.Type().Field(i).Tag.Get("json") + ": " + Text(r.Field(i).Interface())
		}
		return shorten("{" + strings.Join(all, ", ") + "}")
	}
	return fmt.Sprint(v)
}

func shorten(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + "…"
}

// clone returns the prefix and target of an ERC-1167 minimal proxy's code.
var cloneStart, cloneEnd = hexutil.MustDecode("0x363d3d373d3d3d363d73"), hexutil.MustDecode("0x5af43d82803e903d91602b57fd5bf3")

// CloneTarget returns the contract that a minimal proxy (ERC-1167) delegates to.
func CloneTarget(code []byte) (target common.Address, clone bool) {
	rest, starts := bytes.CutPrefix(code, cloneStart)
	if !starts || len(rest) < common.AddressLength || !bytes.HasPrefix(rest[common.AddressLength:], cloneEnd) {
		return target, false
	}
	return common.BytesToAddress(rest[:common.AddressLength]), true
}

// Slots of proxies (ERC-1967): Keccak-256 of eip1967.proxy.implementation and eip1967.proxy.beacon, less 1.
var (
	ImplementationSlot = common.HexToHash("0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc")
	BeaconSlot         = common.HexToHash("0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50")
)
