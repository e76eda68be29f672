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

// Request is the body of a request over HTTP, or a message over WebSocket, as it was read.
type Request struct {
	Calls []Call
	batch bool
	refusal
	body []byte
	one  [1]Call // where there is no batch
}

// refusal answers a request as a whole, instead of its calls.
type refusal struct {
	problem *Error
	id      json.RawMessage // of the call that the problem is told to
	listed  bool            // whether it is answered as the only member of a batch
}

// Call is one call of JSON-RPC.
type Call struct {
	ID     json.RawMessage // as the client wrote it, nil for none
	Method string
	Params json.RawMessage

	kind   kind
	method *method // nil for one that the server does not have
}

// kind is what a call is by the members that it has.
type kind int

const (
	invalid      kind = iota
	call              // which is answered
	notification      // which is carried out
	ignored           // an answer, or the notification of a subscription, which only a client could want
)

// readPositional reads calls exactly as go-ethereum's server does (rpc/json.go): by names in their own case, the last of those that come twice. What
// follows the first value, and what makes a batch too large, a node never looks at.
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

// firstID is the id of the first call that is one.
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

// readText reads a string that needs no unescaping without encoding/json; what is no string leaves the text as it is.
func readText(value []byte, text *string) {
	plain := value[0] == '"'
	for i := 0; plain && i < len(value); i++ {
		plain = value[i] != '\\' && value[i] < utf8.RuneSelf
	}
	if plain {
		*text = string(value[1 : len(value)-1])
		return
	}
	_ = json.Unmarshal(value, text) // what is no text names nothing
}

func identifies(id json.RawMessage) bool { return len(id) > 0 && id[0] != '{' && id[0] != '[' }

// serverRequest is a call as avalanchego's codec reads it (gorilla/rpc/v2/json2): errors name the type.
type serverRequest struct {
	Version string           `json:"jsonrpc"`
	Method  string           `json:"method"`
	Params  *json.RawMessage `json:"params"`
	Id      *json.RawMessage `json:"id"`
}

// readNamed reads the one call of a request as avalanchego's codec does. An id that is null asks for no answer, save when the request cannot be read.
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
			c.Params = body[at : at+len(c.Params)] // the copy need not be kept
		}
	}
	r.Calls = []Call{c}
	return r
}

// faultCalls are the calls as rules about faults see them, each in its place.
func (r *Request) faultCalls() []fault.Call {
	all := make([]fault.Call, max(len(r.Calls), 1)) // what cannot be read is a call of nothing
	for i := range r.Calls {
		all[i].Method = r.Calls[i].Method
	}
	return all
}

// record is what the journal takes down of the calls.
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

// checkJSON says what is wrong with a message that is no JSON, in encoding/json's words.
func checkJSON(message []byte) error {
	if json.Valid(message) {
		return nil
	}
	return json.Unmarshal(message, new(json.RawMessage))
}
