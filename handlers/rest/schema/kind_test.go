package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
)

const (
	account  = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	hash     = "0x4444444444444444444444444444444444444444444444444444444444444444"
	cChain   = "2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5"
	zeros    = "11111111111111111111111111111111LpoYY"
	node     = "NodeID-111111111111111111116DBWJs"
	mainnet  = "avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"
	fuji     = "fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm"
	uuid     = "aa22054a-cb7c-4a4e-9b83-59f2ede74138"
	widest   = "115792089237316195423570985008687907853269984665640564039457584007913129639935" // 2^256 - 1
	tooWide  = "115792089237316195423570985008687907853269984665640564039457584007913129639936"
	largest  = "9223372036854775807"
	tooLarge = "9223372036854775808"
)

// given is a kind with its bounds and literals, with texts that it reads, each with its value in Go's notation, and texts that it refuses.
type given struct {
	name        string
	kind        *Kind
	least, most string
	literals    []string
	allowed     string
	reads       map[string]string
	refuses     []string
}

var givens = []given{
	{"integer", KindInteger, "", "", nil, "an integer", map[string]string{"0": "0", "-5": "-5", largest: largest}, []string{"", "-0", "+1", "01", "1.0", "1e3", " 1", "x", tooLarge}},
	{"integer of at least", KindInteger, "3", "", nil, "an integer from 3 to " + largest, map[string]string{"3": "3"}, []string{"2", "-3", tooLarge}},
	{"integer of at most", KindInteger, "", "3", nil, "an integer of at most 3", map[string]string{"3": "3", "-9": "-9"}, []string{"4"}},
	{"page size", KindPageSize, "1", "100", nil, "an integer from 1 to 100", map[string]string{"1": "1", "100": "100"}, []string{"0", "101", "007"}},
	{"timestamp", KindTimestamp, "", "", nil, "Unix seconds, not negative", map[string]string{"0": "0", "1782000000": "1782000000"}, []string{"-1", "1.5", "", tooLarge}},
	{"date", KindDate, "", "", nil, "a date such as 2026-06-30", map[string]string{"2026-06-30": "2026-06-30 00:00:00 +0000 UTC", "2024-02-29": "2024-02-29 00:00:00 +0000 UTC"},
		[]string{"2026-06-31", "2025-02-29", "2026-6-30", "06/30/2026", "2026-06-30T00:00:00Z", ""}},
	{"number", KindNumber, "", "", nil, "a decimal number", map[string]string{"2.5": "5/2", "-0.5": "-1/2", "0": "0/1", "0.0": "0/1"}, []string{"1e3", "NaN", ".5", "5.", "02.5", "1/2", "", strings.Repeat("9", 41)}},
	{"number in a range", KindNumber, "2", "100.5", nil, "a decimal number from 2 to 100.5", map[string]string{"2": "2/1", "2.0": "2/1", "100.5": "201/2"}, []string{"1.999", "100.51", "-2"}},
	{"amount", KindAmount, "", "", nil, "an integer that is not negative and has at most 256 bits", map[string]string{"0": "0", widest: widest}, []string{"-1", "00", tooWide, strings.Repeat("1", 79), "1.0", ""}},
	{"amount in a range", KindAmount, "0", "720000000000000000", nil, "an integer from 0 to 720000000000000000", map[string]string{"720000000000000000": "720000000000000000"}, []string{"720000000000000001"}},
	{"boolean", KindBoolean, "", "", nil, "true or false", map[string]string{"true": "true", "false": "false"}, []string{"True", "1", "yes", ""}},
	{"enum", KindEnum, "", "", []string{"asc", "desc"}, "one of asc, desc", map[string]string{"asc": "asc", "desc": "desc"}, []string{"", "ASC", "up"}},
	{"text", KindText, "", "", nil, "text of at most 256 characters", map[string]string{"": "", strings.Repeat("x", 256): strings.Repeat("x", 256)}, []string{strings.Repeat("x", 257)}},
	{"part of a node id", KindNodeIDPart, "", "", nil, "a node id or part of one", map[string]string{"NodeID-": "NodeID-", "a1": "a1", strings.Repeat("a", 64): strings.Repeat("a", 64)}, []string{"", "a b", "a_b", strings.Repeat("a", 65)}},
	{"UUID", KindUUID, "", "", nil, "a UUID", map[string]string{uuid: uuid, strings.ToUpper(uuid): strings.ToUpper(uuid)}, []string{"", "1-2", uuid + "0", strings.ReplaceAll(uuid, "-", "")}},
	{"address", KindAddress, "", "", nil, "0x and 40 hexadecimal digits", map[string]string{account: account, strings.ToLower(account): account}, []string{"", account[2:], account + "0", account[:41], "0X" + account[2:], "0xg" + account[3:]}},
	{"hash", KindHash, "", "", nil, "0x and 64 hexadecimal digits", map[string]string{hash: hash}, []string{"", hash[2:], hash + "4", "0xz" + hash[3:]}},
	{"block", KindBlock, "", "", nil, "a block number, or a block hash of 0x and 64 hexadecimal digits", map[string]string{"0": "0", "18446744073709551615": "18446744073709551615", hash: hash},
		[]string{"", "-1", "007", "18446744073709551616", "0x12", cChain}},
	{"primary block", KindPrimaryBlock, "", "", nil, "a block height, or a block id in cb58 or hexadecimal", map[string]string{"7": "7", hash: hash, cChain: "0x0427d4b22a2a78bcddd456742caf91b56badbff985ee19aef14573e7343fd652"}, []string{"", "latest", cChain[1:]}},
	{"chain", KindChain, "", "", nil, "an EVM chain id or a blockchain id in cb58 with its checksum", map[string]string{"43114": "43114", cChain: cChain, zeros: zeros}, []string{"", "0", "043114", "C", "18446744073709551616", cChain[:len(cChain)-1] + "6"}},
	{"chain or total", KindChain, "", "", []string{"total", "mainnet"}, "an EVM chain id, a blockchain id, or one of total, mainnet", map[string]string{"total": "total", "1": "1"}, []string{"fuji"}},
	{"id", KindID, "", "", nil, "an id in cb58 with its checksum", map[string]string{cChain: cChain, zeros: zeros}, []string{"", "111", hash, cChain + "1"}},
	{"id or hex", KindIDOrHex, "", "", nil, "an id in cb58 with its checksum, or 0x and 64 hexadecimal digits", map[string]string{cChain: cChain, hash: ids.ID(common.HexToHash(hash)).String()}, []string{"", "0x12", hash[2:]}},
	{"node", KindNodeID, "", "", nil, "NodeID- and a node id in cb58 with its checksum", map[string]string{node: node}, []string{"", "NodeID-1", node[7:], zeros}},
	{"primary address", KindPrimaryAddress, "", "", nil, "a P-, X- or C-Chain address in bech32", map[string]string{mainnet: mainnet, "P-" + mainnet: "P-" + mainnet, "X-" + fuji: "X-" + fuji, "C-" + fuji: "C-" + fuji},
		[]string{"", "Z-" + mainnet, "-" + mainnet, "p-" + mainnet, mainnet + "q", "local" + mainnet[4:], "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", account}},
	{"participant", KindPrimaryParticipant, "", "", nil, "a P-, X- or C-Chain address in bech32, or 0x and 40 hexadecimal digits", map[string]string{mainnet: mainnet, account: account}, []string{"", account[2:], "Q-" + mainnet}},
	{"network", KindNetwork, "", "", nil, "one of mainnet, fuji, testnet", map[string]string{"mainnet": "mainnet", "fuji": "fuji", "testnet": "fuji"}, []string{"", "Mainnet", "local"}},
	{"currency", KindCurrency, "", "", nil, "one of usd, eur, aud, cad, chf, clp, cny, czk, dkk, gbp, hkd, huf, jpy, nzd", map[string]string{"usd": "usd", "nzd": "nzd"}, []string{"", "USD", "btc"}},
	{"page token", KindPageToken, "", "", nil, "the nextPageToken of an earlier answer to the same query", map[string]string{"": "", uuid: uuid, strings.ToUpper(uuid): uuid, uuid + "-" + uuid: uuid + "-" + uuid}, []string{"x", uuid + uuid, uuid + "-"}},
}

