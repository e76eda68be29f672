// Package names writes the names of a world as source code, so that a test doesn't compile if it mentions a persona, a contract or a sample id that
// the world lacks.
package names

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"go/format"
	"go/token"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"snowglobe/fixtures"
	"snowglobe/handlers/control"
)

// Language is a programming language for the names.
type Language string

// The languages, by their flags.
const (
	TypeScript Language = "ts"
	Go         Language = "go"
	Python     Language = "py"
)

//go:embed *.tmpl
var templates embed.FS

// Write writes a world's names in a language. contracts lists the contracts of all chains, with their ABIs.
func Write(out io.Writer, language Language, w *control.World, contracts []control.ContractABI) error {
	name := string(language) + ".tmpl"
	t, err := template.New(name).Funcs(functions).ParseFS(templates, name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newWorld(language, w, contracts)); err != nil {
		return err
	}
	text := b.Bytes()
	if language == Go {
		if text, err = format.Source(text); err != nil {
			return err
		}
	}
	_, err = out.Write(text)
	return err
}

// functions lists the functions that templates can call.
var functions = template.FuncMap{"quote": quote, "comment": comment}

// world is the data for the templates. An ID is a name as an identifier of the language, unique within its list.
type world struct {
	*control.World
	Personas []persona
	ABIs     []abi
	Chains   []chain
	Networks []network
}

type persona struct {
	ID string
	control.Persona
}

type abi struct {
	ID, Name string
	JSON     string // on one line
}

type chain struct {
	ID, Key string
	control.Chain
	Contracts []contract
	Samples   []sample
}

// Tokens lists the contracts that are tokens.
func (c chain) Tokens() []contract {
	return slices.DeleteFunc(slices.Clone(c.Contracts), func(one contract) bool { return one.Token == nil })
}

type contract struct {
	ID string
	control.Contract
	ABI *abi // nil if unknown
}

type network struct {
	ID string
	control.Network
	Nodes   []node
	Samples []sample
}

type node struct {
	ID string
	control.Node
}

type sample struct{ ID, Value string }

func newWorld(language Language, w *control.World, contracts []control.ContractABI) *world {
	of := &world{World: w}
	id := newNamer(language)
	for _, p := range w.Personas {
		of.Personas = append(of.Personas, persona{id(p.Name), p})
	}
	samples := func(all map[string]string) (list []sample) {
		id := newNamer(language)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, sample{id(name), all[name]})
		}
		return list
	}
	id = newNamer(language)
	for _, n := range w.Networks {
		one := network{ID: id(n.Name), Network: n, Samples: samples(n.Samples)}
		nodeID := newNamer(language)
		roles := map[string]bool{}
		for _, known := range n.Nodes {
			if !roles[known.Role] { // any of them will do; take the first
				one.Nodes = append(one.Nodes, node{nodeID(known.Role), known})
			}
			roles[known.Role] = true
		}
		of.Networks = append(of.Networks, one)
	}
	abis := map[string]*abi{}
	id = newNamer(language)
	for _, c := range w.Chains {
		one := chain{Key: chainKey(c), Chain: c, Samples: samples(c.Samples)}
		one.ID = id(one.Key)
		contractID := newNamer(language)
		for _, known := range c.Contracts {
			named := contract{ID: contractID(known.Role), Contract: known}
			i := slices.IndexFunc(contracts, func(other control.ContractABI) bool {
				return other.Name == known.Role && other.ChainID == c.ChainID && other.Network == c.Network
			})
			if i >= 0 && len(contracts[i].ABI) > 0 {
				text, name := oneLine(contracts[i].ABI), cmp.Or(known.Artifact, known.Role)
				if other := abis[name]; other != nil && other.JSON != text { // another contract with the same name, on another chain
					name += "-" + one.Key
				}
				if abis[name] == nil {
					abis[name] = &abi{Name: name, JSON: text}
				}
				named.ABI = abis[name]
			}
			one.Contracts = append(one.Contracts, named)
		}
		of.Chains = append(of.Chains, one)
	}
	id = newNamer(language)
	for _, name := range slices.Sorted(maps.Keys(abis)) {
		abis[name].ID = id(name)
		of.ABIs = append(of.ABIs, *abis[name])
	}
	return of
}

// chainKey names a C-Chain C or fujiC, and an L1 by its own name.
func chainKey(c control.Chain) string {
	switch i := slices.IndexFunc(fixtures.Networks, func(n fixtures.Network) bool { return n.CChainID.String() == c.BlockchainID }); {
	case i < 0:
		return c.Name
	case c.Network == fixtures.MainnetName:
		return "C"
	}
	return c.Network + "C"
}

func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// quote returns a string literal that is valid in all three languages.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always has a literal, and the buffer has room
	return strings.TrimSpace(b.String())
}

// comment removes whatever would end a comment from a text.
func comment(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "*/", "* /")
}

// key returns a name as a key of an object in TypeScript.
func key(name string) string {
	for i, r := range cmp.Or(name, "-") {
		if !(r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || i > 0 && '0' <= r && r <= '9') {
			return quote(name)
		}
	}
	return name
}

// words splits a name at everything that is neither a letter nor a digit.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// exported returns an exported Go identifier.
func exported(name string) string {
	text := ""
	for _, word := range words(name) {
		head := []rune(word)
		head[0] = unicode.ToUpper(head[0])
		text += string(head)
	}
	if !token.IsExported(text) { // it begins with a digit, or with a letter of a script without capitals
		return "X" + text
	}
	return text
}

// keywords lists the Python keywords that snake might return.
var keywords = strings.Fields("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

// snake returns a Python identifier.
func snake(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		runes := []rune(word)
		for i, r := range runes {
			if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	text := b.String()
	switch {
	case text == "" || unicode.IsDigit([]rune(text)[0]):
		return "x" + text
	case slices.Contains(keywords, text):
		return text + "_"
	}
	return text
}

// newNamer returns a function that turns the names of one list into identifiers, and numbers those that would collide.
func newNamer(language Language) func(name string) string {
	convert := map[Language]func(string) string{TypeScript: key, Go: exported, Python: snake}[language]
	taken := map[string]bool{}
	return func(name string) string {
		base := convert(name)
		text := base
		for n := 2; taken[text]; n++ {
			text = base + strconv.Itoa(n)
		}
		taken[text] = true
		return text
	}
}
