package etherscan

import (
	"encoding/hex"
	"math"
	"math/big"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// parameters holds a request's parameters by their names in lower case: Etherscan ignores case. The first value of a name counts.
type parameters map[string]string

func (p parameters) add(values url.Values) {
	for name, all := range values {
		name = strings.ToLower(name)
		if _, taken := p[name]; taken || len(all) == 0 {
			continue
		}
		if p[name] = all[0]; name != "sourcecode" { // every byte of which is in the metadata
			p[name] = strings.TrimSpace(all[0])
		}
	}
}

// action returns the name of the request's action, or "" if there is none.
func (p parameters) action() string {
	name := strings.ToLower(p["module"] + "." + p["action"])
	if _, known := actions[name]; !known {
		return ""
	}
	return name
}

// unknown explains why there is no action.
func (p parameters) unknown() *refused {
	for name := range actions {
		if module, _, _ := strings.Cut(name, "."); module == strings.ToLower(p["module"]) {
			return refusal("Error! Missing Or invalid Action name")
		}
	}
	return refusal("Error! Missing Or invalid Module name")
}

var (
	errAddress = refusal("Error! Invalid address format")
	errHash    = refusal("Error! Invalid transaction hash")
	errBlock   = refusal("Error! Invalid block number")
	errNumber  = refusal("Error! Invalid page or offset")
)

func parseAddress(text string) (common.Address, error) {
	if !common.IsHexAddress(text) || !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		return common.Address{}, errAddress
	}
	return common.HexToAddress(text), nil
}

// address reads an address.
func (p parameters) address(name string) (common.Address, error) { return parseAddress(p[name]) }

// addressIn reads the address in a parameter of a request.
func addressIn(name string) func(*request) (common.Address, error) {
	return func(r *request) (common.Address, error) { return r.values.address(name) }
}

// given reports whether a parameter has a value.
func (p parameters) given(name string) bool { return p[name] != "" }

// hash reads 32 bytes in hex.
func (p parameters) hash(name string) (common.Hash, error) {
	text := p[name]
	if len(text) != 2+2*common.HashLength || text[0] != '0' || text[1]|0x20 != 'x' {
		return common.Hash{}, errHash
	}
	b, err := hex.DecodeString(text[2:])
	if err != nil {
		return common.Hash{}, errHash
	}
	return common.BytesToHash(b), nil
}

// number reads a number in decimal, or in hex with 0x. One that is too large counts as the largest.
func number(text string) (uint64, bool) {
	n, ok := new(big.Int), false
	if digits, hexadecimal := strings.CutPrefix(strings.ToLower(text), "0x"); hexadecimal && len(digits) <= 64 {
		_, ok = n.SetString(digits, 16)
	} else if !hexadecimal && len(text) <= 78 {
		_, ok = n.SetString(text, 10)
	}
	switch {
	case !ok || n.Sign() < 0:
		return 0, false
	case !n.IsUint64():
		return math.MaxUint64, true
	}
	return n.Uint64(), true
}

// block reads the number of a block, with a default for an absent one. The tags of JSON-RPC are the chain's ends.
func (p parameters) block(name string, fallback uint64) (uint64, error) {
	switch text := strings.ToLower(p[name]); text {
	case "":
		return fallback, nil
	case "earliest":
		return 0, nil
	case "latest", "pending", "safe", "finalized":
		return store.MaxNumber, nil
	default:
		n, ok := number(text)
		if !ok {
			return 0, errBlock
		}
		return min(n, store.MaxNumber), nil
	}
}

// maxRows is the most rows that a list shows: the window of all its pages.
const maxRows = 10_000

// page is a part of a list.
type page struct {
	skip, size int
	descending bool
}

// end is how many rows the list must have for a full page.
func (p page) end() int { return p.skip + p.size }

// of cuts the page out of the list's beginning.
func of[T any](p page, list []T) []T {
	return list[min(p.skip, len(list)):min(p.end(), len(list))]
}

// page reads page and offset, the number of rows on a page. Without them, the page has as many rows as it may.
func (p parameters) page(most int) (page, error) {
	number, size := uint64(1), uint64(most)
	for name, at := range map[string]*uint64{"page": &number, "offset": &size} {
		n, ok := number64(p[name])
		if !ok {
			return page{}, errNumber
		}
		if n > 0 {
			*at = n
		}
	}
	if number > maxRows || size > maxRows || number*size > maxRows {
		return page{}, errWindow
	}
	size = min(size, uint64(most))
	return page{int((number - 1) * size), int(size), strings.EqualFold(p["sort"], "desc")}, nil
}

// number64 reads a number, 0 if there is none.
func number64(text string) (uint64, bool) {
	if text == "" {
		return 0, true
	}
	return number(text)
}
