package artifacts

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// Contract is a compiled contract. It does not change once it is known.
type Contract struct {
	Name     string          // without its source, such as Token
	Source   string          // name of its source, such as src/Token.sol
	Origin   string          // the folder that it comes from, or how else it became known
	ABI      json.RawMessage // as the compiler wrote it
	Creation Code            // without constructor arguments
	Runtime  Code            // empty for an interface or abstract contract

	build     func() (*Build, error)
	maps      func() (creation, runtime string, err error)
	parsed    func() (*abi.ABI, error)
	creations func() (*Program, error)
	runtimes  func() (*Program, error)
	own       func() *signatures
}

// Code is bytecode with the places that a deployment fills in, which are zero here.
type Code struct {
	Bytes      []byte
	Links      []Link  // addresses of libraries
	Immutables []Range // values of immutable variables; nil if the compiler's output does not tell
}

// Range is a range of bytes.
type Range struct{ Start, Length int }

// Link is the place of a library's address.
type Link struct {
	Range
	Source, Library string
}

// Build describes the run of a compiler that made a contract.
type Build struct {
	Compiler string          // long version, such as 0.8.30+commit.73712a01; empty if unknown
	Language string          // Solidity, Yul or Vyper; empty if unknown
	Settings json.RawMessage // of the standard JSON input; nil if unknown
	Sources  []Source        // by the number that source maps use
}

// Source is one source of a build.
type Source struct {
	Name    string
	Content string
	Missing string // why there is no content, as a sentence; empty if there is

	scopes func() []scope
	lines  func() []int
}

// Build returns what is known of the compiler's run. It may read files.
func (c *Contract) Build() (*Build, error) {
	if c.build == nil {
		return &Build{}, nil
	}
	return c.build()
}

// Interface returns the parsed ABI, empty if it cannot be parsed.
func (c *Contract) Interface() *abi.ABI {
	parsed, err := c.parsed()
	if err != nil {
		return &abi.ABI{}
	}
	return parsed
}

// SourceMaps returns the compiler's source maps, empty if it wrote none. It may read files.
func (c *Contract) SourceMaps() (creation, runtime string, err error) {
	if c.maps == nil {
		return "", "", nil
	}
	return c.maps()
}

// Text returns the contract's source, and a sentence if it is not known.
func (c *Contract) Text() (text, missing string) {
	b, err := c.Build()
	if err != nil {
		return "", err.Error()
	}
	for i := range b.Sources {
		if s := &b.Sources[i]; s.Name == c.Source {
			return s.Content, s.Missing
		}
	}
	return "", "no build-info lists " + c.Source
}

// NewContract returns a contract of which no more is known than its ABI and its code.
func NewContract(name string, abi json.RawMessage, creation, runtime []byte) *Contract {
	return (&Contract{Name: name, ABI: abi, Creation: Code{Bytes: creation}, Runtime: Code{Bytes: runtime}}).finish()
}

// finish makes the parts that are computed on first use.
func (c *Contract) finish() *Contract {
	c.parsed = sync.OnceValues(func() (*abi.ABI, error) {
		parsed, err := abi.JSON(bytes.NewReader(c.ABI))
		return &parsed, err
	})
	if c.build != nil {
		c.build = once(c.build)
	}
	c.creations = once(func() (*Program, error) { return c.program(true) })
	c.own = sync.OnceValue(func() *signatures {
		s := newSignatures()
		s.add(c.Interface(), c.Name)
		return s
	})
	c.runtimes = once(func() (*Program, error) { return c.program(false) })
	return c
}

// once remembers the first value that a function returns without an error: a file that is missing now may be written next.
func once[T any](get func() (*T, error)) func() (*T, error) {
	var mu sync.Mutex
	var known *T
	return func() (*T, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		value, err := get()
		if err == nil {
			known = value
		}
		return value, err
	}
}

// references are the compiler's lists of places in code.
type (
	linkReferences      map[string]map[string][]Range // by source and library
	immutableReferences map[string][]Range            // by the variable's number
)

