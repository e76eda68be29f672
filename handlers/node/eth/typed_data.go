package eth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// typedData is structured data in the sense of EIP-712. ethers, viem and MetaMask send it as JSON text, web3.js as the object itself.
type typedData struct {
	Types       apitypes.Types `json:"types"`
	PrimaryType string         `json:"primaryType"`
	Domain      map[string]any `json:"domain"`
	Message     map[string]any `json:"message"`
}

// domainType is the name of the domain's type; as primary type, it requests a signature of the domain alone.
const domainType = "EIP712Domain"

// domainFields lists the possible fields of a domain, in EIP-712's order.
var domainFields = []apitypes.Type{
	{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"},
	{Name: "verifyingContract", Type: "address"}, {Name: "salt", Type: "bytes32"},
}

// UnmarshalJSON reads the object, or a text that contains it. Numbers keep every digit.
func (d *typedData) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		data = []byte(text)
	}
	type plain typedData
	values := json.NewDecoder(bytes.NewReader(data))
	values.UseNumber()
	if err := values.Decode((*plain)(d)); err != nil {
		return fmt.Errorf("typed data: %w", err)
	}
	if _, err := values.Token(); err != io.EOF {
		return errors.New("typed data: something follows the object")
	}
	return nil
}

// hash returns the hash to sign.
func (d *typedData) hash() ([]byte, error) {
	types := apitypes.Types{domainType: d.domainType()}
	maps.Copy(types, d.Types)
	if types[d.PrimaryType] == nil {
		return nil, fmt.Errorf("typed data: the primary type %q is not among the types", d.PrimaryType)
	}
	// HashStruct rejects a domain without fields, which EIP-712 allows, and drops empty fields, so the domain is hashed as a message.
	hasher := apitypes.TypedData{Types: types, Domain: apitypes.TypedDataDomain{Name: domainType}}
	preimage := []byte{0x19, 0x01}
	parts := []struct {
		name  string
		value map[string]any
	}{{domainType, d.Domain}, {d.PrimaryType, d.Message}}
	if d.PrimaryType == domainType {
		parts = parts[:1]
	}
	for _, part := range parts {
		fields, _ := readAs(types, part.name, part.value).(map[string]any)
		hash, err := hasher.HashStruct(part.name, fields)
		if err != nil {
			return nil, err
		}
		preimage = append(preimage, hash...)
	}
	return crypto.Keccak256(preimage), nil
}

// domainType lists the fields of the domain, for data whose types omit it.
func (d *typedData) domainType() []apitypes.Type {
	return slices.DeleteFunc(slices.Clone(domainFields), func(f apitypes.Type) bool { return d.Domain[f.Name] == nil })
}

// readAs converts a value for HashStruct: it removes members that the type does not have, as clients do when they sign, and writes numbers
// in full.
func readAs(types apitypes.Types, name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for _, f := range types[name] {
			if v, given := value[f.Name]; given {
				fields[f.Name] = readAs(types, f.Type, v)
			}
		}
		return fields
	case []any:
		items, element := make([]any, len(value)), name[:max(0, strings.LastIndexByte(name, '['))]
		for i := range value {
			items[i] = readAs(types, element, value[i])
		}
		return items
	case json.Number:
		return wholeNumber(value)
	}
	return value
}

// wholeNumber writes a number in full that JavaScript may have written as 1e+21; anything but a 256-bit integer stays a float, which every
// type rejects.
func wholeNumber(text json.Number) any {
	const bits = 2 * 256
	f, _, err := big.ParseFloat(text.String(), 10, bits, big.ToNearestEven)
	if err == nil && f.IsInt() && f.MantExp(nil) <= bits {
		n, _ := f.Int(nil)
		return n
	}
	rounded, _ := text.Float64() // infinite if out of range
	return rounded
}
