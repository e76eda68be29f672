package openrpc

import (
	"fmt"
	"reflect"
	"strings"
)

// Document is an OpenRPC document.
type Document struct {
	OpenRPC string       `json:"openrpc"`
	Info    Info         `json:"info"`
	Servers []Server     `json:"servers,omitempty"`
	Methods []MethodItem `json:"methods"`
}

// Info describes the whole document.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

// Server names the URL that serves the methods.
type Server struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// MethodItem describes a method.
type MethodItem struct {
	Name        string    `json:"name"`
	Summary     string    `json:"summary,omitempty"`
	Description string    `json:"description,omitempty"`
	Tags        []Tag     `json:"tags,omitempty"`
	Servers     []Server  `json:"servers,omitempty"`
	Structure   string    `json:"paramStructure"`
	Params      []Content `json:"params"`
	Result      Content   `json:"result"`
	Errors      []Error   `json:"errors"`
	Examples    []Example `json:"examples,omitempty"`
}

// Tag groups methods.
type Tag struct {
	Name string `json:"name"`
}

// Content is a parameter or a result.
type Content struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Schema   Schema `json:"schema"`
}

// Error is an error that a method may return.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Example is a call with its answer.
type Example struct {
	Name   string  `json:"name"`
	Params []Value `json:"params"`
	Result *Value  `json:"result,omitempty"`
}

// Value is a parameter or a result in an example.
type Value struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// errors lists the errors of every method; single methods add their own.
var errors = []Error{
	{-32700, "The request is not JSON."}, {-32600, "The request is not a JSON-RPC call."}, {-32601, "The method does not exist."},
	{-32602, "The parameters are not allowed."}, {-32000, "The call failed; the message says why."},
}

// Reverts is the error of a call that its contract reverted; Refused is the error of a call that the client may not make.
var (
	Reverts = Error{3, "execution reverted"}
	Refused = Error{4100, "Pages of other origins need --allow-origin for this, and a server that listens beyond loopback needs --allow-control."}
)

// Item describes a method.
func (m *Method) Item() MethodItem {
	source := sourceOf(m.object, m.goName)
	i := MethodItem{Name: m.Name, Summary: source.Doc, Structure: "by-position", Params: []Content{}, Errors: errors[:len(errors):len(errors)], Result: Content{Name: "result", Schema: Schema{}}}
	i.Tags = []Tag{{m.Name[:strings.IndexAny(m.Name, "._")]}}
	if m.out != nil {
		i.Result.Schema = schemaOf(m.out, 0)
	}
	if m.ByName {
		i.Structure = "by-name"
		if m.in[0].Kind() == reflect.Struct {
			for _, f := range fieldsOf(m.in[0]) {
				i.Params = append(i.Params, Content{f.name, false, schemaOf(f.typ, 1)})
			}
		}
		return i
	}
	for j, in := range m.in {
		name := fmt.Sprintf("parameter%d", j+1)
		if j < len(source.Params) {
			name = source.Params[j]
		}
		c := Content{name, in.Kind() != reflect.Pointer, schemaOf(in, 0)}
		if isBlock(in) || name == "ref" { // the sources' names for a number, a tag or a hash
			c.Name, c.Schema = "block", block
		}
		i.Params = append(i.Params, c)
	}
	return i
}
