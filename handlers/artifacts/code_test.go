package artifacts

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// TestCodeAsCompilersWriteIt: places of libraries and immutable variables must lie in the code, up to its last byte.
func TestCodeAsCompilersWriteIt(t *testing.T) {
	library := func(start, length int) linkReferences {
		return linkReferences{"a.sol": {"L": {{start, length}}}}
	}
	variable := func(start, length int) immutableReferences {
		return immutableReferences{"7": {{start, length}}}
	}
	hole := strings.Repeat("_", 40)
	const outside, noVariable = "the place of library L is not in the code", "the place of an immutable variable is not in the code"
	for _, c := range []struct {
		object     string
		links      linkReferences
		immutables immutableReferences
		code, want string
	}{
		{"0x6001", nil, nil, "6001", ""},
		{"6001", nil, nil, "6001", ""},
		{"0x", nil, nil, "", ""},
		{"0x600", nil, nil, "", "the code is not hex: encoding/hex: odd length hex string"},
		{"0x73" + hole, nil, nil, "", "the code is not hex: encoding/hex: invalid byte: U+005F '_'"},
		{"0x73" + hole, library(1, 20), nil, "73" + strings.Repeat("00", 20), ""},
		{"0x" + hole + "00", library(0, 20), nil, strings.Repeat("00", 21), ""},
		{"0x73" + hole, library(2, 20), nil, "", outside},
		{"0x73" + hole, library(-1, 20), nil, "", outside},
		{"0x73" + hole, library(1, 19), nil, "", outside},
		{"0x73" + hole, library(1, 0), nil, "", outside},
		{"0x73" + hole, library(1<<29, 20), nil, "", outside},
		{"0x010203", nil, variable(0, 3), "010203", ""},
		{"0x010203", nil, variable(3, 0), "010203", ""},
		{"0x010203", nil, variable(1, 3), "", noVariable},
		{"0x010203", nil, variable(-1, 3), "", noVariable},
		{"0x010203", nil, variable(2, -1), "", noVariable},
		{"0x010203", nil, variable(3, 1), "", noVariable},
	} {
		got, err := readCode(c.object, c.links, c.immutables)
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s %v %v: %v, want %s", c.object, c.links, c.immutables, err, c.want)
			}
			continue
		}
		if err != nil || hex.EncodeToString(got.Bytes) != c.code || len(got.Links) != len(c.links) || (got.Immutables == nil) != (c.immutables == nil) || len(got.Immutables) != len(c.immutables) {
			t.Errorf("%s: %+v %v", c.object, got, err)
		}
		if len(got.Links) == 1 && !reflect.DeepEqual(got.Links[0], Link{c.links["a.sol"]["L"][0], "a.sol", "L"}) {
			t.Errorf("%s: %+v", c.object, got.Links)
		}
	}
	// An empty list says that there are no immutable variables; no list says nothing.
	if c, err := readCode("0x00", nil, immutableReferences{}); err != nil || c.Immutables == nil || len(c.Immutables) != 0 {
		t.Errorf("%+v %v", c, err)
	}
}

