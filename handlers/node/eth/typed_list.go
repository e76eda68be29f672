package eth

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
)

// typedList is typed data in the form that MetaMask had before EIP-712.
type typedList []struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// hash returns the hash to sign: that of the hashes of the types and names, and of the values, packed as Solidity packs them
// (eth-sig-util, typedSignatureHash).
func (l typedList) hash() ([]byte, error) {
	if len(l) == 0 {
		return nil, ParamsError("typed data: the list is empty")
	}
	var schema, values []byte
	for i, entry := range l {
		packed, err := packValue(entry.Type, entry.Value)
		if err != nil {
			return nil, ParamsError(fmt.Sprintf("typed data: entry %d, %s: %v", i, entry.Name, err))
		}
		schema = fmt.Appendf(schema, "%s %s", entry.Type, entry.Name)
		values = append(values, packed...)
	}
	return crypto.Keccak256(crypto.Keccak256(schema), crypto.Keccak256(values)), nil
}

// packValue packs a value as Solidity's abi.encodePacked does.
func packValue(kind string, value json.RawMessage) ([]byte, error) {
	var text string
	isText := json.Unmarshal(value, &text) == nil
	if !isText && kind != "bool" {
		text = string(value)
	}
	switch {
	case kind == "string" && isText:
		return []byte(text), nil
	case kind == "bytes" && isText:
		return hexutil.Decode(text)
	case kind == "bool":
		var yes bool
		if err := json.Unmarshal(value, &yes); err != nil || !yes {
			return []byte{0}, err
		}
		return []byte{1}, nil
	case kind == "address" && isText:
		address, err := common.NewMixedcaseAddressFromString(text)
		if err != nil {
			return nil, err
		}
		return address.Address().Bytes(), nil
	case strings.HasPrefix(kind, "bytes") && isText:
		return packBytes(kind, text)
	case strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "int"):
		return packNumber(kind, text)
	}
	return nil, fmt.Errorf("no value of the type %q", kind)
}

func packBytes(kind, text string) ([]byte, error) {
	size, err := strconv.Atoi(strings.TrimPrefix(kind, "bytes"))
	if err != nil || size < 1 || size > common.HashLength {
		return nil, fmt.Errorf("there is no type %q", kind)
	}
	value, err := hexutil.Decode(text)
	if err == nil && len(value) > size {
		err = fmt.Errorf("%d bytes do not fit %s", len(value), kind)
	}
	if err != nil {
		return nil, err
	}
	return common.RightPadBytes(value, size), nil
}

func packNumber(kind, text string) ([]byte, error) {
	width, signed := strings.CutPrefix(kind, "int")
	if !signed {
		width = strings.TrimPrefix(kind, "uint")
	}
	bits := 256
	if width != "" {
		var err error
		if bits, err = strconv.Atoi(width); err != nil || bits < 8 || bits > 256 || bits%8 != 0 {
			return nil, fmt.Errorf("there is no type %q", kind)
		}
	}
	n, ok := math.ParseBig256(text)
	if !ok {
		return nil, errors.New("no number of 256 bits")
	}
	most := new(big.Int).Lsh(common.Big1, uint(bits))
	least := new(big.Int)
	if signed {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	if n.Cmp(most) >= 0 || n.Cmp(least) < 0 {
		return nil, fmt.Errorf("%s does not fit %s", n, kind)
	}
	word := math.U256Bytes(new(big.Int).Set(n))
	return word[len(word)-bits/8:], nil
}
