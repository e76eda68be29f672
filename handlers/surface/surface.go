// Package surface lists the operations and methods of the real services, and what a node of the network does with each method before and since
// Helicon. The manual's table of coverage and a strict node read the same list.
package surface

import (
	_ "embed" // the list
	"slices"
	"strings"
)

// State says whether nodes serve a method.
type State int

// The states, from least to most.
const (
	Never State = iota // no node has it
	Off                // a node serves it if its configuration says so
	On                 // a node with the default configuration serves it
)

var stateNames = [...]string{Never: "never", Off: "off", On: "on"}

// Eras holds a method's state before and since Helicon.
type Eras [2]State

// At returns the state in one of the two eras.
func (e Eras) At(helicon bool) State {
	if helicon {
		return e[1]
	}
	return e[0]
}

// Entry is a line of the list: an operation of REST, or methods of JSON-RPC at a path.
type Entry struct {
	Service string
	Words   []string // an HTTP method and a path, or a path and its methods of JSON-RPC
	Eras    Eras     // of a node's methods
	Reason  string   // why Snowglobe does not serve it; empty if it does
}

// REST reports whether the line is a REST operation, as opposed to JSON-RPC methods.
func (e *Entry) REST() bool { return strings.HasPrefix(e.Words[1], "/v") }

// list has a line for each operation of the real services, or for several methods of a path, in sections.
//
//go:embed surface.txt
var list string

// Entries returns the lines of the list.
func Entries() (all []Entry) {
	service := ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			service = strings.Trim(line, "[]")
		default:
			line, reason, _ := strings.Cut(line, " -- ")
			names, states, _ := strings.Cut(line, " | ")
			all = append(all, Entry{service, strings.Fields(names), erasOf(strings.Fields(states)), reason})
		}
	}
	return all
}

// erasOf reads no state, the state of both eras, or one for each.
func erasOf(states []string) Eras {
	switch len(states) {
	case 0:
		return Eras{On, On}
	case 1:
		states = append(states, states[0])
	}
	return Eras{State(slices.Index(stateNames[:], states[0])), State(slices.Index(stateNames[:], states[1]))}
}

// Paths of a node, as the list names them.
const (
	Info       = "/ext/info"
	Health     = "/ext/health"
	Admin      = "/ext/admin"
	PChain     = "/ext/bc/P"
	XChain     = "/ext/bc/X"
	Wallet     = "/ext/bc/X/wallet"
	Atomic     = "/ext/bc/C/avax"
	CChain     = "/ext/bc/C/rpc"
	L1         = "/ext/bc/{L1}/rpc"
	Validators = "/ext/bc/{L1}/validators"
)

// Methods returns the methods at a path of a node. A method that the list does not name has the state Never.
func Methods(path string) map[string]Eras {
	methods := map[string]Eras{}
	for _, e := range Entries() {
		if e.Words[0] == path {
			for _, method := range e.Words[1:] {
				methods[method] = e.Eras
			}
		}
	}
	return methods
}
