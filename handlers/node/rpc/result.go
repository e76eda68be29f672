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

// Bytes is a result that is in memory.
func Bytes(b []byte) Result { return Result{bytes: b, size: len(b), held: len(b)} }

// List is a result of items that are in memory.
func List(items []json.RawMessage) Result {
	r := Bytes([]byte("["))
	for i, item := range items {
		if i > 0 {
			r.parts = append(r.parts, []byte(","))
		}
		r.parts = append(r.parts, item)
		r.size += len(item) + len(",")
	}
	if len(items) == 0 {
		r.size++
	}
	r.parts, r.held = append(r.parts, []byte("]")), r.size
	return r
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
	text     []byte // after the segments
	segments []segment
	bare     bool // whether it ends without a newline over HTTP, as go-ethereum's server answers to what it does not carry out
}

type segment struct {
	text   []byte
	result Result // after the text
}

// around is about how long what stands around a result is.
const around = 80

// add takes a result, into the text if it is small.
func (o *output) add(r *Result) {
	if whole := r.whole(); whole != nil {
		o.text = append(o.text, whole...)
		return
	}
	o.segments = append(o.segments, segment{o.text, *r})
	o.text = nil
}

func (o *output) empty() bool { return len(o.text) == 0 && len(o.segments) == 0 }

// measure is how long the answer is, and how many bytes of it are in memory while it is written.
func (o *output) measure() (size, held int) {
	size = len(o.text)
	held = size
	for i := range o.segments {
		s := &o.segments[i]
		size, held = size+len(s.text)+s.result.size, held+len(s.text)+s.result.held
	}
	return size, held
}

func (o *output) writeTo(ctx context.Context, w io.Writer) error {
	for i := range o.segments {
		s := &o.segments[i]
		if _, err := w.Write(s.text); err != nil {
			return err
		}
		if err := s.result.writeTo(ctx, w); err != nil {
			return err
		}
	}
	_, err := w.Write(o.text)
	return err
}