// TestWhatADeploymentMayFillIn compares code byte by byte: only the places of libraries and immutable variables, a library's own address and the
// metadata of created contracts may differ.
func TestWhatADeploymentMayFillIn(t *testing.T) {
	zeros, sevens := make([]byte, 32), bytes.Repeat([]byte{7}, 32)
	join := func(parts ...any) (all []byte) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				all = append(all, common.FromHex(p)...)
			case []byte:
				all = append(all, p...)
			}
		}
		return all
	}
	cbor := func(hash []byte) []byte { return join(metadata, hash, "64736f6c634300081e0033") }
	long := bytes.Repeat([]byte{0x5b}, 600)
	changed := func(code []byte, at int) []byte { c := bytes.Clone(code); c[at] ^= 0xff; return c }
	none := []Range{}
	for name, c := range map[string]struct {
		code     Code
		deployed []byte
		creation bool
		want     string
	}{
		"the same":                          {Code{Bytes: join("6001"), Immutables: none}, join("6001"), false, "exact"},
		"nothing":                           {Code{}, nil, false, ""},
		"nothing was created":               {Code{}, join("60"), true, ""},
		"another byte":                      {Code{Bytes: join("6001"), Immutables: none}, join("6002"), false, ""},
		"longer":                            {Code{Bytes: join("6001"), Immutables: none}, join("600100"), false, ""},
		"shorter":                           {Code{Bytes: join("6001"), Immutables: none}, join("60"), false, ""},
		"arguments":                         {Code{Bytes: join("6001"), Immutables: none}, join("600100"), true, "exact"},
		"no arguments":                      {Code{Bytes: join("6001"), Immutables: none}, join("6001"), true, "exact"},
		"less than the creation":            {Code{Bytes: join("6001"), Immutables: none}, join("60"), true, ""},
		"another creation":                  {Code{Bytes: join("6001"), Immutables: none}, join("600200"), true, ""},
		"long":                              {Code{Bytes: long, Immutables: none}, long, false, "exact"},
		"long, first":                       {Code{Bytes: long, Immutables: none}, changed(long, 0), false, ""},
		"long, at a seam":                   {Code{Bytes: long, Immutables: none}, changed(long, 256), false, ""},
		"long, last":                        {Code{Bytes: long, Immutables: none}, changed(long, 599), false, ""},
		"long, filled in":                   {Code{Bytes: long, Immutables: []Range{{599, 1}}}, changed(long, 599), false, "same"},
		"long, beside what is filled in":    {Code{Bytes: long, Immutables: []Range{{300, 32}}}, changed(long, 299), false, ""},
		"long, after what is filled in":     {Code{Bytes: long, Immutables: []Range{{300, 32}}}, changed(changed(long, 310), 332), false, ""},
		"long, two places":                  {Code{Bytes: long, Immutables: []Range{{300, 32}, {332, 32}}}, changed(changed(long, 331), 363), false, "same"},
		"a library":                         {Code{Bytes: join("73", zeros[:20], "50"), Links: []Link{{Range: Range{1, 20}}}, Immutables: none}, join("73", sevens[:20], "50"), false, "same"},
		"after a library":                   {Code{Bytes: join("6073", zeros[:20], "50"), Links: []Link{{Range: Range{2, 20}}}, Immutables: none}, join("6073", sevens[:20], "51"), false, ""},
		"before a library":                  {Code{Bytes: join("6073", zeros[:20], "50"), Links: []Link{{Range: Range{2, 20}}}, Immutables: none}, join("6074", sevens[:20], "50"), false, ""},
		"its own address":                   {Code{Bytes: join("73", zeros[:20], "3014"), Immutables: none}, join("73", sevens[:20], "3014"), false, "same"},
		"a part of its own address":         {Code{Bytes: join("73", zeros[:20], "3014"), Immutables: none}, join("73", zeros[:19], "073014"), false, "same"},
		"after its own address":             {Code{Bytes: join("73", zeros[:20], "3014"), Immutables: none}, join("73", sevens[:20], "3114"), false, ""},
		"instead of its own address":        {Code{Bytes: join("73", zeros[:20], "3014"), Immutables: none}, join("72", sevens[:20], "3014"), false, ""},
		"not its own address":               {Code{Bytes: join("74", zeros[:20], "3014"), Immutables: none}, join("74", sevens[:20], "3014"), false, ""},
		"an address that it knew":           {Code{Bytes: join("73", zeros[:19], "013014"), Immutables: none}, join("73", sevens[:20], "3014"), false, ""},
		"an unlisted variable":              {Code{Bytes: join("5b7f", zeros, "50")}, join("5b7f", sevens, "50"), false, "same"},
		"the end of an unlisted variable":   {Code{Bytes: join("5b7f", zeros)}, join("5b7f", zeros[:31], "01"), false, "same"},
		"the start of an unlisted variable": {Code{Bytes: join("7f", zeros)}, join("7f01", zeros[:31]), false, "same"},
		"after an unlisted variable":        {Code{Bytes: join("5b7f", zeros, "50")}, join("5b7f", sevens, "51"), false, ""},
		"no push of it":                     {Code{Bytes: join("5b7e", zeros, "50")}, join("5b7e", sevens, "50"), false, ""},
		"not zero before":                   {Code{Bytes: join("5b7f01", zeros[1:], "50")}, join("5b7f", sevens, "50"), false, ""},
		"a listed one elsewhere":            {Code{Bytes: join("5b7f", zeros, "50"), Immutables: none}, join("5b7f", sevens, "50"), false, ""},
		"too short for one":                 {Code{Bytes: join("5b7f", zeros[1:])}, join("5b7f", sevens[1:]), false, ""},
		"other metadata":                    {Code{Bytes: join("6001", cbor(zeros)), Immutables: none}, join("6001", cbor(sevens)), false, "same"},
		"the same metadata":                 {Code{Bytes: join("6001", cbor(sevens)), Immutables: none}, join("6001", cbor(sevens)), false, "exact"},
		"no metadata":                       {Code{Bytes: join("6001", cbor(zeros)), Immutables: none}, join("6001"), false, "same"},
		"metadata only":                     {Code{Bytes: cbor(zeros), Immutables: none}, cbor(sevens), false, ""},
		"another creation's metadata":       {Code{Bytes: join("6001", cbor(zeros)), Immutables: none}, join("6001", cbor(sevens), "00"), true, "same"},
		"metadata of a created contract":    {Code{Bytes: join("6001", cbor(zeros), "50", cbor(zeros)), Immutables: none}, join("6001", cbor(sevens), "50", cbor(zeros)), false, "same"},
		"a byte after it":                   {Code{Bytes: join("6001", cbor(zeros), "50", cbor(zeros)), Immutables: none}, join("6001", cbor(sevens), "51", cbor(zeros)), false, ""},
		"metadata of another form":          {Code{Bytes: join("6001", changed(cbor(zeros), 2), "50", cbor(zeros)), Immutables: none}, join("6001", cbor(sevens), "50", cbor(zeros)), false, ""},
	} {
		same, exact := c.code.same(c.deployed, c.creation)
		got := map[[2]bool]string{{true, false}: "same", {true, true}: "exact"}[[2]bool{same, exact}]
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for text, want := range map[string]int{"": 0, "00": 1, "0000": 2, "a10002": 3, "60a1000002": 1, "60a0000002": 1, "a1000002": 0, "60a10003": 4, "60a1": 2, "6001b1000002": 6, "600100a10001": 6} {
		if got := body(common.FromHex(text)); got != want {
			t.Errorf("%s has %d bytes before the metadata, not %d", text, got, want)
		}
	}
}

