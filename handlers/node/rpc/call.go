package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
)

// Request is a parsed HTTP body or WebSocket message.
type Request struct {
	Calls []Call
	batch bool
	refusal
	body []byte
	one  [1]Call // storage for a request without a batch
}

// refusal is an answer to a request as a whole, in place of its calls.
type refusal struct {
	problem *Error
	id      json.RawMessage // of the call that receives the error
	listed  bool            // whether the answer is a batch of one
}

// Call is one JSON-RPC call.
type Call struct {
	ID     json.RawMessage // as the client wrote it, nil for none
	Method string
	Params json.RawMessage

	kind   kind
	method *method // nil if the server does not have it

	withheld bool // whether the server has the method and does not answer it now
}

// kind classifies a call by its members.
type kind int

const (
	invalid      kind = iota
	call              // gets an answer
	notification      // runs without an answer
	ignored           // a response or a subscription's notification, which only a client could use
)

// readPositional reads calls exactly as go-ethereum's server does (rpc/json.go): member names are case-sensitive, and the last duplicate
// counts. Like a node, it ignores anything after the first value and the calls beyond the batch limit.
func readPositional(body []byte) *Request {
	r := &Request{body: body}
	value := body
	if !json.Valid(body) {
		first := json.NewDecoder(bytes.NewReader(body))
		if first.Decode(new(json.RawMessage)) != nil {
			if len(bytes.TrimSpace(body)) > 0 {
				r.problem = &Error{Code: codeParse, Message: "parse error"}
			}
			return r
		}
		value = body[:first.InputOffset():len(body)]
	}
	if r.batch = isBatch(value); !r.batch {
		r.one[0] = readCall(value)
		r.Calls = r.one[:]
		return r
	}
	for item := range elements(value) {
		if r.Calls = append(r.Calls, readCall(item)); len(r.Calls) > batchItems {
			r.refusal = refusal{problem: &Error{Code: codeInvalid, Message: "batch too large"}, listed: true, id: firstID(r.Calls)}
			return r
		}
	}
	if len(r.Calls) == 0 {
		r.problem = &Error{Code: codeInvalid, Message: "empty batch"}
	}
	return r
}

// firstID returns the id of the first member that is a call.
func firstID(calls []Call) json.RawMessage {
	for i := range calls {
		if calls[i].kind == call {
			return calls[i].ID
		}
	}
	return nil
}

func isBatch(body []byte) bool {
	body = skipSpace(body)
	return len(body) > 0 && body[0] == '['
}

func readCall(item []byte) Call {
	var c Call
	var version string
	answers := false
	for name, value := range members(item) {
		if bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			if json.Unmarshal(fmt.Appendf(nil, `"%s"`, name), &plain) != nil {
				continue
			}
			name = []byte(plain)
		}
		switch string(name) {
		case "jsonrpc":
			readText(value, &version)
		case "method":
			readText(value, &c.Method)
		case "id":
			c.ID = value
		case "params":
			c.Params = value
		case "result", "error":
			answers = true
		}
	}
	valid := version == "2.0"
	switch identified := identifies(c.ID); {
	case valid && c.Method != "" && c.ID == nil && strings.HasSuffix(c.Method, "_subscription"), valid && identified && c.Method == "" && c.Params == nil && answers:
		c.kind = ignored
	case valid && c.Method != "" && c.ID == nil:
		c.kind = notification
	case valid && c.Method != "" && identified:
		c.kind = call
	case !identified:
		c.ID = nil
	}
	return c
}

// readText reads a string without escapes without encoding/json; it leaves text unchanged for anything but a string.
func readText(value []byte, text *string) {
	plain := value[0] == '"'
	for i := 0; plain && i < len(value); i++ {
		plain = value[i] != '\\' && value[i] < utf8.RuneSelf
	}
	if plain {
		*text = string(value[1 : len(value)-1])
		return
	}
	_ = json.Unmarshal(value, text) // anything but a text names nothing
}

func identifies(id json.RawMessage) bool { return len(id) > 0 && id[0] != '{' && id[0] != '[' }

// serverRequest is a call as avalanchego's codec reads it (gorilla/rpc/v2/json2): errors contain the type's name.
type serverRequest struct {
	Version string           `json:"jsonrpc"`
	Method  string           `json:"method"`
	Params  *json.RawMessage `json:"params"`
	Id      *json.RawMessage `json:"id"`
}

// readNamed reads a request's one call as avalanchego's codec does. A null id asks for no answer, except when the request cannot be read.
func readNamed(body []byte) *Request {
	r := &Request{body: body}
	m := &serverRequest{}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(m); err != nil {
		r.problem = &Error{Code: codeParse, Message: strings.Replace(err.Error(), "rpc.serverRequest", "json2.serverRequest", 1), Data: m}
	} else if m.Version != "2.0" {
		r.problem = &Error{Code: codeInvalid, Message: "jsonrpc must be 2.0", Data: m}
	}
	c := Call{Method: m.Method, kind: notification}
	if m.Id != nil {
		r.id, c.ID, c.kind = *m.Id, *m.Id, call
	}
	if m.Params != nil {
		c.Params = *m.Params
		if at := bytes.Index(body, c.Params); at >= 0 {
			c.Params = body[at : at+len(c.Params)] // frees the copy
		}
	}
	r.Calls = []Call{c}
	return r
}

// faultCalls returns the calls as fault rules see them, by position.
func (r *Request) faultCalls() []fault.Call {
	all := make([]fault.Call, max(len(r.Calls), 1)) // an unreadable request counts as one empty call
	for i := range r.Calls {
		all[i] = fault.Call{Method: r.Calls[i].Method, Params: r.Calls[i].Params}
	}
	return all
}

// record returns the journal's record of the calls.
func (r *Request) record() []journal.CallRecord {
	if r.problem != nil {
		return []journal.CallRecord{{Error: r.problem.recorded()}}
	}
	all := make([]journal.CallRecord, 0, len(r.Calls))
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Method != "" {
			all = append(all, journal.Record(r.body, c.Method, c.Params))
		} else {
			all = append(all, journal.CallRecord{})
		}
	}
	return all
}

// checkJSON returns encoding/json's error for a message that is not JSON.
func checkJSON(message []byte) error {
	if json.Valid(message) {
		return nil
	}
	return json.Unmarshal(message, new(json.RawMessage))
}
