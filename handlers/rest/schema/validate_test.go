package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type either struct{}

func (either) Schema(d *Schemas) *Schema {
	return &Schema{AnyOf: []*Schema{d.Of(reflect.TypeFor[round]()), d.Of(reflect.TypeFor[square]()), {Type: "string"}}}
}

type round struct {
	Radius int `json:"radius" min:"1"`
	Name   int `json:"name"`
}

type square struct {
	Side int `json:"side"`
}

type body struct {
	Kind  string          `json:"kind" enum:"x,y"`
	Count uint64          `json:"count" max:"100"`
	Ratio float64         `json:"ratio,omitempty" min:"0.5"`
	Flag  bool            `json:"flag,omitempty"`
	Hash  string          `json:"hash,omitempty" format:"hash"`
	List  []square        `json:"list,omitempty"`
	Maybe *square         `json:"maybe"`
	More  map[string]bool `json:"more,omitempty"`
	Shape either          `json:"shape,omitzero"`
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestValuesFitOrSayWhy(t *testing.T) {
	good := `{"kind":"x","count":1,"maybe":null}`
	with := func(more string) string { return strings.Replace(good, "}", ","+more+"}", 1) }
	for _, c := range []struct{ text, want string }{
		{good, ""}, {with(`"ratio":0.5,"flag":false,"list":[],"more":{"a":true}`), ""}, {with(`"hash":"` + hash + `"`), ""},
		{with(`"list":[{"side":1},{"side":-2}]`), ""}, {strings.Replace(good, "null", `{"side":3}`, 1), ""},
		{`{"kind":"x","count":1e2,"maybe":null}`, ""}, {`{"kind":"x","count":100.0,"maybe":null}`, ""},
		{`[]`, "the body [] is not allowed: expected an object"}, {`null`, "the body null is not allowed: expected an object"},
		{`{}`, "kind is required; count is required; maybe is required"},
		{`{"kind":"z","count":1,"maybe":null}`, `kind "z" is not allowed: expected one of x, y`},
		{`{"kind":5,"count":1,"maybe":null}`, "kind 5 is not allowed: expected a string"},
		{`{"kind":"x","count":-1,"maybe":null}`, "count -1 is not allowed: expected an integer from 0 to 100"},
		{`{"kind":"x","count":100.5,"maybe":null}`, "count 100.5 is not allowed: expected an integer from 0 to 100"},
		{`{"kind":"x","count":101,"maybe":null}`, "count 101 is not allowed: expected an integer from 0 to 100"},
		{`{"kind":"x","count":"1","maybe":null}`, `count "1" is not allowed: expected an integer from 0 to 100`},
		{`{"kind":"x","count":1e999,"maybe":null}`, "count 1e999 is not allowed: expected an integer from 0 to 100"},
		{with(`"ratio":0.4`), "ratio 0.4 is not allowed: expected a number of at least 0.5"},
		{with(`"flag":0`), "flag 0 is not allowed: expected true or false"},
		{with(`"hash":"0x12"`), `hash "0x12" is not allowed: expected text like ^0x[0-9a-f]{64}$`},
		{with(`"list":{}`), "list {} is not allowed: expected an array"},
		{with(`"list":[{"side":1},{"side":true},5]`), "list[1].side true is not allowed: expected an integer; list[2] 5 is not allowed: expected an object"},
		{with(`"more":{"b":1,"a":2}`), "more.a 2 is not allowed: expected true or false; more.b 1 is not allowed: expected true or false"},
		{`{"kind":"x","count":1,"maybe":5}`, "maybe 5 is not allowed: expected null"},
		{with(`"shape":{"radius":0,"name":"a"}`), "shape.side is required"},
		{with(`"shape":{"radius":0,"name":1}`), "shape.radius 0 is not allowed: expected an integer of at least 1"},
		{with(`"shape":{"side":"a"}`), `shape.side "a" is not allowed: expected an integer`},
		{with(`"shape":7`), "shape 7 is not allowed: expected a string"},
		{with(`"shape":"round"`), ""}, {with(`"shape":{"radius":1,"name":2}`), ""}, {with(`"shape":{"side":2}`), ""},
	} {
		have := strings.Join(NewSchemas(Spec).Check(reflect.TypeFor[body](), decode(t, c.text), false), "; ")
		if have != c.want {
			t.Errorf("%s: %s\nwant %s", c.text, have, c.want)
		}
	}
}

// TestUnknownMembersAreDroppedOrNamed: a strict check names unknown members, a lenient one drops them, even if a schema has alternatives.
func TestUnknownMembersAreDroppedOrNamed(t *testing.T) {
	const text = `{"KIND":"z","kind":"x","count":1,"maybe":{"side":1,"sied":2},"list":[{"side":1,"x":1}],"more":{"kept":true},"shape":{"side":2,"radius":true}}`
	v := decode(t, text)
	if problems := NewSchemas(Spec).Check(reflect.TypeFor[body](), v, false); len(problems) > 0 {
		t.Errorf("it is wrong that %v", problems)
	}
	want := decode(t, `{"kind":"x","count":1,"maybe":{"side":1},"list":[{"side":1}],"more":{"kept":true},"shape":{"side":2}}`)
	if !reflect.DeepEqual(v, want) {
		t.Errorf("left is %v: want %v", v, want)
	}
	problems := NewSchemas(Spec).Check(reflect.TypeFor[body](), decode(t, text), true)
	for _, says := range []string{`member "KIND" is not known`, `maybe.member "sied" is not known: did you mean side?`, `list[0].member "x" is not known: expected one of side`, "shape."} {
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, says) }) {
			t.Errorf("nothing says %s in %q", says, problems)
		}
	}
	if len(problems) != 4 {
		t.Errorf("%d problems: %q", len(problems), problems)
	}
}

