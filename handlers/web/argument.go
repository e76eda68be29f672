package web

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"

	"github.com/ethereum/go-ethereum/accounts/abi"
)

// fixedBytes makes a value of a type such as bytes32, filled up at its end.
func fixedBytes(t abi.Type, raw []byte) (any, error) {
	if len(raw) > t.Size {
		return nil, fmt.Errorf("expected at most %d bytes", t.Size)
	}
	v := reflect.New(t.GetType()).Elem()
	reflect.Copy(v, reflect.ValueOf(raw))
	return v.Interface(), nil
}

// sized makes a whole number of the type that the encoder expects.
func sized(t abi.Type, n *big.Int) (any, error) {
	bits := t.Size
	if t.T == abi.IntTy {
		bits--
	}
	if n.BitLen() > bits || t.T == abi.UintTy && n.Sign() < 0 {
		return nil, fmt.Errorf("%s does not fit into %s", clip(n.String(), 60), t.String())
	}
	v := reflect.New(t.GetType()).Elem()
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(n.Uint64())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(n.Int64())
	default:
		return n, nil
	}
	return v.Interface(), nil
}

// parseList reads a JSON array.
func parseList(t abi.Type, s string) (any, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(s), &items); err != nil {
		return nil, fmt.Errorf("expected a JSON array for %s", t.String())
	}
	if t.T == abi.ArrayTy && len(items) != t.Size {
		return nil, fmt.Errorf("expected %d items", t.Size)
	}
	v := reflect.New(t.GetType()).Elem()
	if t.T == abi.SliceTy {
		v.Set(reflect.MakeSlice(t.GetType(), len(items), len(items)))
	}
	for i, raw := range items {
		item := string(raw)
		var unquoted string
		if json.Unmarshal(raw, &unquoted) == nil {
			item = unquoted
		}
		value, err := parseArgument(*t.Elem, item)
		if err != nil {
			return nil, err
		}
		v.Index(i).Set(reflect.ValueOf(value))
	}
	return v.Interface(), nil
}
