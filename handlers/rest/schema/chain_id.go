package schema

import (
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/parse"
)

// ChainID names an EVM chain in one of the ways that clients do; exactly one field is set.
type ChainID struct {
	EVM        uint64 // the EVM chain id
	Blockchain ids.ID // the blockchain id
	Name       string // a literal that the operation allows, such as total

	platform bool // the P-Chain, whose blockchain id is all zeros
}

// String writes the id as a client would.
func (c ChainID) String() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Blockchain != ids.Empty || c.platform:
		return c.Blockchain.String()
	}
	return strconv.FormatUint(c.EVM, 10)
}

func parseChain(r *Rule, text string) (any, bool) {
	if r.HasLiteral(text) {
		return ChainID{Name: text}, true
	}
	if digits().MatchString(text) {
		n, err := strconv.ParseUint(text, 10, 64)
		return ChainID{EVM: n}, err == nil && n > 0
	}
	id, ok := readID(text)
	return ChainID{Blockchain: id, platform: id == ids.Empty}, ok
}

// BlockID names a block of an EVM chain by its number or by its hash.
type BlockID struct {
	Number uint64
	Hash   common.Hash
	ByHash bool
}

// String writes the id as a client would.
func (b BlockID) String() string {
	if b.ByHash {
		return b.Hash.Hex()
	}
	return strconv.FormatUint(b.Number, 10)
}

func parseBlock(_ *Rule, text string) (any, bool) {
	if b, ok := parseHex(text, common.HashLength); ok {
		return BlockID{Hash: common.BytesToHash(b), ByHash: true}, true
	}
	if !digits().MatchString(text) {
		return nil, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return BlockID{Number: n}, err == nil
}

// parsePrimaryBlock reads a height or a block id, in cb58 on the P- and X-Chain and in hex on the C-Chain.
func parsePrimaryBlock(r *Rule, text string) (any, bool) {
	if id, ok := readID(text); ok {
		return BlockID{Hash: common.Hash(id), ByHash: true}, true
	}
	return parseBlock(r, text)
}

// PrimaryAddress is a P-, X- or C-Chain address; Chain is empty if the client left the prefix out. An EVM account has no HRP.
type PrimaryAddress struct {
	Chain string // P, X, C or empty
	HRP   string // avax on mainnet, fuji on the test network, empty for an account
	ID    ids.ShortID
}

// String formats the address in bech32 with the client's prefix, and an account in hexadecimal.
func (a PrimaryAddress) String() string {
	if a.HRP == "" {
		return common.Address(a.ID).Hex()
	}
	text, err := address.FormatBech32(a.HRP, a.ID[:])
	if err != nil {
		return ""
	}
	if a.Chain != "" {
		return a.Chain + "-" + text
	}
	return text
}

// Canonical returns the address without its chain's prefix, because the operation decides the chain.
func (a PrimaryAddress) Canonical() any { return PrimaryAddress{HRP: a.HRP, ID: a.ID} }

func parsePrimary(_ *Rule, text string) (any, bool) {
	chain, rest, found := strings.Cut(text, "-")
	if !found {
		chain, rest = "", text
	} else if chain != "P" && chain != "X" && chain != "C" {
		return nil, false
	}
	hrp, b, err := parse.Bech32(rest)
	if err != nil || (hrp != "avax" && hrp != "fuji") {
		return nil, false
	}
	id, err := ids.ToShortID(b)
	return PrimaryAddress{Chain: chain, HRP: hrp, ID: id}, err == nil
}

// parseToucher reads an address that can take part in a primary chain's transaction.
func parseToucher(r *Rule, text string) (any, bool) {
	if b, ok := parseHex(text, common.AddressLength); ok {
		return PrimaryAddress{ID: ids.ShortID(b)}, true
	}
	return parsePrimary(r, text)
}