// TestLongArraysReportSomeProblems: after a hundred problems an array ends.
func TestLongArraysReportSomeProblems(t *testing.T) {
	items := make([]any, 500)
	problems := NewSchemas(Spec).Check(reflect.TypeFor[[]string](), items, false)
	if len(problems) != 101 || problems[100] != "[100] null is not allowed: expected a string" {
		t.Errorf("%d problems, the last is %s", len(problems), problems[len(problems)-1])
	}
	if problems := NewSchemas(Spec).Check(reflect.TypeFor[[]string](), slices.Repeat([]any{"x"}, 500), false); len(problems) > 0 {
		t.Errorf("good items are %v", problems)
	}
}

// TestIntegersAreRewrittenForTheDecoder keeps everything that is no integer.
func TestIntegersAreRewrittenForTheDecoder(t *testing.T) {
	have := DigitsOnly(decode(t, `{"a":[6.7e1,1.5,"2.0",true,null,{"b":100.0}],"c":1e99,"d":1e100,"e":-0.0,"f":1e-3,"g":1E+2}`))
	want := decode(t, `{"a":[67,1.5,"2.0",true,null,{"b":100}],"c":1`+strings.Repeat("0", 99)+`,"d":1e100,"e":0,"f":1e-3,"g":100}`)
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%v\nwant %v", have, want)
	}
	for text, good := range map[string]bool{strings.Repeat("9", 80): true, strings.Repeat("9", 81): false, "1e99": true, "1e-99": true, "1e+099": true, "1e100": false, "1E-100": false} {
		if _, ok := exact(json.Number(text)); ok != good {
			t.Errorf("%s is read: %v", text, ok)
		}
	}
	if _, ok := exact("5"); ok {
		t.Error("a string is a number")
	}
}

func TestLongValuesAreShortened(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 100): strings.Repeat("x", 100), strings.Repeat("x", 101): strings.Repeat("x", 100) + "…",
		strings.Repeat("x", 99) + "é": strings.Repeat("x", 99) + "…", strings.Repeat("x", 98) + "éa": strings.Repeat("x", 98) + "é…",
	} {
		if have := Shorten(text); have != want {
			t.Errorf("%q\nwant %q", have, want)
		}
	}
	long := fmt.Sprintf(`{"kind":"%s","count":1,"maybe":null}`, strings.Repeat("z", 5000))
	if problems := NewSchemas(Spec).Check(reflect.TypeFor[body](), decode(t, long), false); len(problems) != 1 || len(problems[0]) > 200 {
		t.Errorf("%q", problems)
	}
}
