package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim/parse"
)

// Kind defines a parameter's values: how to read them, and how to describe them to people and in OpenAPI.
type Kind struct {
	parse   func(r *Rule, text string) (any, bool)
	allowed func(r *Rule) string
	schema  func(r *Rule) *Schema
}

// Rule is a kind, narrowed to one parameter's values.
type Rule struct {
	kind     *Kind
	literals []string // the values of an enum; for other kinds, additional literals
	min, max string
	bounds   bounds
}

// NewRule narrows a kind. The bounds are decimal literals, empty where the range is open.
func NewRule(kind *Kind, least, most string, literals ...string) (*Rule, error) {
	b, err := readBounds(least, most)
	if err != nil {
		return nil, err
	}
	return &Rule{kind: kind, literals: literals, min: least, max: most, bounds: b}, nil
}

// Parse reads a value; ok is false if it is not allowed.
func (r *Rule) Parse(text string) (any, bool) { return r.kind.parse(r, text) }

// Allowed completes the sentence "expected ...".
func (r *Rule) Allowed() string { return r.kind.allowed(r) }

// Schema returns OpenAPI's description of the values.
func (r *Rule) Schema() *Schema { return r.kind.schema(r) }

// HasLiteral reports whether text is one of the declaration's literals.
func (r *Rule) HasLiteral(text string) bool { return slices.Contains(r.literals, text) }

// The kinds of parameters, each with the type of its parsed value.
var (
	KindInteger            = &Kind{parseInteger, rangeOf("an integer"), numeric("integer")}               // int64
	KindTimestamp          = &Kind{parseTimestamp, saying("Unix seconds, not negative"), seconds}         // int64
	KindDate               = &Kind{parseDate, saying("a date such as 2026-06-30"), textual(datePattern)}  // time.Time
	KindPageSize           = &Kind{parseInteger, rangeOf("an integer"), numeric("integer")}               // int64
	KindNumber             = &Kind{parseNumber, rangeOf("a decimal number"), numeric("number")}           // *big.Rat
	KindAmount             = &Kind{parseAmount, amountRange, textual(`^(0|[1-9][0-9]{0,77})$`)}           // *big.Int
	KindBoolean            = &Kind{parseBoolean, saying("true or false"), boolean}                        // bool
	KindEnum               = &Kind{parseEnum, enumList, enumerated}                                       // string
	KindText               = &Kind{parseText, saying("text of at most 256 characters"), textual("")}      // string
	KindNodeIDPart         = &Kind{matching(nodePart), saying("a node id or part of one"), textual("")}   // string
	KindUUID               = &Kind{matching(uuidShape), saying("a UUID"), textual(uuidPattern)}           // string
	KindAddress            = &Kind{parseAddress, saying("0x and 40 hexadecimal digits"), hexadecimal(40)} // common.Address
	KindHash               = &Kind{parseHash, saying("0x and 64 hexadecimal digits"), hexadecimal(64)}    // common.Hash
	KindBlock              = &Kind{parseBlock, saying("a block number, or a block hash of 0x and 64 hexadecimal digits"), textual("")}
	KindChain              = &Kind{parseChain, chainList, textual("")}                                                                  // ChainID
	KindID                 = &Kind{parseID, saying("an id in cb58 with its checksum"), textual("")}                                     // ids.ID
	KindIDOrHex            = &Kind{parseHexID, saying("an id in cb58 with its checksum, or 0x and 64 hexadecimal digits"), textual("")} // ids.ID
	KindPrimaryBlock       = &Kind{parsePrimaryBlock, saying("a block height, or a block id in cb58 or hexadecimal"), textual("")}      // BlockID
	KindNodeID             = &Kind{parseNodeID, saying("NodeID- and a node id in cb58 with its checksum"), textual("")}
	KindPrimaryAddress     = &Kind{parsePrimary, saying("a P-, X- or C-Chain address in bech32"), textual("")}                                  // PrimaryAddress
	KindPrimaryParticipant = &Kind{parseToucher, saying("a P-, X- or C-Chain address in bech32, or 0x and 40 hexadecimal digits"), textual("")} // PrimaryAddress
	KindNetwork            = &Kind{parseNetwork, saying("one of mainnet, fuji, testnet"), oneOf(fixtures.MainnetName, fixtures.FujiName, "testnet")}
	KindCurrency           = &Kind{parseCurrency, saying("one of " + strings.Join(Currencies, ", ")), oneOf(Currencies...)}
	KindPageToken          = &Kind{parseToken, saying("the nextPageToken of an earlier answer to the same query"), textual("")}
)

// Currencies lists the allowed codes of a currency parameter.
var Currencies = strings.Fields("usd eur aud cad chf clp cny czk dkk gbp hkd huf jpy nzd")

const datePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`

var (
	digits    = Shape(`^(0|[1-9][0-9]*)$`) // a number has one form: without leading zeros
	integer   = Shape(`^(0|-?[1-9][0-9]*)$`)
	decimal   = Shape(`^-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,40})?$`)
	nodePart  = Shape(`^[A-Za-z0-9-]{1,64}$`)
	uuidShape = Shape(uuidPattern)
)

const uuidPattern = `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`

// Shape returns a regular expression that is compiled on first use. Compiling all of them takes a twentieth of a start.
func Shape(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// PageTokenShape matches a page token: one UUID, or several joined by hyphens.
var PageTokenShape = Shape(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})*$`)

