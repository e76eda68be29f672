package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
)

// Result is a call's result: JSON bytes, or a writer for a result that is too large to hold in memory.
type Result struct {
	bytes []byte
	parts [][]byte // after bytes
	size  int
	held  int // largest number of bytes in memory while writing
	write func(ctx context.Context, w io.Writer) error
}

// Bytes makes a result from bytes in memory.
func Bytes(b []byte) Result { return Result{bytes: b, size: len(b), held: len(b)} }

// List makes a result from items in memory.
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

// Written makes a result of a known length that is written in parts, some of which stay in memory. The length must be known in advance, so
// that a client notices a truncated answer.
func Written(size, held int, write func(ctx context.Context, w io.Writer) error) Result {
	return Result{size: size, held: held, write: write}
}

// MarshalJSON returns the whole result.
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

// small is the length up to which results are copied.
const small = 64 << 10

// whole returns the result in one piece, nil unless it is small.
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

// resultOf converts a method's return value to JSON.
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
	case json.Marshaler: // encoding/json would validate it again
		if value := reflect.ValueOf(v); value.Kind() != reflect.Pointer || !value.IsNil() {
			b, err := v.MarshalJSON()
			return Bytes(b), err
		}
	}
	b, err := json.Marshal(v)
	return Bytes(b), err
}

// output is an answer being built: texts, and results that are not copied into them.
type output struct {
	text     []byte // after the segments
	segments []segment
	bare     bool // over HTTP, ends without a newline, like go-ethereum's answers to requests that it does not run
}

type segment struct {
	text   []byte
	result Result // after the text
}

// around estimates the bytes around a result.
const around = 80

// add appends a result, to the text if it is small.
func (o *output) add(r *Result) {
	if whole := r.whole(); whole != nil {
		o.text = append(o.text, whole...)
		return
	}
	o.segments = append(o.segments, segment{o.text, *r})
	o.text = nil
}

func (o *output) empty() bool { return len(o.text) == 0 && len(o.segments) == 0 }

// measure returns the answer's length, and how much of it is in memory while it is written.
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
