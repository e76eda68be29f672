// Package stream lets answers of JSON-RPC be written in parts whose results are too large to be in memory as a whole.
//
// go-ethereum's server takes every result as bytes and writes the whole answer at once. A result that is written in parts is a
// mark there, which no JSON can hold, and [Results.Write] writes the result in its place. How long it is must be known before, so that
// the answer can tell its length, and a client that got less knows that.
package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
)

// Result is the result of one call.
type Result struct {
	Size  int64 // that Write writes
	Held  int   // bytes in memory at most while it is written
	Write func(ctx context.Context, w io.Writer) error
}

// Results are those of one answer that are written in parts.
type Results struct {
	limit int64 // for all of them

	mu   sync.Mutex
	all  []Result
	size int64
}

type key struct{}

// With is a context for an answer whose results may be written in parts. Once they are longer than the limit, if there is one, no
// more are taken.
func With(ctx context.Context, limit int64) (context.Context, *Results) {
	r := &Results{limit: limit}
	return context.WithValue(ctx, key{}, r), r
}

// tooLarge is what go-ethereum's server answers to the calls that come after those whose results fill a batch (rpc/errors.go).
type tooLarge struct{}

func (tooLarge) Error() string  { return "response too large" }
func (tooLarge) ErrorCode() int { return -32003 }

// Add is what stands for a result until it is written, or the result itself where nobody can write it in parts.
func Add(ctx context.Context, result Result) (json.RawMessage, error) {
	r, ok := ctx.Value(key{}).(*Results)
	if !ok {
		var b bytes.Buffer
		err := result.Write(ctx, &b)
		return b.Bytes(), err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit > 0 && r.size > r.limit {
		return nil, tooLarge{}
	}
	r.all, r.size = append(r.all, result), r.size+result.Size
	return append(strconv.AppendInt([]byte{mark}, int64(len(r.all)-1), 10), mark), nil
}

// Small is the length of a result that may as well be copied.
const Small = 64 << 10

// AddBytes is Add for a result that is in memory, in parts that follow each other.
func AddBytes(ctx context.Context, parts ...[]byte) (json.RawMessage, error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	switch {
	case size > Small:
	case len(parts) == 1:
		return parts[0], nil
	default:
		return bytes.Join(parts, nil), nil
	}
	return Add(ctx, Result{Size: int64(size), Held: size, Write: func(_ context.Context, w io.Writer) error {
		for _, part := range parts {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}})
}

// AddList is AddBytes for a list of what is in memory.
func AddList(ctx context.Context, items []json.RawMessage) (json.RawMessage, error) {
	if len(items) == 0 {
		return json.RawMessage("[]"), nil
	}
	parts, separator := make([][]byte, 0, 2*len(items)+1), []byte("[")
	for _, item := range items {
		parts, separator = append(parts, separator, item), []byte(",")
	}
	return AddBytes(ctx, append(parts, []byte("]"))...)
}

// mark stands around the number of a result.
const mark = 0

// Any says whether an answer has results that are to be written in parts.
func (r *Results) Any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) > 0
}

// Measure is how long an answer is with its results, and how many bytes of them are in memory while it is written.
func (r *Results) Measure(answer []byte) (size int64, held int) {
	_ = r.each(answer, // nothing fails
		func(part []byte) error {
			size += int64(len(part))
			return nil
		}, func(result Result) error {
			size, held = size+result.Size, held+result.Held
			return nil
		})
	return size, held
}

// Write writes an answer with its results.
func (r *Results) Write(ctx context.Context, w io.Writer, answer []byte) error {
	return r.each(answer,
		func(part []byte) error {
			_, err := w.Write(part)
			return err
		}, func(result Result) error { return result.Write(ctx, w) })
}

// each walks through an answer: what stands between marks, and the results.
func (r *Results) each(answer []byte, part func([]byte) error, result func(Result) error) error {
	r.mu.Lock()
	all := r.all
	r.mu.Unlock()
	for {
		before, after, marked := bytes.Cut(answer, []byte{mark})
		if err := part(before); err != nil || !marked {
			return err
		}
		number, rest, _ := bytes.Cut(after, []byte{mark})
		n, err := strconv.Atoi(string(number))
		if err != nil {
			return err
		}
		if err := result(all[n]); err != nil {
			return err
		}
		answer = rest
	}
}