// TestKindsReadTheirTexts reads and refuses texts of every kind, and compares with the pattern or the enum that the document shows.
func TestKindsReadTheirTexts(t *testing.T) {
	for _, c := range givens {
		r, err := NewRule(c.kind, c.least, c.most, c.literals...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Allowed() != c.allowed {
			t.Errorf("%s allows %s: want %s", c.name, r.Allowed(), c.allowed)
		}
		shown := r.Schema()
		fits := func(text string) bool {
			return (shown.Pattern == "" || regexp.MustCompile(shown.Pattern).MatchString(text)) && (len(shown.Enum) == 0 || slices.Contains(shown.Enum, text))
		}
		for text, want := range c.reads {
			v, ok := r.Parse(text)
			if have := written(v); !ok || have != want {
				t.Errorf("%s reads %q as %s, %v: want %s", c.name, text, have, ok, want)
			}
			if !fits(text) {
				t.Errorf("%s: the document does not allow %q", c.name, text)
			}
		}
		for _, text := range c.refuses {
			if v, ok := r.Parse(text); ok {
				t.Errorf("%s reads %q as %v", c.name, text, v)
			}
		}
	}
}

// written writes a parsed value as the tests expect it.
func written(v any) string {
	if at, date := v.(time.Time); date {
		return at.String()
	}
	if a, is := v.(common.Address); is {
		return a.Hex()
	}
	return fmt.Sprint(v)
}

// TestKindsAreDescribed compares the schemas of parameters with JSON.
func TestKindsAreDescribed(t *testing.T) {
	for _, c := range []struct {
		kind        *Kind
		least, most string
		literals    []string
		want        string
	}{
		{KindInteger, "0", "", nil, `{"type":"integer","minimum":0}`},
		{KindPageSize, "1", "100", nil, `{"type":"integer","minimum":1,"maximum":100}`},
		{KindNumber, "2", "99.5", nil, `{"type":"number","minimum":2,"maximum":99.5}`},
		{KindTimestamp, "", "", nil, `{"type":"integer","format":"int64","minimum":0}`},
		{KindBoolean, "", "", nil, `{"type":"boolean"}`},
		{KindEnum, "", "", []string{"asc", "desc"}, `{"type":"string","enum":["asc","desc"]}`},
		{KindNetwork, "", "", nil, `{"type":"string","enum":["mainnet","fuji","testnet"]}`},
		{KindAddress, "", "", nil, `{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"}`},
		{KindHash, "", "", nil, `{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"}`},
		{KindText, "", "", nil, `{"type":"string"}`},
	} {
		r, err := NewRule(c.kind, c.least, c.most, c.literals...)
		if err != nil {
			t.Fatal(err)
		}
		if have, _ := json.Marshal(r.Schema()); string(have) != c.want {
			t.Errorf("%s: want %s", have, c.want)
		}
	}
}

func TestBoundsMustBeNumbers(t *testing.T) {
	for _, bad := range [][2]string{{"x", ""}, {"", "x"}, {"1", "one"}} {
		if _, err := NewRule(KindInteger, bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), "is not a number") {
			t.Errorf("from %q to %q: %v", bad[0], bad[1], err)
		}
	}
}