func parseInteger(r *Rule, text string) (any, bool) {
	if !integer().MatchString(text) {
		return nil, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && r.bounds.holds(new(big.Rat).SetInt64(n))
}

func parseTimestamp(r *Rule, text string) (any, bool) {
	v, ok := parseInteger(r, text)
	return v, ok && v.(int64) >= 0
}

func parseDate(_ *Rule, text string) (any, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil
}

func parseNumber(r *Rule, text string) (any, bool) {
	if !decimal().MatchString(text) {
		return nil, false
	}
	n, ok := new(big.Rat).SetString(text)
	return n, ok && r.bounds.holds(n)
}

// parseAmount reads an integer of up to 256 bits, which 78 digits can write.
func parseAmount(r *Rule, text string) (any, bool) {
	if len(text) > 78 || !digits().MatchString(text) {
		return nil, false
	}
	n, ok := new(big.Int).SetString(text, 10)
	return n, ok && n.BitLen() <= 256 && r.bounds.holds(new(big.Rat).SetInt(n))
}

func parseBoolean(_ *Rule, text string) (any, bool) {
	return text == "true", text == "true" || text == "false"
}

func parseText(_ *Rule, text string) (any, bool) { return text, len(text) <= 256 }

// parseToken checks only the shape, because a token can be matched to its query only once the rest is valid. An empty token asks for the
// first page. A UUID in capitals is the same UUID.
func parseToken(_ *Rule, text string) (any, bool) {
	text = strings.ToLower(text)
	return text, text == "" || PageTokenShape().MatchString(text)
}

func parseEnum(r *Rule, text string) (any, bool) { return text, r.HasLiteral(text) }

func matching(shape func() *regexp.Regexp) func(*Rule, string) (any, bool) {
	return func(_ *Rule, text string) (any, bool) { return text, shape().MatchString(text) }
}

func parseAddress(_ *Rule, text string) (any, bool) {
	b, ok := parseHex(text, common.AddressLength)
	return common.BytesToAddress(b), ok
}

func parseHash(_ *Rule, text string) (any, bool) {
	b, ok := parseHex(text, common.HashLength)
	return common.BytesToHash(b), ok
}

func parseHex(text string, size int) ([]byte, bool) {
	if len(text) != 2+2*size || text[:2] != "0x" {
		return nil, false
	}
	b := common.FromHex(text)
	return b, len(b) == size
}

func readID(text string) (ids.ID, bool) {
	id, err := parse.ID(text)
	return id, err == nil
}

func parseID(_ *Rule, text string) (any, bool) {
	id, ok := readID(text)
	return id, ok
}

func parseHexID(r *Rule, text string) (any, bool) {
	if b, ok := parseHex(text, common.HashLength); ok {
		return ids.ID(b), true
	}
	return parseID(r, text)
}

func parseNodeID(_ *Rule, text string) (any, bool) {
	id, err := parse.NodeID(text)
	return id, err == nil
}

// parseNetwork gives the test network one name: testnet and fuji are the same.
func parseNetwork(_ *Rule, text string) (any, bool) { return NetworkName(text) }

// NetworkName returns the one name of a network; ok is false if there is no such network.
func NetworkName(text string) (string, bool) {
	if text == "testnet" {
		text = fixtures.FujiName
	}
	return text, text == fixtures.MainnetName || text == fixtures.FujiName
}

func parseCurrency(_ *Rule, text string) (any, bool) {
	return text, slices.Contains(Currencies, text)
}

func saying(text string) func(*Rule) string { return func(*Rule) string { return text } }

func enumList(r *Rule) string { return "one of " + strings.Join(r.literals, ", ") }

func chainList(r *Rule) string {
	if len(r.literals) == 0 {
		return "an EVM chain id or a blockchain id in cb58 with its checksum"
	}
	return fmt.Sprintf("an EVM chain id, a blockchain id, or one of %s", strings.Join(r.literals, ", "))
}

// rangeOf describes a number's range; 64 bits limit an open end.
func rangeOf(noun string) func(*Rule) string {
	return func(r *Rule) string {
		if b := r.bounds; noun == "an integer" && b.least != nil && b.most == nil {
			return noun + " from " + plain(b.least) + " to " + strconv.FormatInt(math.MaxInt64, 10)
		}
		return noun + r.bounds.String()
	}
}

func amountRange(r *Rule) string {
	if r.bounds.String() == "" {
		return "an integer that is not negative and has at most 256 bits"
	}
	return "an integer" + r.bounds.String()
}

func numeric(kind string) func(*Rule) *Schema {
	return func(r *Rule) *Schema {
		return &Schema{Type: kind, Minimum: json.Number(r.min), Maximum: json.Number(r.max)}
	}
}

func seconds(*Rule) *Schema { return &Schema{Type: "integer", Format: "int64", Minimum: "0"} }

func boolean(*Rule) *Schema { return &Schema{Type: "boolean"} }

func textual(pattern string) func(*Rule) *Schema {
	return func(*Rule) *Schema {
		return &Schema{Type: "string", Pattern: pattern}
	}
}

func enumerated(r *Rule) *Schema { return &Schema{Type: "string", Enum: r.literals} }

func hexadecimal(digits int) func(*Rule) *Schema {
	return textual(fmt.Sprintf("^0x[0-9a-fA-F]{%d}$", digits))
}

func oneOf(values ...string) func(*Rule) *Schema {
	return func(*Rule) *Schema { return &Schema{Type: "string", Enum: slices.Clone(values)} }
}