// TestWhichContractCreates: of several whose creation code a transaction's begins with, the longest; of equal ones, the one added last.
func TestWhichContractCreates(t *testing.T) {
	r := New()
	if r.Creation([]byte{1}) != nil || r.Runtime([]byte{1}) != nil || !r.Empty() {
		t.Error("an empty registry knows a contract")
	}
	short, long := NewContract("short", nil, []byte{1, 2}, []byte{9}), NewContract("long", nil, []byte{1, 2, 3}, []byte{8})
	first, second := NewContract("first", nil, []byte{5, 6}, []byte{7}), NewContract("second", nil, []byte{5, 6}, []byte{7})
	before := r.Changes()
	r.Add(short, long)
	r.Add(first, second)
	if r.Changes() != before+2 || r.Empty() {
		t.Errorf("%d changes after %d", r.Changes(), before)
	}
	for range 2 { // then they are remembered
		for code, want := range map[string]*Contract{"\x01\x02": short, "\x01\x02\x03": long, "\x01\x02\x03\x04": long, "\x01\x02\x04": short, "\x01": nil, "\x05\x06": second, "\x05\x06\x07": second, "": nil, "\x09": nil} {
			if got := r.Creation([]byte(code)); got != want {
				t.Errorf("%x creates %+v, not %+v", code, got, want)
			}
		}
		for code, want := range map[string]*Contract{"\x09": short, "\x08": long, "\x07": second, "": nil, "\x01": nil} {
			if got := r.Runtime([]byte(code)); got != want {
				t.Errorf("%x is %+v, not %+v", code, got, want)
			}
		}
	}
	r.Add(NewContract("third", nil, []byte{5, 6}, []byte{7}))
	if got := r.Creation([]byte{5, 6}); got.Name != "third" {
		t.Errorf("what was added later does not count: %s", got.Name)
	}
	if got := r.Runtime([]byte{7}); got.Name != "third" {
		t.Errorf("what was added later does not count: %s", got.Name)
	}
	all := map[common.Hash]*Contract{}
	for i := range mostRemembered {
		remember(all, common.BigToHash(big.NewInt(int64(i))), short)
	}
	if len(all) != mostRemembered {
		t.Errorf("%d are remembered", len(all))
	}
	if remember(all, common.Hash{1}, nil); len(all) != 1 {
		t.Errorf("%d are remembered", len(all))
	}
}

// TestCloneTargets has ERC-1167's example.
func TestCloneTargets(t *testing.T) {
	const code = "363d3d373d3d3d363d73bebebebebebebebebebebebebebebebebebebebe5af43d82803e903d91602b57fd5bf3"
	for text, want := range map[string]bool{
		code: true, code + "00": true, code[:len(code)-2]: false, "00" + code: false, code[:60]: false, code[:20]: false, "": false,
		strings.Replace(code, "5af4", "5af1", 1): false, strings.Replace(code, "363d3d", "363d3e", 1): false,
	} {
		target, clone := CloneTarget(common.FromHex(text))
		if clone != want || clone && target != common.HexToAddress("0xbebebebebebebebebebebebebebebebebebebebe") || !clone && target != (common.Address{}) {
			t.Errorf("%s: %s %t", text, target, clone)
		}
	}
}

// TestLongValues shortens lists and texts only beyond their bounds.
func TestLongValues(t *testing.T) {
	numbers := func(n int) (list []uint16, want string) {
		for i := range n {
			list = append(list, uint16(i))
			want += fmt.Sprint(i, ", ")
		}
		return list, "[" + strings.TrimSuffix(want, ", ")
	}
	most, want := numbers(mostItems)
	if got := Text(most); got != want+"]" {
		t.Error(got)
	}
	more, _ := numbers(mostItems + 3)
	if got := Text(more); got != want+", … 3 more]" {
		t.Error(got)
	}
	if got := Text([2]bool{true, false}); got != "[true, false]" {
		t.Error(got)
	}
	for n, want := range map[int]string{mostText: strings.Repeat("a", mostText), mostText + 1: strings.Repeat("a", mostText) + "…"} {
		if got := shorten(strings.Repeat("a", n)); got != want {
			t.Errorf("%d letters: %s", n, got)
		}
	}
}

