package etherscan

import (
	"bytes"
	"encoding/json"
	"net/http"

	"snowglobe/handlers/rest"
)

// envelope is the body of every answer save those of the module proxy.
type envelope struct {
	Status  string `json:"status"` // 1 with a result, 0 with a reason
	Message string `json:"message"`
	Result  any    `json:"result"`
}

// refused is an answer of status 0: why there is no result, or that the result is empty.
type refused struct {
	message string
	result  any
}

func (e *refused) Error() string {
	if text, ok := e.result.(string); ok {
		return text
	}
	return e.message
}

// refusal is the answer to a wrong request: NOTOK, with the reason as the result.
func refusal(reason string) *refused { return &refused{"NOTOK", reason} }

// Answers without rows.
var (
	errNoTransactions = &refused{"No transactions found", []string{}}
	errNoRecords      = &refused{"No records found", []string{}}
	errWindow         = &refused{"Result window is too large, PageNo x Offset size must be less than or equal to 10000", nil}
)

// raw is an answer without an envelope.
type raw struct {
	status int
	body   []byte
}

// rows is a result that is an array. It writes its rows in parts, so that ten thousand of them need not fit the memory.
type rows struct {
	parts int
	part  func(i int) ([]any, error)
}

// flushAt is how much of an array is collected before it is sent.
const flushAt = 256 << 10

// send sends a result, a refusal or a raw answer.
func send(w http.ResponseWriter, r *http.Request, status int, result any) {
	e := envelope{"1", "OK", result}
	switch result := result.(type) {
	case *refused:
		e = envelope{"0", result.message, result.result}
	case raw:
		rest.WriteJSON(w, r, result.status, result.body)
		return
	case *rows:
		result.send(w, r)
		return
	}
	body, err := encode(e)
	if err != nil {
		body, status = []byte(`{"status":"0","message":"NOTOK","result":"Unexpected error"}`), http.StatusInternalServerError
	}
	rest.WriteJSON(w, r, status, body)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// send writes the envelope around the rows. A failure after the first bytes ends the connection, so that the client does not take a part for
// the whole.
func (l *rows) send(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	b.WriteString(`{"status":"1","message":"OK","result":[`)
	sent := false
	for i := range l.parts {
		part, err := l.part(i)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for j, row := range part {
			if i+j > 0 {
				b.WriteByte(',')
			}
			text, err := encode(row)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			b.Write(text)
		}
		if b.Len() < flushAt || i+1 == l.parts || r.Method == http.MethodHead {
			continue
		}
		if !sent {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Cache-Control", "no-cache")
			sent = true
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			panic(http.ErrAbortHandler)
		}
		b.Reset()
	}
	b.WriteString("]}")
	if !sent {
		rest.WriteJSON(w, r, http.StatusOK, b.Bytes())
		return
	}
	_, _ = w.Write(b.Bytes()) // the client may be gone
}
