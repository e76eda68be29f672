package artifacts

import (
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// signatures finds functions, errors and events by what calls, reverts and logs begin with.
type signatures struct {
	methods, errors map[[4]byte][]signature
	events          map[common.Hash][]signature
}

// signature is that of a function, an error or an event of a contract's interface.
type signature struct {
	contract, name, text string
	inputs               abi.Arguments
}

func newSignatures() *signatures {
	return &signatures{map[[4]byte][]signature{}, map[[4]byte][]signature{}, map[common.Hash][]signature{}}
}

// mostAlike bounds the entries with the same selector.
const mostAlike = 4

func (s *signatures) add(all *abi.ABI, contract string) {
	for _, m := range all.Methods {
		keep(s.methods, [4]byte(m.ID), signature{contract, m.RawName, m.Sig, m.Inputs})
	}
	for _, e := range all.Errors {
		keep(s.errors, [4]byte(e.ID[:4]), signature{contract, e.Name, e.Sig, e.Inputs})
	}
	for _, e := range all.Events {
		keep(s.events, e.ID, signature{contract, e.RawName, e.Sig, e.Inputs})
	}
}

func keep[ID comparable](all map[ID][]signature, id ID, e signature) {
	if len(all[id]) < mostAlike {
		all[id] = append(all[id], e)
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
	return r.unpack(c, input, func(s *signatures) map[[4]byte][]signature { return s.methods })
}

// Error decodes the data of a revert with a custom error.
func (r *Registry) Error(c *Contract, data []byte) *Decoded {
	return r.unpack(c, data, func(s *signatures) map[[4]byte][]signature { return s.errors })
}

// unpack decodes data that begins with a selector.
func (r *Registry) unpack(c *Contract, data []byte, of func(*signatures) map[[4]byte][]signature) *Decoded {
	if len(data) < 4 {
		return nil
	}
	return r.each(c, func(s *signatures) *Decoded {
		for _, e := range of(s)[[4]byte(data)] {
			if values, err := e.inputs.Unpack(data[4:]); err == nil {
				return &Decoded{e.contract, e.name, e.text, Values(e.inputs, values)}
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
			if values, err := eventValues(e.inputs, topics[1:], data); err == nil {
				return &Decoded{e.contract, e.name, e.text, values}
			}
		}
		return nil
	})
}

func eventValues(inputs abi.Arguments, topics []common.Hash, data []byte) ([]Value, error) {
	indexed := slices.DeleteFunc(slices.Clone(inputs), func(a abi.Argument) bool { return !a.Indexed })
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
	fromData, err := inputs.NonIndexed().Unpack(data)
	if err != nil {
		return nil, err
	}
	var all []Value
	for _, a := range inputs {
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