// TestSelectorsOfSeveral: contracts' own declarations count before others', and at most four with the same selector are known.
func TestSelectorsOfSeveral(t *testing.T) {
	s := newSignatures()
	for i := range 6 {
		document := fmt.Sprintf(`[{"type":"function","name":"f","inputs":[{"name":"a%d","type":"uint256"}]},{"type":"error","name":"e","inputs":[]},{"type":"event","name":"v","inputs":[]}]`, i)
		s.add(NewContract("c", json.RawMessage(document), nil, nil).Interface(), fmt.Sprint("c", i))
	}
	for _, all := range s.methods {
		if len(all) != 4 || all[3].contract != "c3" {
			t.Errorf("%d functions", len(all))
		}
	}
	for _, all := range s.errors {
		if len(all) != 4 {
			t.Errorf("%d errors", len(all))
		}
	}
	for _, all := range s.events {
		if len(all) != 4 {
			t.Errorf("%d events", len(all))
		}
	}
	if len(s.methods) != 1 || len(s.errors) != 1 || len(s.events) != 1 {
		t.Errorf("%+v", s)
	}
	own := NewContract("Own", json.RawMessage(`[{"type":"function","name":"transfer","inputs":[{"name":"who","type":"address"},{"name":"much","type":"uint256"}]}]`), nil, nil)
	other := NewContract("Other", json.RawMessage(`[{"type":"function","name":"transfer","inputs":[{"name":"whom","type":"address"},{"name":"what","type":"uint256"}]},{"type":"function","name":"rare","inputs":[]}]`), nil, nil)
	r := New()
	r.Add(other)
	call := append(crypto.Keccak256([]byte("transfer(address,uint256)"))[:4], make([]byte, 64)...)
	for want, c := range map[string]*Contract{"Own transfer(who: 0x0000000000000000000000000000000000000000, much: 0)": own, "Other transfer(whom: 0x0000000000000000000000000000000000000000, what: 0)": nil} {
		if d := r.Call(c, call); d == nil || d.Contract+" "+d.String() != want {
			t.Errorf("%v, want %s", d, want)
		}
	}
	if d := r.Call(nil, crypto.Keccak256([]byte("rare()"))[:4]); d == nil || d.String() != "rare()" {
		t.Error(d)
	}
	for _, short := range [][]byte{nil, {1}, call[:3]} {
		if d := r.Call(nil, short); d != nil {
			t.Errorf("%x: %v", short, d)
		}
	}
	r.Add(NewContract("New", json.RawMessage(`[{"type":"function","name":"newer","inputs":[]}]`), nil, nil))
	if d := r.Call(nil, crypto.Keccak256([]byte("newer()"))[:4]); d == nil || d.Contract != "New" {
		t.Error(d)
	}
	broken := NewContract("Broken", json.RawMessage(`{`), nil, nil)
	if i := broken.Interface(); len(i.Methods) != 0 {
		t.Errorf("%+v", i)
	}
}

