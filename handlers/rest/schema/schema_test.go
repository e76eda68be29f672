package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type inner struct {
	Name string `json:"name"`
}

type tree struct {
	Children []tree `json:"children"`
}

type box[T any] struct {
	Of T `json:"of"`
}

type embedded struct {
	Below int `json:"below"`
}

type sample struct {
	embedded
	Text     string `json:"text" doc:"A text." enum:"a,b"`
	Hidden   string `json:"-"`
	secret   int
	Bare     bool            // by its own name
	Maybe    string          `json:"maybe,omitempty"`
	Zero     int             `json:"zero,omitzero"`
	Nullable *uint32         `json:"nullable" max:"9"`
	Pointer  *inner          `json:"pointer,omitempty" doc:"An inner one."`
	Digits   int64           `json:"digits,string"`
	Number   json.Number     `json:"number"`
	Float    float64         `json:"float" min:"0" max:"1"`
	List     []string        `json:"list" format:"address"`
	Map      map[string]int8 `json:"map"`
	Any      any             `json:"any"`
	Raw      json.RawMessage `json:"raw"`
	Array    [2]uint64       `json:"array"`
	Old      string          `json:"old" deprecated:"true" pattern:"^x$"`
	Price    Decimal         `json:"price"`
	Status   IndexStatus     `json:"status"`
}

// TestTypesAreDescribed compares the schemas of types with JSON.
func TestTypesAreDescribed(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[sample](), `{"$ref":"#/components/schemas/sample"}`},
		{reflect.TypeFor[*sample](), `{"$ref":"#/components/schemas/sample"}`},
		{reflect.TypeFor[[]inner](), `{"type":"array","items":{"$ref":"#/components/schemas/inner"}}`},
		{reflect.TypeFor[struct{ A uint8 }](), `{"type":"object","properties":{"A":{"type":"integer","minimum":0}},"required":["A"]}`},
		{reflect.TypeFor[tree](), `{"$ref":"#/components/schemas/tree"}`},
		{reflect.TypeFor[box[inner]](), `{"$ref":"#/components/schemas/boxinner"}`},
		{reflect.TypeFor[any](), `{}`},
		{reflect.TypeFor[func()](), `{}`},
	} {
		if have, _ := json.Marshal(NewSchemas(Spec).Of(c.of)); string(have) != c.want {
			t.Errorf("%s is %s: want %s", c.of, have, c.want)
		}
	}
	d := NewSchemas(Spec)
	s := d.Resolve(d.Of(reflect.TypeFor[sample]()))
	want := map[string]string{
		"below": `{"type":"integer"}`, "text": `{"type":"string","description":"A text.","enum":["a","b"]}`, "Bare": `{"type":"boolean"}`, "maybe": `{"type":"string"}`,
		"zero": `{"type":"integer"}`, "nullable": `{"anyOf":[{"type":"integer","minimum":0,"maximum":9},{"type":"null"}]}`,
		"pointer": `{"$ref":"#/components/schemas/inner","description":"An inner one."}`, "digits": `{"type":"string"}`, "number": `{"type":"number"}`,
		"float": `{"type":"number","minimum":0,"maximum":1}`, "list": `{"type":"array","items":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"}}`,
		"map": `{"type":"object","additionalProperties":{"type":"integer"}}`, "any": `{}`, "raw": `{}`,
		"array": `{"type":"array","items":{"type":"integer","minimum":0}}`, "old": `{"type":"string","pattern":"^x$","deprecated":true}`,
		"price": `{"type":"string","pattern":"^-?[0-9]+(\\.[0-9]+)?$"}`,
	}
	for name, text := range want {
		if have, _ := json.Marshal(s.Properties[name]); string(have) != text {
			t.Errorf("%s is %s: want %s", name, have, text)
		}
	}
	if hidden := (sample{secret: 1}); hidden.secret != 1 || len(s.Properties) != len(want)+1 || s.Properties["status"].Enum[0] != "unknown" {
		t.Errorf("members are %v", s.Properties)
	}
	optional := []string{"maybe", "zero", "pointer"}
	for name := range s.Properties {
		if slices.Contains(s.Required, name) == slices.Contains(optional, name) {
			t.Errorf("%s is required: %v", name, slices.Contains(s.Required, name))
		}
	}
	up := NewSchemas(Upstream)
	s = up.Resolve(up.Of(reflect.TypeFor[sample]()))
	if s.Properties["price"].Type != "number" || s.Properties["status"].Enum[0] != "UNKNOWN" {
		t.Errorf("upstream, the members are %v", s.Properties)
	}
}

// TestTypesOfTheSameNameGetOthers describes types of one name, some of the same package.
func TestTypesOfTheSameNameGetOthers(t *testing.T) {
	d := NewSchemas(Spec)
	var names []string
	for range 2 {
		names = nil
		for _, of := range same() {
			names = append(names, d.Of(of).RefName())
		}
	}
	if want := []string{"twin", "Resttwin", "Resttwin2", "Resttwin3"}; !slices.Equal(names, want) {
		t.Errorf("the names are %v: want %v", names, want)
	}
	if len(d.Named()) != 4 {
		t.Errorf("%d schemas have a name", len(d.Named()))
	}
}

// same returns four types of one name.
func same() []reflect.Type {
	var all []reflect.Type
	{
		type twin struct{ A int }
		all = append(all, reflect.TypeFor[twin]())
	}
	{
		type twin struct{ B int }
		all = append(all, reflect.TypeFor[twin]())
	}
	{
		type twin struct{ C int }
		all = append(all, reflect.TypeFor[twin]())
	}
	{
		type twin struct{ D int }
		all = append(all, reflect.TypeFor[twin]())
	}
	return all
}

func TestDecimalsAreLiterals(t *testing.T) {
	for text, good := range map[string]bool{"0": true, "-0.5": true, "12.50": true, "123456789012345678901234567890.1": true, "00": false, "01.5": false, ".5": false, "5.": false,
		"1e3": false, "": false, "-": false, "1.2.3": false, "+1": false, "NaN": false, "9": true, "1:": false, "1/": false} {
		for d, want := range map[Dialect]string{Spec: `"` + text + `"`, Upstream: text} {
			have, err := d.Decimal(text).MarshalJSON()
			if (err == nil) != good || good && string(have) != want {
				t.Errorf("%q in the dialect %s is %s, %v", text, d, have, err)
			}
		}
	}
}

func TestStatusesFollowTheDialect(t *testing.T) {
	for _, name := range IndexStatuses {
		for d, want := range map[Dialect]string{Spec: strings.ToLower(name), Upstream: name} {
			if have, err := json.Marshal(d.IndexStatus(name)); err != nil || string(have) != `"`+want+`"` {
				t.Errorf("%s is %s, %v", name, have, err)
			}
		}
	}
}