// TestNamesOfChainsAndBlocksComeBack writes each way to name a chain, a block and an address.
func TestNamesOfChainsAndBlocksComeBack(t *testing.T) {
	id, err := ids.FromString(cChain)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]ChainID{"43114": {EVM: 43114}, cChain: {Blockchain: id}, zeros: {platform: true}, "total": {Name: "total"}} {
		r, err := NewRule(KindChain, "", "", "total")
		if err != nil {
			t.Fatal(err)
		}
		if have, ok := r.Parse(name); !ok || have != want {
			t.Errorf("%s is %+v: want %+v", name, have, want)
		}
	}
	r, err := NewRule(KindPrimaryAddress, "", "")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Parse("P-" + mainnet)
	second, _ := r.Parse(mainnet)
	if first == second || first.(PrimaryAddress).Canonical() != second.(PrimaryAddress).Canonical() || first.(PrimaryAddress).Chain != "P" || second.(PrimaryAddress).HRP != "avax" {
		t.Errorf("%+v and %+v", first, second)
	}
	if other, _ := r.Parse(fuji); other.(PrimaryAddress).Canonical() == first.(PrimaryAddress).Canonical() || other.(PrimaryAddress).ID != first.(PrimaryAddress).ID {
		t.Errorf("%+v is the same on both networks", other)
	}
}

func TestAboveComparesNumbersOnly(t *testing.T) {
	for _, c := range []struct {
		value, other any
		want         bool
	}{
		{int64(2), int64(1), true}, {int64(1), int64(1), false}, {int64(1), int64(2), false},
		{big.NewInt(2), big.NewInt(1), true}, {big.NewRat(1, 2), big.NewRat(1, 3), true}, {big.NewRat(1, 3), big.NewRat(1, 2), false},
		{int64(1), big.NewRat(1, 2), true}, {"2", "1", false}, {int64(2), nil, false}, {nil, int64(1), false},
	} {
		if Above(c.value, c.other) != c.want {
			t.Errorf("%v is above %v: %v", c.value, c.other, !c.want)
		}
	}
}

func TestUnknownNamesSuggestOthers(t *testing.T) {
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint("contract-", i)
	}
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"alise", []string{"alice", "bob"}, `persona "alise" is not known: did you mean alice?`},
		{"zzzzzz", []string{"alice", "bob"}, `persona "zzzzzz" is not known: expected one of alice, bob`},
		{"zzzzzz", many[:20], `persona "zzzzzz" is not known: expected one of ` + strings.Join(many[:20], ", ")},
		{"zzzzzz", many, `persona "zzzzzz" is not known: GET /sim/world lists them`},
	} {
		if have := NotOneOf("persona", c.name, c.names); have != c.want {
			t.Errorf("%s\nwant %s", have, c.want)
		}
	}
}