// TestSignaturesAsSolidityWritesThem reads parameters, indexed ones and tuples, and names what is wrong.
func TestSignaturesAsSolidityWritesThem(t *testing.T) {
	for line, want := range map[string]string{
		"function f()":                                          "f()",
		"function f(uint256 a, address b)":                      "f(uint256,address)",
		"function f((address a, uint8 b) c, bytes d)":           "f((address,uint8),bytes)",
		"function f((address a, uint8 b)[] c)":                  "f((address,uint8)[])",
		"event E(address indexed a, uint256 b, bytes memory c)": "E(address,uint256,bytes) 1",
		"function f":              `"function f" has no parameters`,
		"function f(":             `"function f(" has no parameters`,
		"function f)":             `"function f)" has no parameters`,
		"function f(uint256)":     `"function f(uint256)": parameter "uint256" has no name`,
		"function f((uint256 a)":  `"function f((uint256 a)": "(uint256 a" is not closed`,
		"function f((uint256) a)": `"function f((uint256) a)": parameter "uint256" has no name`,
	} {
		all, err := parseSignature(line)
		got := fmt.Sprint(err)
		if err == nil {
			for _, m := range all.Methods {
				got = m.Sig
			}
			for _, e := range all.Events {
				indexed := 0
				for _, in := range e.Inputs {
					if in.Indexed {
						indexed++
					}
				}
				got = fmt.Sprint(e.Sig, " ", indexed)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestScopesInOddPlaces has the exact ranges of functions and contracts among the words and brackets that could mislead.
func TestScopesInOddPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"contract A{function f(){}}":                                         "A.=contract A{function f(){}} A.f=function f(){}",
		"contract A{} function g(){}":                                        "A.=contract A{} .g=function g(){}",
		"contract A{} contract B{function f(){}}":                            "A.=contract A{} B.=contract B{function f(){}} B.f=function f(){}",
		"library L{function f(){}}":                                          "L.!=library L{function f(){}} L.f=function f(){}",
		"interface I{function f() external;function g(){}}":                  "I.=interface I{function f() external;function g(){}} I.g=function g(){}",
		"contract A{function(){}}":                                           "A.=contract A{function(){}} A.fallback=function(){}",
		"contract A{constructor(){}receive()external payable{}fallback(){}}": "A.=contract A{constructor(){}receive()external payable{}fallback(){}} A.constructor=constructor(){} A.receive=receive()external payable{} A.fallback=fallback(){}",
		"contract A{uint receive;uint fallback;function f(){receive(1);}}":   "A.=contract A{uint receive;uint fallback;function f(){receive(1);}} A.f=function f(){receive(1);}",
		"receive(){}":     "",
		"constructor(){}": "",
		"contract A{function f(){if(x){function(uint)y;}}function g(){}}": "A.=contract A{function f(){if(x){function(uint)y;}}function g(){}} A.f=function f(){if(x){function(uint)y;}} A.g=function g(){}",
		"contract A{function f(function(uint)x){}}":                       "A.=contract A{function f(function(uint)x){}} A.f=function f(function(uint)x){}",
		"contract A{function f()m(x[{a:1}]){}}":                           "A.=contract A{function f()m(x[{a:1}]){}} A.f=function f()m(x[{a:1}]){}",
		"contract A{function f(uint[2] a){a[0]=1;}}":                      "A.=contract A{function f(uint[2] a){a[0]=1;}} A.f=function f(uint[2] a){a[0]=1;}",
		"contract A is B({x:1}){modifier m{_;}}":                          "A.=contract A is B({x:1}){modifier m{_;}} A.m=modifier m{_;}",
		"contract A{//function no(){}\nfunction f(){/*}*/}}":              "A.=contract A{//function no(){}\nfunction f(){/*}*/}} A.f=function f(){/*}*/}",
		"contract A{function f(){\"}\\\"}\";'}';}}":                       "A.=contract A{function f(){\"}\\\"}\";'}';}} A.f=function f(){\"}\\\"}\";'}';}",
		"contract A{function f9_$z(){}function Zz(){}}":                   "A.=contract A{function f9_$z(){}function Zz(){}} A.f9_$z=function f9_$z(){} A.Zz=function Zz(){}",
		"contract A{function f(){}":                                       "A.f=function f(){}",
		"uint contractX;contract A{}":                                     "A.=contract A{}",
		"contract{} contract 7{} library A{}":                             "A.!=library A{}",
		"contract A{struct S{uint a;}enum E{X}function f(){}}":            "A.=contract A{struct S{uint a;}enum E{X}function f(){}} A.f=function f(){}",
		"function f(){} //":                                               ".f=function f(){}",
		"function f(){} /*":                                               ".f=function f(){}",
		"function f(){} /**/ function g(){}":                              ".f=function f(){} .g=function g(){}",
		"function f(){} \"open\nfunction g(){}":                           ".f=function f(){} .g=function g(){}",
		"contract A{uint contract2;function contract3(){uint library4;}}": "A.=contract A{uint contract2;function contract3(){uint library4;}} A.contract3=function contract3(){uint library4;}",
		"contract A{function f(){} }) contract B{}":                       "A.=contract A{function f(){} } A.f=function f(){} B.=contract B{}",
	} {
		var got []string
		for _, s := range scopesOf(text) {
			name := s.Contract + "." + s.Function
			if s.Library {
				name += "!"
			}
			got = append(got, name+"="+text[s.Start:s.End])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, strings.Join(got, " "), want)
		}
	}
	if all := scopesOf(strings.Repeat("function f(){}", mostScopes+5)); len(all) != mostScopes-1 { // the last one has no end
		t.Errorf("%d functions, want %d", len(all), mostScopes-1)
	}
}

// TestLinesAndColumns counts both from 1.
func TestLinesAndColumns(t *testing.T) {
	s := Source{Content: "ab\n  c \n\nd"}
	s.finish()
	for offset, want := range map[int][2]int{0: {1, 1}, 1: {1, 2}, 2: {1, 3}, 3: {2, 1}, 5: {2, 3}, 8: {3, 1}, 9: {4, 1}, 10: {4, 2}} {
		if line, column := s.position(offset); line != want[0] || column != want[1] {
			t.Errorf("offset %d is in line %d, column %d; want %d", offset, line, column, want)
		}
	}
	for number, want := range map[int]string{-1: "", 0: "", 1: "ab", 2: "c", 3: "", 4: "d", 5: ""} {
		if got := s.line(number); got != want {
			t.Errorf("line %d is %q, want %q", number, got, want)
		}
	}
}

// mapped is a contract with code, a source map and sources, made by hand.
func mapped(code, maps string, sources ...Source) *Contract {
	for i := range sources {
		sources[i].finish()
	}
	c := &Contract{Name: "A", Source: "a.sol", Runtime: Code{Bytes: common.FromHex(code)}, Creation: Code{Bytes: []byte{0}}}
	c.build = func() (*Build, error) { return &Build{Sources: sources}, nil }
	c.maps = func() (string, string, error) { return "", maps, nil }
	return c.finish()
}

// TestPlacesOfInstructions follows a source map: what an entry leaves out is as before, the data of a push is no instruction, and wrong numbers lead
// nowhere.
func TestPlacesOfInstructions(t *testing.T) {
	const text = "library L{}\ncontract A{\n  function f(){ g(); h(); }\n  function g(){ x = 1; }\n  constructor(){}\n}\nfunction free(){ f(); }\n"
	f, g := strings.Index(text, "function f"), strings.Index(text, "function g")
	call, x := strings.Index(text, "g();"), strings.Index(text, "x = 1")
	whole := fmt.Sprintf("%d:%d:1:-", f, len("function f(){ g(); h(); }"))
	maps := strings.Join([]string{whole, fmt.Sprintf("%d:3::i", call), "", fmt.Sprintf("%d:5:1:o", x), ":::-", "0:4:9", "-1:4:1", fmt.Sprint("0:", len(text)+1, ":1"), fmt.Sprint("0:", len(text), ":1"), "0:1:2", "x:y:z:i", "0:5:-1", "0:-1:1", "2147483647:2147483647:1", fmt.Sprintf("%d:%d:1:-", g, len("function g(){ x = 1; }"))}, ";")
	// PUSH2 and PUSH32 have data; thirteen instructions follow.
	code := "61beef" + "7f" + strings.Repeat("5b", 32) + strings.Repeat("5b", 13)
	c := mapped(code, maps, Source{Name: "b.sol", Content: "contract B{}"}, Source{Name: "a.sol", Content: text}, Source{Name: "gone.sol", Missing: "nobody kept it"})
	p, err := c.Program(false)
	if err != nil || p.Missing != "" {
		t.Fatal(p, err)
	}
	const second, rest = 3, 3 + 33
	quote := func(place *Place) string {
		if place == nil {
			return "none"
		}
		return fmt.Sprintf("%s.%s %s:%d:%d %q %t", place.Contract, place.Function, place.Source, place.Line, place.Column, place.Code[:min(len(place.Code), 12)], place.Whole)
	}
	for pc, want := range map[uint64]string{
		0: `A.f a.sol:3:3 "function f()" true`, 1: "none", 2: "none",
		second: `A.f a.sol:3:17 "g()" false`, second + 1: "none", rest - 1: "none",
		rest: `A.f a.sol:3:17 "g()" false`, rest + 1: `A.g a.sol:4:17 "x = 1" false`, rest + 2: `A.g a.sol:4:17 "x = 1" false`,
		rest + 3: "none", rest + 4: "none", rest + 5: "none", rest + 6: `. a.sol:1:1 "library L{}\n" true`, rest + 7: "none", rest + 8: "none", rest + 9: "none", rest + 10: "none", rest + 11: "none",
		rest + 12: `A.g a.sol:4:3 "function g()" true`, rest + 13: "none", 1 << 40: "none",
	} {
		if got := quote(p.Place(pc)); got != want {
			t.Errorf("instruction %d: %s, want %s", pc, got, want)
		}
	}
	for pc, want := range map[uint64]byte{0: '-', 1: 0, second: 'i', rest: 'i', rest + 1: 'o', rest + 2: '-', rest + 8: 'i', 1 << 40: 0} {
		if got := p.Jump(pc); got != want {
			t.Errorf("instruction %d jumps %c, want %c", pc, got, want)
		}
	}
	for pc, want := range map[uint64][3]int32{0: {0, 1, int32(f)}, second: {1, 0, int32(call)}, rest: {1, 0, int32(call)}, rest + 1: {2, 0, int32(x)}, rest + 12: {0, 2, int32(g)}, rest + 6: {0, 0, 0}, 1: {0, 0, -1}, 1 << 40: {0, 0, -1}} {
		if got := [3]int32{p.Inside(pc), p.Whole(pc), p.Start(pc)}; got != want {
			t.Errorf("instruction %d: %d, want %d", pc, got, want)
		}
	}
	for name, want := range map[string]int32{"f": 1, "g": 2, "constructor": 0, "free": 0, "nothing": 0} {
		if got := p.Number(name); got != want {
			t.Errorf("%s has number %d, want %d", name, got, want)
		}
	}
	in := func(function string) *Place {
		at := strings.Index(text, "function "+function)
		return &Place{Source: "a.sol", Function: function, Start: at + 9, End: at + 10}
	}
	built := &Place{Function: "constructor", Source: "a.sol"}
	for _, m := range []struct {
		by, of *Place
		want   bool
	}{
		{in("f"), in("g"), true}, {in("g"), in("f"), false}, {in("free"), in("f"), true}, {in("f"), in("free"), false}, {built, built, true}, {built, in("f"), false}, {in("f"), built, false},
		{&Place{Source: "b.sol"}, in("f"), false}, {&Place{Source: "nowhere.sol"}, in("f"), false}, {&Place{Source: "a.sol", Start: len(text) - 1, End: len(text)}, in("f"), false},
	} {
		if got := p.Mentions(m.by, m.of); got != m.want {
			t.Errorf("%+v mentions %+v: %t", m.by, m.of, got)
		}
	}
	if only := p.Only(in("f"), "h();"); only == nil || quote(only) != `A.f a.sol:3:22 "h();" false` || only.Text != "function f(){ g(); h(); }" || text[only.Start:only.End] != "h();" {
		t.Error(quote(only))
	}
	for _, none := range []struct {
		at   *Place
		text string
	}{{in("f"), "();"}, {in("f"), "x = 1"}, {&Place{Source: "nowhere.sol"}, "h();"}, {&Place{Source: "a.sol"}, "library"}, {&Place{Source: "a.sol", End: len(text)}, "h();"}} {
		if got := p.Only(none.at, none.text); got != nil {
			t.Errorf("%+v has %s at %s", none.at, none.text, quote(got))
		}
	}
	if got := c.Declaration("g"); quote(got) != `A.g a.sol:4:3 "" true` || got.Text != "function g(){ x = 1; }" || text[got.Start:got.End] != got.Text {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"free", "nothing"} {
		if got := c.Declaration(name); got != nil {
			t.Errorf("%s is declared at %+v", name, got)
		}
	}
	b, err := c.Build()
	if err != nil || !b.Library("L") || b.Library("A") || b.Library("B") || b.Library("M") {
		t.Errorf("only L is a library: %v", err)
	}
	if text, missing := c.Text(); !strings.HasPrefix(text, "library L") || missing != "" {
		t.Error(text, missing)
	}
	if none, err := c.Program(true); err != nil || none.Missing != "the compiler wrote no source map of A" || none.Gap() != none.Missing || none.Place(0) != nil || p.Gap() != "" {
		t.Errorf("%+v %v", none, err)
	}
	if all := parseSourceMap("1:2:3;;;", 2); len(all) != 2 {
		t.Errorf("%d entries for two instructions", len(all))
	}
}

// TestBuildsAreReadOnce: what could be read is not read again, and what could not is.
func TestBuildsAreReadOnce(t *testing.T) {
	tries := 0
	c := &Contract{Name: "A", Source: "a.sol"}
	c.build = func() (*Build, error) {
		if tries++; tries < 3 {
			return nil, errors.New("not there yet")
		}
		return &Build{}, nil
	}
	c.finish()
	for range 2 {
		if _, err := c.Build(); err == nil || err.Error() != "not there yet" {
			t.Error(err)
		}
	}
	if text, missing := c.Text(); text != "" || missing != "no build-info lists a.sol" {
		t.Error(text, missing)
	}
	for range 3 {
		if _, err := c.Build(); err != nil {
			t.Error(err)
		}
	}
	if tries != 3 {
		t.Errorf("it was read %d times", tries)
	}
	c.build = func() (*Build, error) { return nil, errors.New("gone") }
	if got := c.Declaration("f"); got != nil {
		t.Error(got)
	}
	if _, missing := c.Text(); missing != "gone" {
		t.Error(missing)
	}
	unknown := NewContract("A", nil, nil, nil)
	if b, err := unknown.Build(); err != nil || len(b.Sources) != 0 {
		t.Error(b, err)
	}
}

// TestNumbersOfSources: a source map's numbers may have gaps, and are bounded.
func TestNumbersOfSources(t *testing.T) {
	in := &standardInput{Language: "Solidity"}
	if err := json.Unmarshal([]byte(`{"sources":{"a.sol":{"content":"contract A{}"},"b.sol":{}}}`), in); err != nil {
		t.Fatal(err)
	}
	b, err := buildOf(in, map[string]int{"a.sol": 2, "b.sol": 0}, "0.8.30")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.Sources {
		got = append(got, b.Sources[i].Name+"|"+b.Sources[i].Content+"|"+b.Sources[i].Missing)
	}
	want := []string{"b.sol||the compiler's input has no text of b.sol", "||the compiler's output does not list this source", "a.sol|contract A{}|"}
	if !slices.Equal(got, want) || b.Compiler != "0.8.30" {
		t.Errorf("%q, want %q", got, want)
	}
	for id, wrong := range map[int]bool{-1: true, 0: false, mostSources - 1: false, mostSources: true} {
		if _, err := buildOf(in, map[string]int{"a.sol": id}, ""); (err != nil) != wrong || wrong && err.Error() != fmt.Sprintf("source a.sol has the number %d", id) {
			t.Errorf("%d: %v", id, err)
		}
	}
}

// TestContractsWithoutAnEnd: a folder's contracts beyond the bound are forgotten, and its problems are told up to a bound.
func TestContractsWithoutAnEnd(t *testing.T) {
	big := make([]byte, mostCode/4)
	of := func(n int) (all []*Contract) {
		for range n {
			all = append(all, &Contract{Creation: Code{Bytes: big[:len(big)/2]}, Runtime: Code{Bytes: big[:len(big)/4]}, ABI: json.RawMessage(big[:len(big)/4])})
		}
		return all
	}
	f := &folder{files: map[string]*file{"a": {contracts: of(3)}, "b": {contracts: of(4)}, "c": {contracts: of(2)}}}
	f.bound()
	if a, b, c := len(f.files["a"].contracts), len(f.files["b"].contracts), len(f.files["c"].contracts); a != 3 || b != 1 || c != 0 || !slices.Equal(f.problems, []string{"5 contracts are not known: those before them have 256 MiB"}) {
		t.Errorf("%d, %d and %d contracts; %q", a, b, c, f.problems)
	}
	f = &folder{files: map[string]*file{"a": {contracts: of(4)}}}
	if f.bound(); len(f.files["a"].contracts) != 4 || f.problems != nil {
		t.Errorf("%d contracts; %q", len(f.files["a"].contracts), f.problems)
	}
	for n, want := range map[int]int{0: 0, mostProblems: mostProblems, mostProblems + 2: mostProblems + 1} {
		f := &folder{files: map[string]*file{"none": {}}}
		for i := range n {
			f.files[fmt.Sprintf("%02d", i)] = &file{problem: fmt.Sprint("problem ", i)}
		}
		if got := f.allProblems(); len(got) != want || n > mostProblems && got[mostProblems] != "and 2 more" {
			t.Errorf("%d problems: %q", n, got)
		}
	}
}

// TestFoldersAreLookedAt: a folder counts once, by whatever path it is named, and every question finds what was compiled since.
func TestFoldersAreLookedAt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	link := folder + "-link"
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Symlink(folder, link)); err != nil {
		t.Fatal(err)
	}
	r := New()
	for _, path := range []string{folder, link, folder + "/."} {
		if err := r.AddFolder(path); err != nil {
			t.Fatal(err)
		}
	}
	if all := r.Folders(); len(all) != 1 || all[0].Contracts != 0 || len(all[0].Problems) != 0 {
		t.Fatalf("%+v", all)
	}
	compile := func(name string, code byte) {
		t.Helper()
		text := fmt.Sprintf(`{"contractName":%q,"sourceName":"a.sol","abi":[{"type":"function","name":%q,"inputs":[]}],"bytecode":{"object":"0x60%02x60"},"deployedBytecode":{"object":"0x61%02x61"}}`, name, name, code, code)
		if err := os.MkdirAll(filepath.Join(folder, name+".sol"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".sol", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.next = time.Time{} // the next question looks again
	}
	before := r.Changes()
	compile("A", 1)
	if after := r.Changes(); after != before+1 {
		t.Errorf("%d changes, not %d", after, before+1)
	}
	compile("B", 2)
	if c := r.Creation([]byte{0x60, 2, 0x60, 9}); c == nil || c.Name != "B" {
		t.Errorf("no contract creates what was just compiled: %+v", c)
	}
	compile("C", 3)
	if c := r.Runtime([]byte{0x61, 3, 0x61}); c == nil || c.Name != "C" {
		t.Errorf("no contract has what was just compiled: %+v", c)
	}
	compile("D", 4)
	if all := r.Contracts(); len(all) != 4 {
		t.Errorf("%d contracts", len(all))
	}
	compile("E", 5)
	if d := r.Call(nil, crypto.Keccak256([]byte("E()"))[:4]); d == nil || d.Contract != "E" {
		t.Errorf("a call of what was just compiled: %+v", d)
	}
	if all := r.Folders(); len(all) != 1 || all[0].Contracts != 5 {
		t.Errorf("%+v", all)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	r.next = time.Time{}
	if all := r.Folders(); len(all) != 1 || all[0].Contracts != 0 || len(all[0].Problems) != 1 || !strings.HasPrefix(all[0].Problems[0], "the artifacts cannot be read: ") {
		t.Errorf("%+v", all)
	}
	if c := r.Runtime([]byte{0x61, 3, 0x61}); c != nil {
		t.Errorf("a contract of a folder that is gone: %+v", c)
	}
}