// readCode reads bytecode as compilers write it: hex, with a placeholder of 40 characters for each library's address.
func readCode(object string, links linkReferences, immutables immutableReferences) (c Code, err error) {
	text := []byte(strings.TrimPrefix(object, "0x"))
	for source, libraries := range links {
		for library, places := range libraries {
			for _, r := range places {
				if r.Length != common.AddressLength || r.Start < 0 || 2*(r.Start+r.Length) > len(text) {
					return c, fmt.Errorf("the place of library %s is not in the code", library)
				}
				copy(text[2*r.Start:], bytes.Repeat([]byte{'0'}, 2*r.Length))
				c.Links = append(c.Links, Link{r, source, library})
			}
		}
	}
	c.Bytes = make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(c.Bytes, text); err != nil {
		return c, fmt.Errorf("the code is not hex: %w", err)
	}
	if immutables != nil {
		c.Immutables = []Range{}
	}
	for _, places := range immutables {
		for _, r := range places {
			if r.Length < 0 || r.Start < 0 || r.Start+r.Length > len(c.Bytes) {
				return c, fmt.Errorf("the place of an immutable variable is not in the code")
			}
			c.Immutables = append(c.Immutables, r)
		}
	}
	return c, nil
}

// metadata is how the metadata of solc begins: a CBOR map whose first key is ipfs, with a multihash of 32 bytes. One with another key, such as
// bzzr1, has other lengths (https://docs.soliditylang.org/en/latest/metadata.html).
var metadata = []byte("\xa2\x64ipfs\x58\x22\x12\x20")

// metadataHash is the length of the hash that follows.
const metadataHash = 32

// body returns the length of code without the metadata at its end, whose length the last two bytes give.
func body(code []byte) int {
	if len(code) < 2 {
		return len(code)
	}
	size := int(binary.BigEndian.Uint16(code[len(code)-2:])) + 2
	if size > len(code) || size < 4 || code[len(code)-size]&0xf0 != 0xa0 { // CBOR's small maps
		return len(code)
	}
	return len(code) - size
}

// push32 is the instruction that reads an immutable variable.
const push32 = 0x7f

// same reports whether deployed code is the contract's, and whether even the metadata is the same. The deployed code may be longer where code is
// a creation's, whose arguments follow.
func (c *Code) same(deployed []byte, creation bool) (same, exact bool) {
	own := c.Bytes
	end, theirs := body(own), len(deployed)
	if creation {
		end = len(own)
		if theirs < end {
			return false, false
		}
	} else if theirs = body(deployed); theirs != end {
		return false, false
	}
	if end == 0 {
		return false, false
	}
	if at := mismatch(own[:end], deployed[:end]); at < end {
		if !c.forgives(own[:end], deployed[:end], at) {
			return false, false
		}
		return true, false
	}
	return true, creation || bytes.Equal(own, deployed)
}

// mismatch returns the first place where two texts of the same length differ.
func mismatch(a, b []byte) int {
	const stride = 256
	for start := 0; start < len(a); start += stride {
		end := min(start+stride, len(a))
		if !bytes.Equal(a[start:end], b[start:end]) {
			for a[start] == b[start] {
				start++
			}
			return start
		}
	}
	return len(a)
}

// forgives reports whether code differs, from a place on, only where a deployment fills something in.
func (c *Code) forgives(own, deployed []byte, from int) bool {
	for at := from; at < len(own); at++ {
		if own[at] == deployed[at] {
			continue
		}
		end := c.filled(own, deployed, at)
		if end <= at {
			return false
		}
		at = end - 1
	}
	return true
}

// filled returns the end of the place that contains a byte and that a deployment fills in, or 0.
func (c *Code) filled(own, deployed []byte, at int) int {
	for _, l := range c.Links {
		if l.Start <= at && at < l.Start+l.Length {
			return l.Start + l.Length
		}
	}
	for _, r := range c.Immutables {
		if r.Start <= at && at < r.Start+r.Length {
			return r.Start + r.Length
		}
	}
	if at <= common.AddressLength && own[0] == 0x73 && at >= 1 && bytes.Count(own[1:1+common.AddressLength], []byte{0}) == common.AddressLength {
		return 1 + common.AddressLength // a library's own address, which its constructor writes
	}
	if c.Immutables == nil { // Hardhat 2's artifacts list none: their places are zero
		for start := max(at-common.HashLength+1, 1); start <= at && start+common.HashLength <= len(own); start++ {
			if own[start-1] == push32 && len(bytes.Trim(own[start:start+common.HashLength], "\x00")) == 0 {
				return start + common.HashLength
			}
		}
	}
	// The metadata of a contract that this one creates.
	for start := max(at-metadataHash+1, len(metadata)); start <= at && start+metadataHash <= len(own); start++ {
		if bytes.HasSuffix(own[:start], metadata) && bytes.HasSuffix(deployed[:start], metadata) {
			return start + metadataHash
		}
	}
	return 0
}
