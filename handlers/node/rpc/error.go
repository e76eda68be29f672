package rpc

import (
	"encoding/json"
	"errors"

	"snowglobe/handlers/journal"
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`

	advice string // how to fix it, for the log and the journal only, since clients compare the message
}

func (e *Error) Error() string { return e.Message }

func (e *Error) recorded() *journal.CallError {
	c := &journal.CallError{Code: int64(e.Code), Message: e.Message}
	if e.advice != "" {
		c.Message += ": " + e.advice
	}
	return c
}

// withAdvice keeps the advice of an error for the log and the journal. Clients compare a node's words, so it is not in the message.
func (e *Error) withAdvice(err error) *Error {
	var advises interface{ Advice() string }
	if !errors.As(err, &advises) {
		return e
	}
	advised := *e
	advised.advice = advises.Advice()
	return &advised
}

// Error codes of go-ethereum and gorilla.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeDefault  = -32000
	codeTimeout  = -32002
	codeTooLarge = -32003
)

var (
	errInvalid       = &Error{Code: codeInvalid, Message: "invalid request"}
	errTimeout       = &Error{Code: codeTimeout, Message: "request timed out"}
	errInternal      = &Error{Code: codeInternal, Message: "internal error: the simulator's log has the cause"}
	errTooLarge      = &Error{Code: codeTooLarge, Message: "response too large"}
	errNotifications = &Error{Code: codeMethod, Message: "notifications not supported"}
)

// encode writes an error; it drops data that cannot be encoded.
func encode(e any) []byte {
	b, err := json.Marshal(e)
	if err != nil {
		b, _ = json.Marshal(&Error{Code: codeInternal, Message: err.Error()})
	}
	return b
}
