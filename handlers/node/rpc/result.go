package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
)

// Result is the result of a call: bytes that are JSON, or what is written when the client takes it, too large to be in memory as a whole.
type Result struct {
	bytes []byte
	parts [][]byte // after bytes
	size  int
	held  int // bytes in memory at most while it is written
	write func(ctx context.Context, w io.Writer) error
}

// Bytes is a result that is in memory, in parts that follow each other.
func Bytes(parts ...[]byte) Result {
	r := Result{bytes: parts[0], parts: parts[1:]}
	for _, part := range parts {
		r.size += len(part)
	}
	r.held = r.size
	return r
}

// List is a result of items that are in memory.
func List(items []json.RawMessage) Result {
	if len(items) == 0 {
		return Bytes([]byte("[]"))
	}
	parts, separator := make([][]byte, 0, 2*len(items)+1), []byte("[")
	for _, item := range items {
		parts, separator = append(parts, separator, item), []byte(",")
	}
	return Bytes(append(parts, []byte("]"))...)
}

// Written is a result of so many bytes that is written in parts, of which some are in memory all the time. How long it is must be known before, so that
// the answer can tell its length, and a client that got less knows that.
func Written(size, held int, write func(ctx context.Context, w io.Writer) error) Result {
	return Result{size: size, held: held, write: write}
}

// MarshalJSON is the result as a whole.
func (r Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := r.writeTo(context.Background(), &b)
	return b.Bytes(), err
}

func (r *Result) writeTo(ctx context.Context, w io.Writer) error {
	if r.write != nil {
		return r.write(ctx, w)
	}
	if _, err := w.Write(r.bytes); err != nil {
		return err
	}
	for _, part := range r.parts {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// small is the length of a result that may as well be copied.
const small = 64 << 10

// whole is a result in one piece, nil for one that is not small.
func (r *Result) whole() []byte {
	switch {
	case r.write != nil || r.size > small:
		return nil
	case len(r.parts) == 0:
		return r.bytes
	}
	return append(bytes.Clone(r.bytes), bytes.Join(r.parts, nil)...)
}

var null = json.RawMessage("null")

// resultOf is what a method answered, as JSON.
func resultOf(v any) (Result, error) {
	switch v := v.(type) {
	case Result:
		if v.size == 0 {
			return Bytes(null), nil
		}
		return v, nil
	case json.RawMessage:
		if v == nil {
			v = null
		}
		return Bytes(v), nil
	case json.Marshaler: // which encoding/json would look through once more
		if value := reflect.ValueOf(v); value.Kind() != reflect.Pointer || !value.IsNil() {
			b, err := v.MarshalJSON()
			return Bytes(b), err
		}
	}
	b, err := json.Marshal(v)
	return Bytes(b), err
}

// output is an answer on its way: texts, and results that are not copied into them.
type output struct {
	segments []segment
	size     int
	held     int
	bare     bool // whether it ends without a newline over HTTP, as go-ethereum's server answers to what it does not carry out
}

type segment struct {
	text   []byte
	result *Result // after the text, nil for none
}

// add takes texts, and the result that stands after the first of them.
func (o *output) add(before string, r *Result, after string) {
	if len(o.segments) == 0 {
		o.segments = append(make([]segment, 0, 1), segment{text: make([]byte, 0, len(before)+min(r.size, small)+len(after)+len("[]\n"))})
	}
	last := &o.segments[len(o.segments)-1]
	last.text = append(last.text, before...)
	if whole := r.whole(); whole != nil {
		last.text = append(append(last.text, whole...), after...)
	} else {
		last.result = r
		o.segments = append(o.segments, segment{text: []byte(after)})
		o.held += r.held
	}
	o.size += len(before) + r.size + len(after)
}

// text takes what stands between answers.
func (o *output) text(t string) { o.add(t, &Result{bytes: []byte{}}, "") }

func (o *output) writeTo(ctx context.Context, w io.Writer) error {
	for _, s := range o.segments {
		if len(s.text) > 0 {
			if _, err := w.Write(s.text); err != nil {
				return err
			}
		}
		if s.result == nil {
			continue
		}
		if err := s.result.writeTo(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// streams says whether a part of the answer is written while the client takes it.
func (o *output) streams() bool { return len(o.segments) > 1 }
