package export

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Type is a kind of export.
type Type string

// Kinds of exports.
const (
	EVM     Type = "TRANSACTION_EXPORT_EVM"
	Primary Type = "TRANSACTION_EXPORT_PRIMARY_NETWORK"
	Simple  Type = "TRANSACTION_EXPORT_PRIMARY_NETWORK_SIMPLE"
	Staking Type = "TRANSACTION_EXPORT_PRIMARY_NETWORK_STAKING"
)

// Types lists all kinds of exports.
var Types = []Type{EVM, Primary, Simple, Staking}

// Column is one column of a file, as the documentation names it.
type Column struct{ Name, Doc string }

// column is a Column with its formatting function.
type column[R any] struct {
	Column
	text func(*R) string
}

type table[R any] []column[R]

// columns is a table of any rows.
type columns interface{ names() []Column }

// Columns lists the columns of a type's files.
func (t Type) Columns() []Column { return t.table().names() }

// table returns nil for a type that does not exist.
func (t Type) table() columns {
	switch t {
	case EVM:
		return evmTable
	case Primary:
		return primaryTable
	case Simple:
		return simpleTable
	case Staking:
		return stakingTable
	}
	return nil
}

func (t table[R]) names() []Column {
	all := make([]Column, len(t))
	for i := range t {
		all[i] = t[i].Column
	}
	return all
}

// only selects the columns with these names.
func (t table[R]) only(names string) (some table[R]) {
	for name := range strings.FieldsSeq(names) {
		for _, c := range t {
			if c.Name == name {
				some = append(some, c)
			}
		}
	}
	return some
}

func (t Type) header() (line []byte) {
	for i, c := range t.Columns() {
		line = field(line, i, c.Name)
	}
	return append(line, lineEnd...)
}

func (t table[R]) line(text []byte, row *R) []byte {
	for i := range t {
		text = field(text, i, inert(t[i].text(row)))
	}
	return append(text, lineEnd...)
}

// Files follow RFC 4180. So does the standard library's writer, but it drops carriage returns inside fields.
const lineEnd = "\r\n"

// field appends the field in column i.
func field(line []byte, i int, text string) []byte {
	if i > 0 {
		line = append(line, ',')
	}
	if !strings.ContainsAny(text, "\",\r\n") {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// formula lists the characters that make a spreadsheet read a cell as a formula, as OWASP lists them under CSV injection.
const formula = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"

// inert returns text that no spreadsheet reads as a formula, since anyone can choose a token's name. A leading apostrophe makes it text.
// Numbers stay numbers, negative ones too.
func inert(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	signed := (first == '+' || first == '-') && len(text) > 1 && strings.Trim(text[1:], "0123456789.") == ""
	if text == "" || signed || !strings.ContainsRune(formula, first) {
		return text
	}
	return "'" + text
}

func rfc3339(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
